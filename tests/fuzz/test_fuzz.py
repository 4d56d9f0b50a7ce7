"""Damaged inputs into every way in: an answer or an error with a cure, never a traceback or half a file.

`tools/fuzzing.py --inputs 100000` runs more of the same; what it finds is kept in seeds/ and tried here.
"""

from __future__ import annotations

import pytest

from fuzz.mutations import damaged
from fuzz.targets import targets

INPUTS = 60
SLOW = {"scored-table": 40}


@pytest.mark.parametrize("name", sorted(targets()))
def test_damaged_inputs_end_in_an_answer_or_a_cure(name, monkeypatch):
    monkeypatch.delenv("DEADPAN_DATA", raising=False)
    target = targets()[name]
    for data in [*target.kept(), *target.seeds]:
        target.survives(data)
    for number in range(SLOW.get(name, INPUTS)):
        target.survives(damaged(target.seeds, number))


def test_the_same_number_is_the_same_input():
    seeds = [b"text,label\na,1\n"]
    assert [damaged(seeds, n) for n in range(50)] == [damaged(seeds, n) for n in range(50)]
    assert len({damaged(seeds, n) for n in range(50)}) > 40
