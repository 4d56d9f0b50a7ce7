"""Items across models: which separate them, and which are answered alike."""

from __future__ import annotations

from bench_items import right, run_scripted, says, small_set
from deadpan.bench.scores.difficulty import item_facts

SET = small_set(12)


def run(out, name, answer, items=SET, **changes):
    return run_scripted(out, name, answer, items, **changes)


def test_dead_items_and_tempting_letters_are_found(tmp_path):
    def skilled(level):
        return lambda q, limit, n: right(q) if int(q.item.id[1:].split("-")[0]) % 4 <= level else says((q.item.answer + 1) % 6, q)  # fmt: skip

    runs = [run(tmp_path, f"openai/s{level}", skilled(level)) for level in (0, 1, 2)]
    runs.append(run(tmp_path, "openai/none", skilled(0)))
    facts = {each.item: each for each in item_facts(runs)}
    assert facts["i0-0"].state == "dead: all right"
    assert facts["i3-0"].state == "dead: all wrong"
    assert facts["i1-0"].state == "separates"
    assert facts["i1-0"].discrimination > 0.3
    assert facts["i3-0"].tempting == "E"
