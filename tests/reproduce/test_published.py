"""Published numbers: every cell has an id, and either a job that measures it or a need that is named."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from deadpan.errors import ConfigError
from deadpan.reproduce.published import PAPERS, read_paper
from deadpan.reproduce.verdicts import need_from
from deadpan.reproduce.workshop import ReproductionOptions

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
            assert need_from(cell.needs).why, cell.id


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
    for cell in read_paper(name).cells():
        if cell.value is None or cell.text in NOT_IN_DIGITS or cell.id in WORKED_OUT:
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
