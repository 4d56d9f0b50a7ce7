"""What the studio exports and releases is what others read: Hugging Face datasets, our datasets, our detectors."""

from __future__ import annotations

import zlib

import pytest

from story.visitor import Person, Program, served_studio

pytestmark = pytest.mark.slow
N = 12


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A studio in which two people agreed, and called about half of the items sarcastic."""
    program = Program(tmp_path_factory.mktemp("answered"))
    program(
        "studio",
        "create",
        "--open",
        "--setting",
        "contact=lab@example.org",
        "reader-judgment",
        "starter-en",
        "--sample",
        N,
        "--raters",
        2,
        "--name",
        "first",
    )
    link = program.json("studio", "invite", "first", "--role", "participant", "--uses", 2)["link"]
    with served_studio(program) as site:
        for _ in range(2):
            assert Person(site, "first", link).answer_all(by_the_words) == N
    return program


def by_the_words(screen, question: str) -> str:
    """An answer that depends on the response alone."""
    response = screen.page.split('class="turn right response"', 1)[1].split("</div>", 1)[0]
    return screen.choices[question][zlib.crc32(response.encode()) % 2]


@pytest.mark.parametrize("mode", ["ids", "gated"])
def test_a_release_loads_in_hugging_face_datasets(answered, mode):
    released = answered.json("studio", "release", "first", "--out", mode, "--mode", mode)
    splits = answered.load_dataset(mode)
    assert list(splits) == ["train"] and len(splits["train"]) == released["examples"] == N
    assert {row["label"] for row in splits["train"]} == {True, False}
    assert all(bool(row["response"]["text"]) is (mode == "gated") for row in splits["train"])


def test_a_release_is_read_by_our_own_commands(answered):
    answered("studio", "release", "first", "--out", "release", "--mode", "gated")
    assert f"{N}" in answered("datasets", "stats", "release/data/train.parquet")
    answered("detect", "train", "release/data/train.parquet", "--system", "bigrams", "--out", "model")
    assert (answered.folder / "model" / "manifest.json").is_file()


def test_an_export_loads_in_hugging_face_datasets(answered):
    answered("studio", "export", "first", "--out", "answers")
    judgments = answered.load_dataset("answers", "judgments")["train"]
    assert len(judgments) == 2 * N
    assert {row["question"] for row in judgments} == {"sarcastic"}
    labels = answered.load_dataset("answers", "labels")["train"]
    assert {row["item_id"] for row in labels} == {row["item_id"] for row in judgments}
