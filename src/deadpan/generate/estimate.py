"""Cost of a run before it is made: prompts as they will be sent, answers as long as the prompts' examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deadpan.fields import encode
from deadpan.generate.draft import Draft, Dropped, lines
from deadpan.generate.language import Language
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.generate.steps.asked import ASKED
from deadpan.generate.steps.dialogue import prompt_values
from deadpan.generate.steps.order import ASKING, find_step
from deadpan.generate.steps.source import source_drafts
from deadpan.llm import Message, Usage, find_price
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.results import Result

MEASURED = 20
"""Source dialogues whose prompts are measured."""
TOKENS_PER_ROLE = 4
UNLIMITED_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """Calls, tokens and dollars of one step: `cost` if every first answer is usable, `most` if none is.

    With several candidates all of them are counted; a run stops earlier where one is good enough.
    """

    stage: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class CostEstimate(Result):
    """The expected cost of a run, step by step. `dropped` source dialogues cannot be used."""

    dialogues: int
    dropped: int
    stages: tuple[StepEstimate, ...]

    @property
    def cost(self) -> float | None:
        """Dollars if every first answer is usable; None where a price is unknown."""
        return _sum([stage.cost for stage in self.stages])

    @property
    def most(self) -> float | None:
        """Dollars if every try is used up; None where a price is unknown."""
        return _sum([stage.most for stage in self.stages])

    @property
    def line(self) -> str:
        """The estimate in one line."""
        if self.cost is None:
            return f"{self.dialogues:,} dialogues: cost unknown, set price under [model] in the plan"
        cost = f"about {dollars(self.cost)} US dollars, at most {dollars(self.most)}"
        return f"{self.dialogues:,} dialogues: {cost}"

    def summary(self) -> Summary:
        rows = tuple(
            (s.stage, s.model, s.calls, s.tokens_in, s.tokens_out, dollars(s.cost), dollars(s.most))
            for s in self.stages
        )
        columns = ("step", "model", "calls", "tokens in", "tokens out", "US $", "at most")
        unused = f" ({self.dropped:,} source dialogues cannot be used)" if self.dropped else ""
        return Summary((Table(columns, rows),), (f"{self.line}{unused}. Nothing was called.",))

    def as_dict(self) -> dict[str, object]:
        return {**encode(self), "cost": self.cost, "most": self.most}


def estimate_cost(
    plan: GenerationPlan | Path | str, *, out: Path | str | None = None, limit: int | None = None
) -> CostEstimate:
    """Count the sources and price their prompts; nothing is called and nothing is written."""
    plan = open_plan(plan, out)
    language = plan.open_language()
    measured: list[Draft] = []
    usable = dropped = 0
    for draft in source_drafts(plan, language):
        if isinstance(draft, Dropped):
            dropped += 1
            continue
        usable += 1
        if len(measured) < MEASURED:
            measured.append(_filled(language, draft))
        if usable == limit:
            break
    stages = [_estimate(plan, language, step, usable, measured) for step in plan.asking]
    return CostEstimate(usable, dropped, tuple(stages))


@dataclass(frozen=True, slots=True)
class _Question:
    """One kind of call about a dialogue: its tokens, and how often it is made, and made at most."""

    tokens_in: int
    tokens_out: int
    longest: int
    times: int = 1
    most: int = 1


def _estimate(
    plan: GenerationPlan, language: Language, step: str, dialogues: int, measured: Sequence[Draft]
) -> StepEstimate:
    settings = plan.settings(step)
    if step == "dialogue" and plan.candidates > 1:
        asked = _candidate_questions(plan, language, measured)
    else:
        asked = [_one_question(plan, language, step, measured)]
    price = find_price(settings)
    cost = most = None
    if price:
        cost = sum(price.cost(Usage(q.tokens_in, q.tokens_out)) * q.times for q in asked) * dialogues
        most = sum(price.cost(Usage(q.tokens_in, q.longest)) * q.most for q in asked) * dialogues
    return StepEstimate(
        step,
        settings.model,
        sum(q.times for q in asked) * dialogues,
        sum(q.tokens_in * q.times for q in asked) * dialogues,
        sum(q.tokens_out * q.times for q in asked) * dialogues,
        cost,
        most,
    )


def _one_question(
    plan: GenerationPlan, language: Language, step: str, measured: Sequence[Draft]
) -> _Question:
    sent = _mean([_tokens(ASKED[step].messages(language, draft)) for draft in measured])
    answer = _mean([tokens_of(example["answer"]) for example in _examples(language, step)])
    longest = plan.settings(step).max_tokens or UNLIMITED_TOKENS
    return _Question(sent, answer, longest, most=plan.tries(step))


def _candidate_questions(
    plan: GenerationPlan, language: Language, measured: Sequence[Draft]
) -> list[_Question]:
    """Return the calls of several candidates: scene and mood, responses and their tone, an explanation."""
    prompts, tries, count = language.prompts, plan.tries("dialogue"), plan.candidates
    asked: dict[str, list[int]] = {}
    for draft in measured:
        response = draft.response or draft.source[-1]
        level = language.facts.politeness.unknown
        before = prompts["response"].messages(
            dialogue=lines(draft.context), speaker=response.speaker, politeness=level
        )
        for part, messages in {
            "scene": prompts["scene"].messages(**prompt_values(language, draft)),
            "mood": prompts["mood"].messages(dialogue=lines(draft.context)),
            "response": before,
            "tone": prompts["tone"].messages(response=response.text),
            "explanation": prompts["response"].second(before, response.text, speaker=response.speaker),
        }.items():
            asked.setdefault(part, []).append(_tokens(messages))
    if plan.scene == "source":
        asked.pop("scene", None)
    found = []
    for part, tokens in asked.items():
        examples = prompts["response" if part == "explanation" else part].examples
        answers = [tokens_of(e["explanation" if part == "explanation" else "answer"]) for e in examples]
        longest = plan.part_settings(part).max_tokens or UNLIMITED_TOKENS
        per_candidate = part in ("response", "tone")
        once = 1 if part == "mood" and plan.scene == "source" else tries
        times, most = (count, count) if per_candidate else (1, once)
        found.append(_Question(_mean(tokens), _mean(answers), longest, times, most))
    return found


def _tokens(messages: Sequence[Message]) -> int:
    return sum(tokens_of(message["content"]) + TOKENS_PER_ROLE for message in messages)


def _mean(numbers: Sequence[int]) -> int:
    return round(sum(numbers) / max(1, len(numbers)))


def _filled(language: Language, draft: Draft) -> Draft:
    """Return a draft with the prompts' own examples in place of what the model has yet to write."""
    for step in ASKING[: ASKING.index("dialogue") + 1]:
        draft = ASKED[step].add(language, draft, _examples(language, step)[0]["answer"])
    return draft


def _examples(language: Language, step: str) -> Sequence[Mapping[str, str]]:
    return language.prompts[find_step(step).prompt].examples


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has: four ASCII characters, or 1.25 others, make one."""
    other = sum(not character.isascii() for character in text)
    return round((len(text) - other) / 4 + other * 0.8) + 1


def dollars(cost: float | None) -> str:
    """Return a cost as text, with as many digits as matter."""
    return "unknown" if cost is None else f"{cost:,.2f}" if cost >= 1 or cost == 0 else f"{cost:.4f}"


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
