"""Back-check of generate, on pairs that people wrote: does it tell a sarcastic response from its sincere twin?

The pairs are deadpan's starter set, whose twins share their words on purpose. For each, the model is asked
about the scene and both responses as in `deadpan generate`; printed are the shares that would pass, and how
often the sarcastic response sounds friendlier (ties count half).

    python benchmarks/backcheck.py --pairs 20
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from deadpan import read_dataset
from deadpan.generate.folder import render_dialogue
from deadpan.generate.language import load_language
from deadpan.generate.pipeline import MIN_BAD, MIN_FRIENDLY
from deadpan.llm import Client, LLMSettings, default_model
from deadpan.records import Example


def pairs(language: str, count: int) -> list[Sequence[Example]]:
    """Return pairs of responses to one context of two people."""
    found: dict[str, list[Example]] = {}
    for example in read_dataset(f"starter-{language}"):
        if len({turn.speaker for turn in example.context}) == 2:
            found.setdefault(example.sequence or example.group, []).append(example)
    whole = [sorted(pair, key=lambda e: not e.label) for pair in found.values() if len(pair) == 2]
    return whole[-count:]  # the examples of the prompts come from the beginning


def measure(client: Client, code: str, count: int) -> dict[str, object]:
    """Ask about the pairs of one language."""
    prompts = load_language(code).prompts

    def likely(name: str, **values: str) -> float:
        choices = prompts[name].choices
        reply = client.complete(prompts[name].messages(**values), choices=choices, probabilities=True)
        return reply.probabilities[choices[0]]

    chosen = pairs(code, count)
    bad = [likely("mood", dialogue=render_dialogue(first.context)) for first, _ in chosen]
    sarcastic = [likely("tone", response=first.response.text) for first, _ in chosen]
    sincere = [likely("tone", response=second.response.text) for _, second in chosen]
    n = len(chosen)
    wins = sum((one > other) + 0.5 * (one == other) for one, other in zip(sarcastic, sincere, strict=True))
    return {
        "language": code,
        "pairs": n,
        "scene bad enough": sum(share >= MIN_BAD for share in bad) / n,
        "sarcastic sounds friendly": sum(share >= MIN_FRIENDLY for share in sarcastic) / n,
        "sincere sounds friendly": sum(share >= MIN_FRIENDLY for share in sincere) / n,
        "sarcastic sounds friendlier": wins / n,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--model", default=default_model())
    options = parser.parse_args()
    settings = LLMSettings(model=options.model, temperature=0, max_tokens=8, timeout=900)
    with Client(settings) as client:
        for code in ("en", "ko"):
            print(json.dumps(measure(client, code, options.pairs), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
