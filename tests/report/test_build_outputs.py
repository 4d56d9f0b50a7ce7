"""Outputs: found by their manifests, refused or marked where something is wrong."""

from __future__ import annotations

import json
import shutil

import pytest

from deadpan.errors import DataError
from deadpan.report.build import build_report, find_outputs
from report.making import comparison


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return comparison(tmp_path_factory.mktemp("study") / "study", noise=True)


def test_a_folder_that_is_not_ours_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="no manifest"):
        find_outputs([tmp_path])
    (tmp_path / "manifest.json").write_text('{"name": "an extension of a browser"}')
    with pytest.raises(DataError, match="manifest"):
        find_outputs([tmp_path])
    with pytest.raises(DataError, match="no such folder"):
        find_outputs([tmp_path / "nowhere"])


def test_a_changed_a_missing_and_a_newer_output_say_so(study, tmp_path):
    def problem(name: str) -> str:
        return find_outputs([tmp_path / name])[0].problem

    for name in ("whole", "changed", "missing", "newer", "unknown"):
        shutil.copytree(study, tmp_path / name)
    assert problem("whole") == ""
    with (tmp_path / "changed" / "compare.json").open("a") as file:
        file.write(" ")
    assert "compare.json does not match manifest.json" in problem("changed")
    (tmp_path / "missing" / "bow.jsonl").unlink()
    assert "bow.jsonl, which manifest.json lists, is missing" in problem("missing")
    for name, more in (("newer", {}), ("unknown", {"signature": {"of": "tomorrow"}})):
        path = tmp_path / name / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "version": "99.0.0", **more}))
        assert "written by deadpan 99.0.0" in problem(name)


def test_a_manifest_that_points_outside_is_not_followed(study, tmp_path):
    shutil.copytree(study, tmp_path / "odd")
    path = tmp_path / "odd" / "manifest.json"
    facts = json.loads(path.read_text())
    facts["files"]["../secret"] = {"bytes": 1, "sha256": "0"}
    path.write_text(json.dumps(facts))
    assert "outside" in find_outputs([tmp_path / "odd"])[0].problem


def test_two_outputs_of_one_name_get_two_names(study, tmp_path):
    for parent in ("a", "b"):
        shutil.copytree(study, tmp_path / parent / "study")
    found = find_outputs([tmp_path / "a" / "study", tmp_path / "b" / "study", tmp_path / "a" / "study"])
    assert [output.name for output in found] == ["study", "study-2"]


@pytest.mark.parametrize(
    "foreign", ['{"name": "an extension of a browser"}', "{", "[" * 100_000, "[]", '{"command": 3}']
)
def test_a_foreign_manifest_beside_our_outputs_is_listed_and_stops_nothing(study, tmp_path, foreign):
    shutil.copytree(study, tmp_path / "all" / "study")
    (tmp_path / "all" / "app").mkdir()
    (tmp_path / "all" / "app" / "manifest.json").write_text(foreign)
    odd, whole = find_outputs([tmp_path / "all"])
    assert (odd.command, whole.problem) == ("", "")
    assert str(tmp_path / "all" / "app" / "manifest.json") in odd.problem
    site = build_report([tmp_path / "all"], tmp_path / "site")
    assert [name for name, _ in site.problems] == ["all-app"]


@pytest.mark.parametrize("size", ["many", None, [1], 1e400])
def test_a_size_that_is_no_number_is_a_change(study, tmp_path, size):
    shutil.copytree(study, tmp_path / "odd")
    path = tmp_path / "odd" / "manifest.json"
    facts = json.loads(path.read_text())
    facts["files"]["compare.json"]["bytes"] = size
    path.write_text(json.dumps(facts))
    assert "compare.json does not match manifest.json" in find_outputs([tmp_path / "odd"])[0].problem
