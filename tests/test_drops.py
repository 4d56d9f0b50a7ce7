"""Drops are counted in full; a summary names the commonest reasons and says how many it leaves out."""

from __future__ import annotations

from deadpan.drops import MOST_REASONS, Tally


def test_few_reasons_are_all_named_with_their_first_places():
    tally = Tally()
    for line in range(1, 6):
        tally.drop("no_text", f"a.csv:{line}")
    tally.change("stripped", 1200)
    assert tally.notes() == (
        "excluded: no_text 5", "changed: stripped 1,200",
        "  no_text  a.csv:1", "  no_text  a.csv:2", "  no_text  a.csv:3",
    )  # fmt: skip


def test_of_many_reasons_the_commonest_are_named_and_the_rest_is_counted():
    tally = Tally()
    for number in range(30):
        for line in range(1 + number):
            tally.drop(f"label_unknown.{number:02}", f"a.csv:{line}")
    first, *places = tally.notes()
    commonest = ", ".join(f"label_unknown.{number} {number + 1}" for number in range(25, 30))
    rest = sum(range(1, 26))
    assert first == f"excluded: {commonest}, and {rest} for 25 other reasons (all of them: --json)"
    assert len(places) == MOST_REASONS
    assert len(tally.as_dict()["drops"]) == 30


def test_one_reason_more_than_is_named_reads_as_one():
    tally = Tally()
    for number in range(MOST_REASONS + 1):
        tally.drop(f"r{number}")
    assert tally.notes() == ("excluded: r0 1, r1 1, r2 1, r3 1, r4 1, and 1 for another reason (all of them: --json)",)
