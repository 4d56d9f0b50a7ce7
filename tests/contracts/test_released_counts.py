"""The real corpora, where they are: as many examples and labels as their papers and folders say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deadpan.datasets import READERS, open_dataset

# name, folder, options, examples, sarcastic, drops
REAL: list[tuple[str, str, dict[str, Any], int, int, dict[str, int]]] = [
    ("isarcasm", "isarcasm", {}, 2814, 481, {}),
    ("isarcasm", "isarcasm", {"ids_only": True}, 3577, 619, {}),
    ("isarcasm_eval-en", "isarcasm_eval", {}, 3467, 867, {"no_text": 1}),
    ("isarcasm_eval-en-b", "isarcasm_eval", {}, 867, 867, {"not_in_task": 2601}),
    ("isarcasm_eval-en-c", "isarcasm_eval", {}, 1734, 867, {"not_in_task": 2601}),
    ("isarcasm_eval-ar", "isarcasm_eval", {}, 3102, 745, {}),
    ("isarcasm_eval-ar-c", "isarcasm_eval", {}, 1490, 745, {"not_in_task": 2357}),
    ("semeval2018-a", "semeval2018_task3", {}, 3834, 1911, {}),
    ("semeval2018-b", "semeval2018_task3", {}, 3834, 1911, {}),
    ("riloff", "riloff", {}, 1368, 215, {}),
    ("ptacek", "ptacek", {}, 12279, 5717, {}),
    ("ghosh_veale", "ghosh_veale", {}, 41385, 18546, {}),
    ("news_headlines", "news_headlines", {}, 26709, 11724, {}),
    ("kocasm", "kocasm", {}, 8999, 4492, {"no_text": 1}),
    ("kocosa", "kocosa", {}, 1321, 801, {}),
    ("arsarcasm_v2", "arsarcasm_v2", {}, 12548, 2168, {}),
    ("figlang2020-twitter", "figlang2020", {}, 5000, 2500, {}),
    ("figlang2020-reddit", "figlang2020", {}, 4400, 2200, {}),
    ("mustard", "mustard", {}, 690, 345, {}),
    ("oraby-gen", "oraby_v2", {}, 6520, 3260, {}),
    ("oraby-hyp", "oraby_v2", {}, 1164, 582, {}),
    ("oraby-rq", "oraby_v2", {}, 1702, 851, {}),
]


@pytest.mark.real_corpora
@pytest.mark.parametrize(("name", "folder", "options", "count", "sarcastic", "drops"), REAL)
def test_counts(
    real_corpora: Path,
    name: str,
    folder: str,
    options: dict[str, Any],
    count: int,
    sarcastic: int,
    drops: dict[str, int],
) -> None:
    if not (real_corpora / folder).is_dir():
        pytest.skip(f"no {real_corpora / folder}")
    reader = open_dataset(name, real_corpora, **options)
    examples = list(reader)
    labels = Counter(example.label for example in examples)
    assert (len(examples), labels[True], labels[None]) == (count, sarcastic, 0)
    assert reader.tally.drops == drops
    assert len({example.id for example in examples}) == count
    assert all(example.response.text == example.response.text.strip() for example in examples)


@pytest.mark.real_corpora
def test_the_responder_is_never_the_last_speaker(real_corpora: Path) -> None:
    for example in open_dataset("kocosa", real_corpora):
        assert example.response.speaker in "AB"
        assert example.response.speaker != example.context[-1].speaker
        assert bool(example.explanation) == example.label


@pytest.mark.real_corpora
def test_the_wrong_folder_says_what_is_expected(real_corpora: Path) -> None:
    """A folder of another corpus is refused, not read as this one."""
    for name in ("kocasm", "riloff", "mustard"):
        release = READERS.load(name).release
        with pytest.raises(Exception, match=release.files[0].names[0]):
            list(open_dataset(name, real_corpora / "oraby_v2"))
