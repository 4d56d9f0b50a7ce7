"""Items across models: which separate them, and which are answered alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_items import off_by, right, run_scripted, small_set
from bench_rows import make_row, make_rows, make_run
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.scores.difficulty import ItemReport, item_facts, item_report
from deadpan.errors import DataError


def models(*answers, repeat=5):
    """A run per model; the letters are its answers to the items a1, b1, ..., each given in all runs."""
    return [
        make_run(
            make_rows({f"{item}1": letter * repeat for item, letter in zip("abcdefgh", letters, strict=False)}),
            f"openai/{n}",
        )
        for n, letters in enumerate(answers)
    ]  # fmt: skip


def test_dead_items_and_tempting_letters_are_found():
    facts = {each.item: each for each in item_facts(models("AEAA", "AEAB", "AFBB", "AEBB"))}
    assert (facts["a1"].state, facts["a1"].easiness, facts["a1"].tempting) == ("dead: all right", 1.0, "")
    assert (facts["b1"].state, facts["b1"].easiness, facts["b1"].tempting) == ("dead: all wrong", 0.0, "E")
    assert (facts["c1"].state, facts["c1"].easiness) == ("separates", 0.5)
    assert facts["d1"].easiness == 0.25
    assert facts["a1"].discrimination is None
    # Of the rest of the set the models have 2, 1, 1 and 1 right; on c1 the first two are right.
    assert facts["c1"].discrimination == pytest.approx(1 / 3**0.5)


def test_an_item_that_better_models_miss_is_backwards():
    facts = {each.item: each for each in item_facts(models("AAAB", "AABB", "BBBA"))}
    assert facts["d1"].state == "backwards" and facts["d1"].discrimination < 0
    assert facts["a1"].state == "separates"


def test_an_item_without_correlation_is_not_backwards():
    facts = {each.item: each for each in item_facts(models("AA", "AB", "BA", "BB"))}
    assert facts["a1"].discrimination == pytest.approx(0)
    assert facts["a1"].state == "separates"


def test_discrimination_needs_three_models():
    two, three = models("AA", "BB"), models("AA", "BB", "BB")
    assert all(each.discrimination is None for each in item_facts(two))
    assert all(each.discrimination is not None for each in item_facts(three))
    alike = item_facts(models("AA", "AB", "AC"))
    assert alike[1].discrimination is None, "the rest of the set is the same for all"


def test_one_different_answer_does_not_separate_models():
    same = make_run(make_rows({"a1": "AAAAA", "b1": "AAAAA"}), "openai/a")
    once = make_run(make_rows({"a1": "BAAAA", "b1": "AAAAA"}), "openai/b")
    first, second = item_facts([same, once])
    assert (first.state, first.p, first.easiness) == ("unclear", 1.0, pytest.approx(0.9))
    assert not first.separates and not second.separates
    wrong = make_run(make_rows({"a1": "BBBBB", "b1": "AAAAA"}), "openai/c")
    first, second = item_facts([same, wrong])
    assert (first.state, first.separates) == ("separates", True)
    assert (first.p, first.p_adjusted) == pytest.approx((2 / 252, 4 / 252))


def test_a_p_value_of_exactly_5_percent_does_not_separate():
    """One run that is right and 19 that are wrong: the right one could have been any of twenty."""
    [found] = item_facts([make_run(make_rows({"a1": "A"}), "openai/a"), make_run(make_rows({"a1": "B" * 19}), "openai/b")])  # fmt: skip
    assert (found.p_adjusted, found.separates, found.state) == (0.05, False, "unclear")


def test_only_items_that_all_models_were_asked_count_and_only_models():
    runs = models("AB", "AA")
    more = make_run([*runs[1].rows, make_row("z1", 1, "B")], "openai/more")
    people = make_run(make_rows({"a1": "BBBBB"}, model="human"), "human")
    facts = item_facts([runs[0], more, people])
    assert [(each.item, each.easiness) for each in facts] == [("a1", 1.0), ("b1", 0.5)]
    assert facts[1].tempting == "B"
    with pytest.raises(DataError, match="no model among the runs"):
        item_facts([people])


def test_a_run_on_a_part_of_the_set_does_not_take_items_away():
    runs = models("AB", "AA")
    (part,) = models("A")
    part = replace(part, plan=replace(part.plan, model="openai/part", set_size=2))
    assert [each.item for each in item_facts([*runs, part])] == ["a1", "b1"]
    assert [each.item for each in item_facts([part])] == ["a1"]


def test_unread_answers_tempt_nobody():
    [found] = item_facts([make_run(make_rows({"a1": "  B"}), "openai/a")])
    assert (found.tempting, found.easiness) == ("B", 0.0)


def test_the_report_lists_the_hardest_first(tmp_path):
    for name, answer in (("a", right), ("b", off_by(1))):
        run_scripted(tmp_path / "public", f"openai/{name}", answer, small_set(10), runs=5)
    report = item_report(find_runs([tmp_path / "public"]))
    assert [each.item for each in report.items] == sorted(each.item for each in report.items)
    assert (report.as_dict()["separating"], repr(report)) == (20, "ItemReport(20 items)")
    summary = report.summary()
    assert len(summary.tables[0].rows) == 15
    assert "20 items separate" in str(report) and "The 15 hardest of 20 items" in str(report)
    facts = item_facts(models("AB", "BB"))
    assert str(ItemReport(tuple(facts))).count("dead: all wrong") == 2
    run_scripted(tmp_path / "private", "openai/a", right, small_set(2, "private"), runs=1)
    with pytest.raises(DataError, match="never shown"):
        item_report(find_runs([tmp_path / "private"]))
