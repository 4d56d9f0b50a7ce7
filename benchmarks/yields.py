"""Yield of generate with a small model: contexts of the starter set as sources, the whole pipeline to a release.

Prints kept and dropped by reason, and every kept dialogue with the back-check's score, so that a person can read
them and count how many are sarcastic, natural and fit their scene. Contexts that the prompts use as examples are
left out. A run that is stopped goes on where it was when it is started again.

    python benchmarks/yields.py en --sources 32 --out yields/
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from deadpan import read_dataset
from deadpan.duplicates import shingles
from deadpan.generate.folder import Draft, GenerationFolder, render_dialogue
from deadpan.generate.generation import run_plan
from deadpan.generate.language import load_language
from deadpan.generate.release import write_release
from deadpan.text import fold

PLAN = """language = "{language}"
out = "{language}"
[source]
path = "{language}.jsonl"
[model]
threads = {threads}
timeout = 900
[dialogue]
candidates = {candidates}
scene = "{scene}"
tries = 2
[filter]
abnormal = false
"""


def sources(language: str, count: int, seed: int) -> list[dict[str, object]]:
    """Return contexts between two people, drawn by the seed, none of them like an example of a prompt."""
    shown = [
        shingles(fold(value))
        for prompt in load_language(language).prompts.values()
        for example in prompt.examples
        for value in example.values()
    ]
    found: dict[str, dict[str, object]] = {}
    for example in read_dataset(f"starter-{language}"):
        turns = [{"speaker": turn.speaker, "text": turn.text} for turn in example.context]
        text = shingles(fold(" ".join(turn.text for turn in example.context)))
        copied = any(len(text & other) > 0.3 * min(len(text), len(other)) for other in shown if other)
        if {turn["speaker"] for turn in turns} == {"A", "B"} and not copied:
            name = example.sequence or example.group
            found.setdefault(name, {"id": name, "turns": turns})
    names = sorted(found)
    random.Random(seed).shuffle(names)
    return [found[name] for name in names[:count]]


def shown(draft: Draft) -> str:
    """Return a dialogue to be read."""
    assert draft.response is not None
    said = f"=> {draft.response.speaker}: {draft.response.text}"
    return f"{draft.id} ({draft.contrast})\n{render_dialogue(draft.context)}\n{said}\n   why: {draft.explanation}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=("en", "ko"))
    parser.add_argument("--sources", type=int, default=32)
    parser.add_argument("--candidates", type=int, default=3)
    parser.add_argument("--scene", default="source", choices=("source", "new"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--out", type=Path, default=Path("yields"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = sources(options.language, options.sources, options.seed)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (options.out / f"{options.language}.jsonl").write_text(text, encoding="utf-8")
    plan = options.out / f"{options.language}.toml"
    plan.write_text(PLAN.format(**vars(options)), encoding="utf-8")
    result = run_plan(plan, resume=(options.out / options.language).exists())
    for step in result.steps:
        print(json.dumps({"step": step.step, "read": step.read, "kept": step.kept, "dropped": step.drops}))
    print()
    for draft in GenerationFolder(options.out / options.language).drafts("review"):
        print(shown(draft))
    print(write_release(plan, options.out / f"{options.language}-release", unjudged=True))


if __name__ == "__main__":
    main()
