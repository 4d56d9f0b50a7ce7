"""Contamination: a server that knows a set by heart is found, one that only reads well is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deadpan.bench.contamination import check_contamination
from deadpan.bench.items.prompts import spoken_lines
from deadpan.bench.items.sets import make_set, open_set
from deadpan.errors import DeadpanError
from scripted_server import ok, served

PUBLIC = open_set("public@0.3.0")


def asked_option(prompt):
    """The letter that is asked for."""
    return prompt.partition("option ")[2][:1]


def remembers(handler):
    """Knows every text of the set, and its own order of options."""
    prompt = handler.asked
    begun = prompt.partition("nothing else.\n\n")[2]
    for item in PUBLIC.items:
        scene = f"{spoken_lines(item.context)}\n{item.utterance}"
        for text in (item.canary, scene):
            if prompt.startswith("This is the beginning") and text.startswith(begun):
                return ok(text.removeprefix(begun))(handler)
        if spoken_lines(item.context) in prompt:
            asked = prompt.partition("Which of them is option ")[2][:1] or asked_option(prompt)
            return ok(item.options["ABCDEF".index(asked)])(handler)
    return ok("I do not know.")(handler)


def reads(handler):
    """Has no memory: goes on in general words, and takes the first option it is shown."""
    missing = handler.asked.partition("sorted by the alphabet:\n- ")[2]
    text = missing.splitlines()[0] if missing else "and then they all went home, which was just as well."
    return ok(text)(handler)


def check(act, **options):
    with served() as server:
        server.acts = [act]
        result = check_contamination("m", options.pop("items", PUBLIC), base_url=server.url, **options)
        return result, server.requests


def test_a_model_that_knows_the_set_by_heart_is_found():
    result, requests = check(remembers, sample=20)
    assert result.contaminated
    found = {probe.name: probe for probe in result.probes}
    assert set(found) == {"canary", "scene", "last option", "order"}
    assert all(probe.found for probe in found.values()), result.summary().text()
    # Its memory is of the set's own order: where the order was shuffled, it is wrong.
    assert found["order"].memory == 1.0
    assert found["order"].control < 0.6
    assert all(request["temperature"] == 0 for request in requests)
    assert "has seen public@0.3.0" in " ".join(result.summary().text().split())


def test_a_model_that_only_reads_well_is_not():
    result, _ = check(reads, sample=30)
    assert not result.contaminated, result.summary().text()
    order = next(probe for probe in result.probes if probe.name == "order")
    assert order.memory > 0.1
    assert "does not prove" in " ".join(result.summary().text().split())


def test_the_answer_is_never_in_the_question():
    _, requests = check(reads, sample=20)
    prompts = [request["messages"][-1]["content"] for request in requests]
    for item in PUBLIC.items:
        last = [each for each in prompts if each.startswith("This is a question with lettered options. ")]
        for prompt in last:
            if f"Question: {item.question}\n" in prompt and spoken_lines(item.context) in prompt:
                assert item.options[-1] not in prompt
    begun = [each for each in prompts if "canary" in each]
    assert begun
    assert not any(item.canary in each for each in begun for item in PUBLIC.items)


def test_a_canary_without_an_id_is_not_asked_for():
    plain = make_set("own", "private", [replace(item, canary="canary") for item in PUBLIC.items[:8]])
    result, _ = check(remembers, items=plain, sample=4)
    assert "canary" not in {probe.name for probe in result.probes}


def test_the_command_says_so_by_its_exit_code(deadpan):
    with served() as server:
        server.acts = [remembers]
        options = ("--set", "public@0.3.0", "--llm", "m", "--base-url", server.url, "--sample", 6, "--json")
        ran = deadpan("bench", "contamination", *options)
    assert ran.status == 1
    assert ran.json["contaminated"] is True


def test_a_baseline_has_no_memory_to_test():
    with pytest.raises(DeadpanError, match="a model that writes"):
        check_contamination("baseline/random")
