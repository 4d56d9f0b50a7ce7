"""Published cells, and the verdict on a cell that is measured again."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from deadpan.errors import ConfigError, DataError, MissingExtra, ModelError
from deadpan.reproduce.published import (
    PAPERS,
    Measured,
    MissingPeople,
    PublishedCell,
    judge,
    need_from,
    need_of,
    read_paper,
)
from deadpan.reproduce.trials import ReproductionOptions
from deadpan.stats import Interval

EXPECTED = {
    "sarc": {"table-1", "table-2", "table-3", "figure-2", "figure-3", "figure-4"},
    "isarcasm": {"table-1", "table-2", "table-3", "table-5", "table-6", "table-7", "figure-1", "figure-2"},
    "kocosa": {f"table-{n}" for n in range(4, 11)} | {"figure-3"},
    "sarcbench": {"table-1", "table-2", "table-3"},
}


@pytest.mark.parametrize("name", PAPERS)
def test_every_table_and_figure_is_there_and_every_cell_has_a_job_or_a_need(name):
    paper = read_paper(name)
    assert {exhibit.id for exhibit in paper.exhibits} >= EXPECTED[name]
    jobs = import_module(f"deadpan.reproduce.{name}").jobs(ReproductionOptions(None))
    measured = [id for job in jobs for id in job.cells]
    known = {cell.id for cell in paper.cells()}
    assert set(measured) <= known, "a job measures a cell that is not published"
    assert len(measured) == len(set(measured)), "two jobs measure one cell"
    for cell in paper.cells():
        if cell.id not in measured:
            assert cell.judged == "stated" or need_from(cell.needs).why, cell.id


def test_numbers_are_those_of_the_papers():
    assert read_paper("sarc").cell("table-2/bag-of-bigrams/pol-bal").value == 76.5
    assert read_paper("isarcasm").cell("table-7/miarn/f-score").value == 0.364
    assert read_paper("kocosa").cell("table-8/klue-roberta-large/ba").value == 74.9
    assert read_paper("sarcbench").cell("table-3/kimi-k2.6/avg-at-5").value == 89.28


NOT_IN_DIGITS = {"8.44M", "17K"}
"""Said as "8.44 million sequences" and "17 thousand sequences"."""
WORKED_OUT = {"table-9/three-turns-of-context/model", "table-9/gain-by-the-full-context/model"}
"""The first digit is cut off in the copy, and the difference of two published numbers."""


@pytest.mark.real_corpora
@pytest.mark.parametrize("name", PAPERS)
def test_every_number_stands_in_the_text_of_its_paper(name, real_corpora):
    text = (real_corpora.parent / "papers" / f"{name}.txt").read_text(encoding="utf-8")
    numbers = {found.replace(",", "").upper() for found in re.findall(r"\d[\d,]*(?:\.\d+)?[KMk]?", text)}
    numbers |= {f"0{found}" for found in re.findall(r"(?<!\d)\.\d+", text)}  # ".927%"
    for cell in read_paper(name).cells():
        if not cell.value or cell.text in NOT_IN_DIGITS or cell.id in WORKED_OUT:
            continue
        forms = {cell.text.replace(",", "").lstrip("-"), f"{abs(cell.value):g}", f"{abs(cell.value):.1f}"}
        assert forms & numbers, f"{cell.id}: {cell.text} is not in the paper"


def test_counts_are_as_published_and_know_their_last_digit():
    kocosa = read_paper("kocosa")
    some = kocosa.cell("table-6/arsarcasm-v2-abu-farha-et-al.-2021/sarcastic")
    assert (some.text, some.value, some.step) == ("3.0K", 3000, 100)
    assert kocosa.cell("table-4/dialogues/value").step == 1


def test_an_unknown_paper_is_an_error_that_names_the_nearest():
    with pytest.raises(ConfigError, match="sarcbench"):
        read_paper("sarcbanch")


def cell(
    value: float | None, judged: str = "higher", scale: float = 100, decimals: int = 1, step: float = 1
) -> PublishedCell:
    return PublishedCell("t/r/c", "t", "r", "c", value, "", judged, scale, decimals, step=step)


def ours(value: float, low: float | None = None, high: float | None = None, **more) -> Measured:
    return Measured(Interval(value, low, high, 0.95, 100), **more)


@pytest.mark.parametrize(
    ("published", "judged", "measured", "same", "word"),
    [
        (75.9, "higher", (0.74, 0.72, 0.76), True, "reproduced"),
        (75.9, "higher", (0.74, 0.72, 0.76), False, "consistent"),
        (75.9, "higher", (0.80, 0.78, 0.82), True, "exceeds"),
        (75.9, "higher", (0.80, 0.78, 0.82), False, "exceeds"),
        (75.9, "higher", (0.80, 0.75, 0.85), True, "reproduced"),
        (75.9, "higher", (0.70, 0.68, 0.72), True, "differs"),
        (75.9, "either", (0.80, 0.78, 0.82), True, "differs"),
        (75.9, "either", (0.76, 0.7586, 0.77), True, "reproduced"),  # 75.9 is rounded
        (2.8, "gain", (0.03, 0.01, 0.05), True, "reproduced"),
        (2.8, "gain", (0.02, -0.01, 0.05), True, "differs"),
        (2.8, "gain", (0.09, 0.05, 0.12), False, "exceeds"),
        (2.8, "stated", (0.09, 0.05, 0.12), True, "stated"),
    ],
)
def test_a_verdict_follows_its_rule(published, judged, measured, same, word):
    assert judge(cell(published, judged), ours(*measured, same=same)).word == word


def test_a_finding_in_words_is_reproduced_on_the_same_data_only():
    said = PublishedCell("t/r/c", "t", "r", "c", None, "less than others", "words", 1, 0)
    assert judge(said, Measured(agrees=True, same=True)).word == "reproduced"
    assert judge(said, Measured(agrees=True)).word == "consistent"
    assert judge(said, Measured(agrees=False, same=True)).word == "differs"


@pytest.mark.parametrize(
    ("published", "step", "counted", "word"),
    [(4700, 100, 4693, "reproduced"), (4700, 100, 4600, "differs"), (777, 1, 777, "reproduced"),
     (777, 1, 776, "differs"), (50, 1, 51, "differs"), (1_340_000, 10_000, 1_337_000, "reproduced"),
     (800, 100, 777, "reproduced"), (3000, 100, 3400, "differs"), (10_000, 1000, 14_000, "differs")],
)  # fmt: skip
def test_counts_are_compared_in_the_digits_published(published, step, counted, word):
    assert judge(cell(float(published), "count", 1, 0, step), ours(counted)).word == word


def test_a_difference_has_its_reason():
    verdict = judge(cell(75.9), ours(0.6, 0.5, 0.7, reason="other vectors"))
    assert (verdict.word, verdict.why) == ("differs", "other vectors")


def test_a_need_wins_over_a_number_and_errors_become_needs():
    assert judge(cell(777.0, "count", 1), ours(600, needs="data: test.csv")).word == "needs data"
    assert need_of(MissingPeople("deadpan studio create")).word == "needs people"
    assert need_of(ModelError("klue")).word == "needs weights"
    assert need_of(MissingExtra("torch", "neural")).word == "needs weights"
    assert need_of(DataError("no file")).word == "needs data"


def test_an_undefined_number_differs_with_its_reason():
    undefined = Measured(Interval(None, None, None, 0.95, 0, "no pairs"))
    assert judge(cell(75.9), undefined).why == "no pairs"
