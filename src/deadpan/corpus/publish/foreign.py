"""The check, before anything is read, that a build will not overwrite files it did not write."""

from __future__ import annotations

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.ingest.forget import FILE as FORGOTTEN
from deadpan.corpus.publish.accounts import UNREADABLE
from deadpan.corpus.publish.indexes import INDEXES
from deadpan.corpus.publish.outputs import MONTHS
from deadpan.corpus.publish.release import COMMANDS, published
from deadpan.corpus.settings import BuildOptions, CorpusSettings
from deadpan.errors import DataError
from deadpan.storage import manifest_path, read_manifest

OPTIONAL = (UNREADABLE, FORGOTTEN)


def check_output(checkpoints: Checkpoints, settings: CorpusSettings, options: BuildOptions) -> None:
    """Raise an error if the output folder has files that this build would replace, and no build wrote."""
    out = checkpoints.out
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: a file of that name exists: choose another folder")
    ours = _ours(checkpoints)
    planned = [*OPTIONAL, "manifest.json", *planned_files(settings, options.packed)]
    planned += [path.relative_to(out).as_posix() for path in (out / MONTHS).glob("month=*/sarc.parquet")]
    found = [name for name in planned if (out / name).exists() and name not in ours]
    found += [path.relative_to(out).as_posix() for path in checkpoints.foreign()]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise DataError(
            f"{out / found[0]}{more}: not written by deadpan, so not overwritten: choose another --out"
        )


def _ours(checkpoints: Checkpoints) -> set[str]:
    """Return the files that the manifest, or the list of an interrupted publication, says are ours."""
    ours = set(published(checkpoints))
    if manifest_path(checkpoints.out).is_file():
        manifest = read_manifest(checkpoints.out, any_version=True)
        if manifest.command in COMMANDS:
            ours |= {*manifest.files, "manifest.json"}
    return ours


def planned_files(settings: CorpusSettings, packed: bool) -> list[str]:
    """Return the names of the files that every build writes, besides its manifest and a file per month."""
    texts = ["raw/sarc.csv", "raw/sarc.tsv", "raw/sequences.csv", "raw/comments.json"]
    for folder in ("main", *settings.benchmark.subsets):
        texts += [f"{folder}/comments.json", *(f"{folder}/{index}.csv" for index in INDEXES)]
    suffix = ".bz2" if packed else ""
    return ["README.md", "stats.json", "raw/sarc.parquet", *(f"{name}{suffix}" for name in texts)]
