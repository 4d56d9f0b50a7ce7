"""deadpan doctor: what is here, what is missing, and what to type."""

from __future__ import annotations

import platform
import shutil
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadpan import __version__
from deadpan.cli.output import emit, json_option, table

if TYPE_CHECKING:
    from rich.console import Console

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "llm": (("openai", "xllamacpp", "tokenizers"), "language models: endpoints and the embedded one"),
    "plots": (("matplotlib",), "plots"),
    "neural": (("torch", "transformers", "accelerate", "peft"), "neural and fine-tuned detectors"),
    "corpus": (("zstandard",), "Reddit dumps, unpacked faster than by the zstd program"),
    "spark": (("pyspark",), "the corpus engine on a cluster"),
    "generate": (("profanity_check",), "the filter of generated English"),
    "bench": (("inspect_ai", "cryptography"), "benchmark runs"),
    "studio": (("django", "argon2", "whitenoise", "gunicorn", "psycopg"), "the web app"),
    "ko": (("kiwipiepy",), "Korean morphology"),
}
CORE = ("click", "duckdb", "numpy", "pyarrow", "rich", "scikit-learn")
PROGRAMS = {
    "zstd": ("Reddit dumps, if zstandard is not there", "apt-get install zstd"),
    "java": ("Spark", "apt-get install default-jre-headless"),
    "chromium": ("tests of web pages", "apt-get install chromium fonts-nanum"),
}


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Versions, extras, models and programs; for each missing one, the command that brings it."""
    from deadpan.models import MODELS, cache_root, installed

    here = installed()
    versions = {"deadpan": __version__, "python": platform.python_version()} | {
        name: metadata.version(name) for name in CORE
    }
    extras = {name: [lib for lib in libs if find_spec(lib) is None] for name, (libs, _) in EXTRAS.items()}
    programs = {name: shutil.which(name) for name in PROGRAMS}
    free = shutil.disk_usage(_existing(cache_root())).free
    data = {
        "versions": versions,
        "executable": sys.executable,
        "extras": {name: {"missing": missing} for name, missing in extras.items()},
        "models": {name: str(here[name]) if name in here else None for name in MODELS},
        "programs": programs,
        "cache": str(cache_root()),
        "free_bytes": free,
    }
    rows = [
        (f"extra {n}", EXTRAS[n][1], "here" if not missing else f"pip install 'deadpan[{n}]'")
        for n, missing in extras.items()
    ]
    rows += [
        (f"model {n}", m.about, "here" if n in here else f"deadpan models pull {n}")
        for n, m in MODELS.items()
    ]
    rows += [
        (f"program {n}", PROGRAMS[n][0], "here" if found else PROGRAMS[n][1]) for n, found in programs.items()
    ]

    def show(out: Console) -> None:
        out.print("  ".join(f"{name} {version}" for name, version in versions.items()))
        out.print(table(("part", "for", "state"), rows))
        out.print(f"cache {cache_root()}, {free / 1e9:.0f} GB free")

    emit(as_json, data, show)


def _existing(path: Path) -> Path:
    """The nearest folder that is there, to ask the disk about."""
    return path if path.exists() else _existing(path.parent)
