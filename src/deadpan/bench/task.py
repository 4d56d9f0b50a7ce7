"""The benchmark as a task of Inspect: inspect eval deadpan/bench/task.py

`deadpan bench run` asks the same prompts with a journal of its own, so that kill -9 loses nothing. With this
task Inspect keeps the log, and its viewer shows every sample.
"""

from __future__ import annotations

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    ScoreReducer,
    Target,
    accuracy,
    mean_score,
    score_reducer,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.prompts import render_prompt
from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.answers import read_letter
from deadpan.bench.scores.score import ItemAnswers
from deadpan.errors import ConfigError


@task
def sarcbench(set: str = DEFAULT_SET, runs: int = 5, max_tokens: int = 128) -> Task:
    """Ask a public set zero-shot, several runs per item, with a plurality vote on letters."""
    items = open_set(set)
    if not items.public:
        raise ConfigError(
            f"{items.label} is {items.visibility}: Inspect's logs would hold its answers; use `bench run`"
        )
    samples = [
        Sample(
            id=item.id,
            input=render_prompt(item, range(6)),
            target=LETTERS[item.answer],
            metadata={"category": item.category, "pair": item.pair_id, "set_hash": items.hash, "options": item.options},
        )
        for item in items.items
    ]
    return Task(
        dataset=samples,
        solver=[generate(temperature=0.7, top_p=0.95, max_tokens=max_tokens)],
        scorer=final_answer(),
        epochs=Epochs(runs, [mean_score(), plurality()]),
        version=items.version,
    )


@scorer(metrics=[accuracy(), stderr(cluster="pair")])
def final_answer() -> Scorer:
    """Read the letter as `bench run` does; an unread answer is marked in the metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        letter = read_letter(state.output.completion, state.metadata.get("options", ()), state.input_text)
        return Score(
            value=CORRECT if letter == target.text else INCORRECT,
            answer=letter or "",
            explanation=state.output.completion,
            metadata={"unread": letter is None, "target": target.text, "stop": _stop(state)},
        )

    return score


def _stop(state: TaskState) -> str:
    return str(state.output.stop_reason) if state.output.choices else "none"


@score_reducer(name="plurality")
def plurality() -> ScoreReducer:
    """Vote on letters. Inspect's `mode` votes on right and wrong, which is a different thing."""

    def reduce(scores: list[Score]) -> Score:
        target = (scores[0].metadata or {}).get("target", "")
        voted = ItemAnswers("", "", "", "", target, tuple(score.answer or "" for score in scores), 0.0)
        return Score(value=float(voted.plurality == target), answer=voted.plurality)

    return reduce
