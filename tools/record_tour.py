"""Records what the tour shows of a language model, so that a tour takes seconds (tour/recorded.json).

tools/record_tour.py                        asks about the pair and writes dialogues; takes some minutes
tools/record_tour.py --only pair            only the pair; --only dialogues: only the dialogues
tools/record_tour.py --run FOLDER           takes the dialogues of a finished `generate run`
tools/record_tour.py --sarcastic ID,ID --where "docs/results.md, DATE"
                                            notes which kept dialogues are sarcastic, after reading them

Needs deadpan[llm]; the model is pulled if it is not there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deadpan.bench.items.sets import open_set
from deadpan.generate.folder import GenerationFolder
from deadpan.generate.generation import generate_dialogues
from deadpan.generate.plan import STEP_NAMES
from deadpan.llm import LLMSettings, complete, user
from deadpan.models import installed, pull
from deadpan.records import Item
from deadpan.storage import read_json, write_json
from deadpan.tour.pair import PAIR
from deadpan.validation import encode

TARGET = Path(__file__).parent.parent / "src" / "deadpan" / "tour" / "recorded.json"
MODEL = "qwen2.5-coder-1.5b"
SOURCES = 8
ORDERS = 3
LETTERS = "ABCDEF"


def choose(item: Item, model: str) -> list[int | None]:
    """Return the model's choice in several orders of the options: a choice that follows the place is none."""
    answers: list[int | None] = []
    for turn in range(ORDERS):
        order = [(n + 2 * turn) % len(LETTERS) for n in range(len(LETTERS))]
        options = "\n".join(f"{LETTERS[place]}. {item.options[n]}" for place, n in enumerate(order))
        scene = "\n".join(f"{t.speaker}: {t.text}" for t in item.context)
        said = f'{item.speaker} says: "{item.utterance}"'
        text = f"{scene}\n\n{said}\n\n{item.question}\n{options}\n\nAnswer with one letter."
        settings = LLMSettings(model=model, temperature=0.0, seed=0, choices=tuple(LETTERS))
        letter = complete([user(text)], settings).text.strip()[:1]
        answers.append(order[LETTERS.index(letter)] if letter and letter in LETTERS else None)
    return answers


def write_dialogues(model: str) -> dict[str, Any]:
    """Run the pipeline and return what it kept and dropped."""
    with tempfile.TemporaryDirectory() as folder:
        generate_dialogues(model=model, out=Path(folder) / "run", n=SOURCES, seed=0)
        return from_run(Path(folder) / "run")


def from_run(folder: Path) -> dict[str, Any]:
    """Return what a finished run kept and dropped."""
    run = GenerationFolder(folder)
    kept = [encode(draft) for draft in run.drafts(run.last())]
    dropped = [encode(one) for name in STEP_NAMES if run.manifest(name) for one in run.dropped(name)]
    return {"read": len(list(run.drafts("source"))), "kept": kept, "dropped": dropped}


def record(found: dict[str, Any], given: argparse.Namespace) -> None:
    """Put what was asked for into the recording, writing it after each part."""
    model = f"embedded/{given.model}"
    parts = [given.only] if given.only else [] if given.sarcastic or given.run else ["pair", "dialogues"]
    if parts and given.model not in installed():
        pull(given.model)
    about = {"model": model, "date": datetime.now(UTC).date().isoformat()}
    if "pair" in parts:
        pair = [item for item in open_set("public").items if item.pair_id == PAIR]
        found |= {**about, "answers": {item.id: choose(item, model) for item in pair}}
        write_json(TARGET, found)
    if given.run or "dialogues" in parts:
        found["dialogues"] = {**about, **(from_run(given.run) if given.run else write_dialogues(model))}
    if given.sarcastic:
        found["dialogues"]["reading"] = {"sarcastic": given.sarcastic.split(","), "where": given.where}


def main() -> None:
    parser = argparse.ArgumentParser(description="Record what the tour shows of a language model.")
    parser.add_argument("--model", default=MODEL, help=f"an embedded model ({MODEL})")
    parser.add_argument("--only", choices=("pair", "dialogues"))
    parser.add_argument("--run", type=Path, help="folder of a finished generate run")
    parser.add_argument("--sarcastic", default="", help="ids of kept dialogues that are sarcastic when read")
    parser.add_argument("--where", default="", help="where that reading is reported")
    found = read_json(TARGET)
    record(found, parser.parse_args())
    write_json(TARGET, found)
    sys.stdout.write(f"{TARGET}\n")


if __name__ == "__main__":
    main()
