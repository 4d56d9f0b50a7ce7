"""The same benchmark as a task of Inspect, for those who live there: inspect eval deadpan/bench/task.py

`deadpan bench run` asks the same prompts without this: it keeps a journal of its own, so that a kill loses
nothing. Here Inspect keeps the log, and its viewer shows every sample.
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

from deadpan.bench.answers import read_letter
from deadpan.bench.items import LETTERS
from deadpan.bench.prompts import render_prompt
from deadpan.bench.scores import Answered
from deadpan.bench.sets import DEFAULT_SET, open_set
from deadpan.errors import ConfigError


@task
def sarcbench(set: str = DEFAULT_SET, runs: int = 5, max_tokens: int = 128) -> Task:
    """A public set, zero-shot, some runs an item, voted on letters."""
    items = open_set(set)
    if not items.public:
        raise ConfigError(f"{items.label} is {items.visibility}: Inspect's logs would hold its answers")
    samples = [
        Sample(
            id=item.id,
            input=render_prompt(item, range(6)),
            target=LETTERS[item.answer],
            metadata={"category": item.category, "pair": item.pair_id, "set_hash": items.hash},
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
    """The letter of `Final Answer: X`; what cannot be read says so in its metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        letter = read_letter(state.output.completion)
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
    """Votes on letters. Inspect's `mode` votes on right and wrong, which is another thing."""

    def reduce(scores: list[Score]) -> Score:
        target = (scores[0].metadata or {}).get("target", "")
        voted = Answered("", "", "", "", target, tuple(score.answer or "" for score in scores), 0.0)
        return Score(value=float(voted.plurality == target), answer=voted.plurality)

    return reduce
