"""Checkpoints: a step runs once, a step that fails leaves nothing, one run at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadpan.corpus.checkpoints import STEP_KEY, Checkpoints
from deadpan.errors import DataError


def test_a_finished_step_is_not_repeated_and_a_failed_one_is(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "out")
    runs = []

    def make(folder: Path) -> None:
        runs.append(folder)
        (folder / "rows").write_text("half")
        if len(runs) == 1:
            raise ValueError("interrupted")

    with checkpoints.lock():
        with pytest.raises(ValueError, match="interrupted"):
            checkpoints.step("rows", {"a": 1}, make)
        assert not list(checkpoints.finished("rows"))
        first = checkpoints.step("rows", {"a": 1}, make)
        assert checkpoints.step("rows", {"a": 1}, make) == first
        assert checkpoints.step("rows", {"a": 2}, make) != first
    assert len(runs) == 3
    assert (first / STEP_KEY).is_file()
    assert [key for _, key in checkpoints.finished("rows")] in ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}])
    assert not list(checkpoints.root.glob(".*"))


def test_steps_that_were_not_used_are_removed(tmp_path: Path) -> None:
    old = Checkpoints(tmp_path)
    with old.lock():
        old.step("rows", 1, lambda folder: None)
        kept = old.step("rows", 2, lambda folder: None)
    new = Checkpoints(tmp_path)
    with new.lock():
        new.step("rows", 2, lambda folder: None)
        new.remove_unused()
    assert list(new.root.iterdir()) == [kept]


def test_a_locked_folder_is_refused(tmp_path: Path) -> None:
    with (
        Checkpoints(tmp_path).lock(),
        pytest.raises(DataError, match="another run is using"),
        Checkpoints(tmp_path).lock(),
    ):
        pass
