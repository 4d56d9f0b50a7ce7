"""A corpus for others: what may be published and nothing else, in a folder that Hugging Face `datasets` loads.

Texts that were withdrawn are in no file of it, authors who asked to be forgotten are hashes, and nothing says where the
files were on this machine. A hash of every text lets others prove that what they filled in is what was published.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deadpan.cards import HubConfig
from deadpan.corpus.account import corpus_card
from deadpan.corpus.benchmark import INDEXES
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.checkpoints import file_facts
from deadpan.corpus.lines import RemoteFile, as_place
from deadpan.corpus.release import RELEASES, WITHDRAWN, check_url, files_hash, upload_corpus
from deadpan.corpus.rules import FORGOTTEN
from deadpan.corpus.write import MONTHS_FOLDER
from deadpan.errors import DataError
from deadpan.page import Summary
from deadpan.results import Result
from deadpan.storage import Manifest, digest, manifest_path, read_json, read_manifest, save_manifest, write_text

HASHES = "hashes.csv"
_COMMAND = "corpus publish"


@dataclass(frozen=True, slots=True)
class PublishedCorpus(Result):
    """A published copy of a corpus: where it is, and the number and size of its files."""

    place: str
    files: int
    bytes: int
    version: int
    ids_only: bool

    def summary(self) -> Summary:
        what = "ids and hashes, no texts" if self.ids_only else "texts, benchmarks and hashes"
        said = f"{self.place}: version {self.version}, {self.files:,} files, {self.bytes / 1e6:,.1f} MB ({what})"
        return Summary(notes=(said,))

    def as_dict(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("place", "files", "bytes", "version", "ids_only")}


def publish_corpus(corpus: BuiltCorpus | Path | str, to: Path | str, *, ids_only: bool = False) -> PublishedCorpus:
    """Write what may be published of a corpus into a folder or to a URL.

    With `ids_only` there are no texts and no authors: the indexes and the hashes, from which `fill_index` and the dumps
    give the texts again.
    """
    corpus = BuiltCorpus.of(corpus)
    _check_intact(corpus)
    place = as_place(str(to))
    remote = isinstance(place, RemoteFile)
    out = corpus.folder / ".work" / ".publish" if remote else Path(str(place))
    if remote:
        check_url(str(place))
    fresh = out.with_name(f".{out.name}.new")
    try:
        _check_replaceable(out)
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        manifest, version = _write(corpus, fresh, ids_only)
        if remote:
            upload_corpus(None, fresh, manifest, str(place).rstrip("/"))
        else:
            _replace(fresh, out)
    except OSError as bad:
        raise DataError(f"{to}: cannot be written ({bad.strerror or bad}): choose another --to") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    size = sum(int(facts["bytes"]) for facts in manifest.files.values())
    return PublishedCorpus(str(to), len(manifest.files) + 1, size, version, ids_only)


def _check_intact(corpus: BuiltCorpus) -> None:
    for name, facts in corpus.manifest.files.items():
        path = corpus.folder / name
        if not path.is_file() or digest(path) != facts["sha256"]:
            raise DataError(f"{path}: not as the manifest says: run deadpan corpus verify before you publish it")


def _check_replaceable(out: Path) -> None:
    """Raise an error if a folder has something that `publish_corpus` did not write."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not manifest_path(out).is_file() or read_manifest(out, any_version=True).command != _COMMAND:
        raise DataError(f"{out}: has files that are not ours: choose another --to")


def _replace(fresh: Path, out: Path) -> None:
    """Put a finished folder in the place of an earlier one, which is whole until then."""
    old = out.with_name(f".{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    fresh.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _write(corpus: BuiltCorpus, out: Path, ids_only: bool) -> tuple[Manifest, int]:
    """Write the files of a published corpus, and return its manifest and version."""
    releases = read_json(corpus.folder / RELEASES) if (corpus.folder / RELEASES).is_file() else []
    last = releases[-1] if releases and releases[-1]["hash"] == files_hash(corpus.manifest) else {}
    version = int(last.get("version", len(releases) + 1))
    folders = ["main", *sorted(corpus.settings.benchmark.subsets)]
    later = sorted({one["benchmark"] for one in releases if one["benchmark"]})
    later = [name for name in later if (corpus.folder / name).is_dir()]
    copied = ["stats.json", RELEASES, WITHDRAWN, FORGOTTEN]
    copied += [f"{folder}/{index}.csv" for folder in folders for index in INDEXES]
    copied += [f"{name}/test-{balance}.csv" for name in later for balance in ("balanced", "unbalanced")]
    copied += [] if ids_only else [MONTHS_FOLDER]
    for name in copied:
        _copy(corpus.folder, name, out)
    _write_hashes(corpus, [*folders, *later], out / HASHES)
    configs = [] if ids_only else _write_configs(corpus, folders, later, out)
    synthetic = bool(corpus.manifest.config.get("synthetic"))
    card = corpus_card(
        out, corpus.settings, corpus.manifest.drops, synthetic, version, last.get("date", ""), configs, ids_only
    )
    write_text(out / "README.md", card)
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    manifest = replace(
        corpus.manifest,
        command=_COMMAND,
        config=_without_paths(corpus.manifest.config),
        files={name: file_facts(out / name) for name in names},
    )
    save_manifest(out / "manifest.json", manifest)
    return manifest, version


def _copy(root: Path, name: str, out: Path) -> None:
    source = next((path for path in (root / name, root / f"{name}.bz2") if path.exists()), None)
    if source is None:
        return
    target = out / name if source.is_dir() else (out / name).with_name(source.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
    else:
        shutil.copyfile(source, target)


def _without_paths(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the name, not the place, of a file of vectors."""
    benchmark = {**config["benchmark"], "vectors": Path(config["benchmark"]["vectors"]).name}
    return {**config, "benchmark": benchmark}


def _write_hashes(corpus: BuiltCorpus, folders: Iterable[str], path: Path) -> None:
    """Write a hash of the text and author of every comment in the benchmarks."""
    found = {id: text_hash(id, entry) for folder in folders for id, entry in corpus.entries(folder)}
    write_text(path, "".join(["id,sha256\n", *(f"{id},{found[id]}\n" for id in sorted(found))]))


def text_hash(id: str, entry: Mapping[str, Any]) -> str:
    """Return the hash of what a copy of a comment must have in common with the published one."""
    return hashlib.sha256("\n".join((id, entry["author"], entry["text"])).encode()).hexdigest()


def _write_configs(corpus: BuiltCorpus, folders: Iterable[str], later: Iterable[str], out: Path) -> list[HubConfig]:
    """Write the sequences of every benchmark as Parquet, each a configuration of the dataset."""
    configs = []
    for folder in folders:
        for balance in ("balanced", "unbalanced"):
            files = {side: f"benchmarks/{folder}-{balance}/{side}.parquet" for side in ("train", "test")}
            for side, name in files.items():
                corpus.write_sequences(out / name, folder, side, balanced=balance == "balanced")
            configs.append(HubConfig(f"{folder}-{balance}", files))
    for folder in later:
        for balance in ("balanced", "unbalanced"):
            name = f"benchmarks/{folder}-{balance}/test.parquet"
            corpus.write_sequences(out / name, folder, "test", balanced=balance == "balanced")
            configs.append(HubConfig(f"{folder}-{balance}", {"test": name}))
    return configs
