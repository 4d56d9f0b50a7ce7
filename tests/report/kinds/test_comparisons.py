"""Headlines of comparisons: no winner that is not significant, whatever the numbers are."""

from __future__ import annotations

from deadpan.report.kinds.comparisons import headline


def found(p: float | None, *names: str, constant: float = 0.5) -> dict:
    """A comparison in which all pairs have one p value."""
    scores = {
        name: {
            "scores": {
                "f1": {"value": 0.9 - at / 10, "low": 0.55, "high": 0.95, "level": 0.95, "n": 9, "why": ""}
            }
        }
        for at, name in enumerate(names)
    }
    pairs = [{"first": a, "second": b, "p_holm": p} for at, a in enumerate(names) for b in names[at + 1 :]]
    return {"data": "mine.csv", "metric": "f1", "systems": scores, "comparisons": pairs,
            "constant_answer": {"f1": constant}}  # fmt: skip


def test_a_winner_needs_every_difference_to_be_significant():
    assert headline(found(0.01, "a", "b", "c")).startswith("a does best on mine.csv: F1 0.9")
    for p in (0.06, None):
        text = headline(found(p, "a", "b", "c"))
        assert (
            text
            == "No system is significantly better than all others on mine.csv (3 systems, F1 0.70 to 0.90)."
        )


def test_a_small_p_value_of_too_few_clusters_makes_no_winner():
    facts = found(0.01, "a", "b")
    facts["comparisons"][0]["significant"] = False
    assert headline(facts).startswith("No system is significantly better than all others")


def test_by_a_score_of_errors_the_lowest_is_best():
    facts = found(0.01, "b", "a", constant=0.5)
    for name, value in (("a", 0.2), ("b", 0.1)):
        interval = {"value": value, "low": 0.05, "high": 0.25, "level": 0.95, "n": 9, "why": ""}
        facts["systems"][name]["scores"] = {"brier": interval}
    facts |= {"metric": "brier", "constant_answer": {"brier": 0.3}}
    assert headline(facts).startswith("b does best on mine.csv: Brier score 0.1")
    text = headline(facts | {"constant_answer": {"brier": 0.2}})
    assert text.startswith("No system is significantly better than a constant answer")
    assert "the best, b, has 0.1" in text


def test_systems_that_do_not_differ_from_a_trivial_one_are_said_to():
    assert (
        headline(found(0.2, "a", "majority")) == "No system differs significantly from majority on mine.csv."
    )
    assert "random" in headline(found(0.2, "a", "random"))
    assert headline(found(0.01, "a", "majority")).startswith("a does best")


def test_one_system_is_compared_with_a_constant_answer():
    assert headline(found(None, "a")).startswith("a has F1 0.9")
    assert "not significantly better than a constant answer" in headline(found(None, "a", constant=0.6))


def test_a_best_system_that_is_no_better_than_a_constant_answer_is_no_winner():
    for constant in (0.95, 0.6):
        text = headline(found(0.01, "a", "majority", constant=constant))
        assert text.startswith("No system is significantly better than a constant answer on mine.csv: F1 0.")
        assert "the best, a, has 0.9" in text
