"""A folder that deadpan 0.2.0 wrote is refused in one line that names both versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deadpan import Detector, __version__
from deadpan.bench.runs.folder import read_run
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.errors import DeadpanError
from deadpan.formats.study import read_study
from deadpan.generate.folder import STEP_NAMES, GenerationFolder
from deadpan.storage import check_version, prepare_output, read_manifest, write_json

OLD = {"command": "old", "version": "0.2.0", "a_field_of_0.2.0": 1}


def first_step(folder: Path) -> object:
    generation = GenerationFolder(folder.parent)
    return generation.manifest(STEP_NAMES[0])


@pytest.mark.parametrize(
    ("name", "opened"),
    [
        ("output", read_manifest),
        ("detector", Detector.load),
        ("corpus", BuiltCorpus),
        ("run", read_run),
        ("study", read_study),
        (f"1-{STEP_NAMES[0]}", first_step),
    ],
)
def test_what_another_version_wrote_is_refused(tmp_path: Path, name: str, opened: Callable[[Path], object]):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "detector.json").write_text("{}")
    write_json(folder / "manifest.json", OLD)
    with pytest.raises(DeadpanError) as caught:
        opened(folder)
    said = str(caught.value)
    assert said == (
        f"{folder}: written by deadpan 0.2.0, which deadpan {__version__} does not read: "
        "make it again, or use deadpan 0.2.0"
    )


def test_it_can_be_written_again(tmp_path: Path):
    write_json(tmp_path / "manifest.json", {"command": "old", "version": "0.2.0"})
    assert "manifest.json" in prepare_output(tmp_path)
    assert read_manifest(tmp_path, any_version=True).version == "0.2.0"


def test_a_later_patch_is_read():
    series = ".".join(__version__.split(".")[:2])
    check_version(f"{series}.9", "x")
    with pytest.raises(DeadpanError, match=r"written by deadpan 9\.0\.0"):
        check_version("9.0.0", "x")
