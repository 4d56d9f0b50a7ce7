"""Reddit dumps -> a SARC corpus and its benchmarks, with every dropped comment counted by reason.

`build_corpus` builds one; `BuiltCorpus` opens a finished one. The names here load on first use.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadpan.errors import need

# DuckDB's allocator returns unused memory to the system and has it zeroed when it is needed again, a tenth
# of the kernel's work in a build. DuckDB reads this when it is first imported.
os.environ.setdefault("DUCKDB_JE_MALLOC_CONF", "dirty_decay_ms:-1,muzzy_decay_ms:-1")

_NAMES = {
    "BuildOptions": "settings",
    "BuiltCorpus": "built.folder",
    "CorpusSettings": "settings",
    "build_corpus": "build",
    "draw_figures": "built.statistics",
    "fill_index": "built.fill",
    "publish_corpus": "built.publish",
    "read_statistics": "built.statistics",
    "build_until": "build",
    "synthesize_dumps": "synthesize",
    "update_corpus": "built.update",
    "verify_corpus": "built.verify",
    "write_noise_study": "built.study",
    "write_pairs_study": "built.study",
}
__all__ = [
    "BuildOptions",
    "BuiltCorpus",
    "CorpusSettings",
    "build_corpus",
    "build_until",
    "draw_figures",
    "fill_index",
    "publish_corpus",
    "read_statistics",
    "synthesize_dumps",
    "update_corpus",
    "verify_corpus",
    "write_noise_study",
    "write_pairs_study",
]

if TYPE_CHECKING:
    from deadpan.corpus.build import build_corpus, build_until
    from deadpan.corpus.built.fill import fill_index
    from deadpan.corpus.built.folder import BuiltCorpus
    from deadpan.corpus.built.publish import publish_corpus
    from deadpan.corpus.built.statistics import draw_figures, read_statistics
    from deadpan.corpus.built.study import write_noise_study, write_pairs_study
    from deadpan.corpus.built.update import update_corpus
    from deadpan.corpus.built.verify import verify_corpus
    from deadpan.corpus.settings import BuildOptions, CorpusSettings
    from deadpan.corpus.synthesize import synthesize_dumps


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'deadpan.corpus' has no attribute {name!r}")
    need("duckdb", "corpus")
    return getattr(import_module(f"deadpan.corpus.{_NAMES[name]}"), name)
