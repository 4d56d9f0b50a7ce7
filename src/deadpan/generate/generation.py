"""Runs of a plan: whole, in part, estimated or looked at. The functions notebooks and commands call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.arguments import check_list, check_path, check_settings, check_whole
from deadpan.errors import ConfigError, DataError
from deadpan.generate.folder import Draft, Dropped, GenerationFolder, GenerationResult, StepResult, render_dialogue
from deadpan.generate.language import Language
from deadpan.generate.pipeline import Pipeline
from deadpan.generate.plan import ASKING_STEPS, EXAMPLE_SOURCES, GENERATION_STEPS, STEP_NAMES, GenerationPlan, open_plan
from deadpan.generate.questions import ASKED_STEPS, prompt_values
from deadpan.generate.report import write_report
from deadpan.generate.source import source_drafts
from deadpan.journal import Journal
from deadpan.llm import Breaker, Budget, Client, CostLimit, Message, Unavailable, Usage, default_model, find_price
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.progress import Progress, silent
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.storage import write_manifest
from deadpan.validation import config_from, encode

PathLike = Path | str


def generate_dialogues(
    sources: PathLike | Sequence[PathLike] = EXAMPLE_SOURCES,
    *,
    model: str = "",
    out: PathLike = "generated",
    language: str = "en",
    n: int | None = None,
    max_cost: float | None = None,
    base_url: str = "",
    model_settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    with_contrast: bool = False,
    resume: bool = False,
    progress: Progress = silent,
    **plan: Any,
) -> GenerationResult:
    """Write sarcastic dialogues with a language model, filter them, and return counts by step and reason.

    `sources` are files or folders of dialogues to start from; "examples" are those of the language. `n` takes
    the first n usable ones. Without a `model` the embedded one writes; `model_settings` are further settings,
    such as its price. `max_cost` is in US dollars. Every call is kept in the folder `out`: a run that was
    stopped continues with `resume=True` and repeats no finished call. Other keywords are tables of a plan,
    such as `dialogue={"temperature": 0.9}` or `filter={"abnormal": False}`.
    """
    names = [sources] if isinstance(sources, str | Path) else check_list(sources, "sources")
    own = check_settings(model_settings)
    endpoint = {"base_url": base_url} if base_url else {}
    source: Mapping[str, Any] = plan.pop("source", {})
    table = {
        "language": language,
        "out": str(check_path(out, "the folder")),
        "seed": seed,
        "with_contrast": with_contrast,
        "source": {**source, "path": [str(name) for name in names]},
        "model": {**own, **endpoint, "model": model or default_model()},
        **plan,
    }
    opened = config_from(table, GenerationPlan, source="generate_dialogues")
    return run_plan(opened, limit=n, max_cost=max_cost, resume=resume, progress=progress)


def run_plan(
    plan: GenerationPlan | PathLike,
    *,
    out: PathLike | None = None,
    limit: int | None = None,
    max_cost: float | None = None,
    resume: bool = False,
    until: str | None = None,
    progress: Progress = silent,
    on_estimate: Callable[[CostEstimate], object] | None = None,
) -> GenerationResult:
    """Run the steps of a plan; after the last, write the report and the manifest of the run folder.

    `until` names the step to stop after. `on_estimate` is called with the expected cost before the first call
    to the model.
    """
    until = STEP_NAMES[-1] if until is None else _known_step(until)
    opened = open_plan(plan, out)
    with open_run(opened, limit=limit, max_cost=max_cost, progress=progress, resume=resume) as pipeline:
        if until != "source":
            pipeline.check()
            if on_estimate is not None:
                on_estimate(estimate_cost(opened, limit=limit))
        pipeline.run_all(until)
        if until in opened.steps[:-1]:
            return _result(opened, pipeline.client.spent, pipeline.client)
        report = write_report(opened)
        result = _result(opened, pipeline.client.spent, pipeline.client)
        config = {key: value for key, value in encode(opened).items() if key in ("language", "seed")}
        write_manifest(
            opened.out, command="generate run", config=config, seed=opened.seed, counts=result.counts(),
            about=report.about(),
        )  # fmt: skip
    return result


def run_only(
    plan: GenerationPlan | PathLike,
    name: str,
    *,
    out: PathLike | None = None,
    limit: int | None = None,
    max_cost: float | None = None,
    progress: Progress = silent,
) -> StepResult:
    """Run one step of a plan, again if it is complete, on the output of the step before it."""
    step = _known_step(name)
    with open_run(open_plan(plan, out), limit=limit, max_cost=max_cost, progress=progress) as pipeline:
        if step in ASKING_STEPS:
            pipeline.check()
        pipeline.run_step(step)
        return StepResult.of(pipeline.run, step, pipeline.run.from_cache().get(step, (0, 0.0)))


def _known_step(name: str) -> str:
    if name not in STEP_NAMES:
        raise ConfigError(unknown("step", name, list(STEP_NAMES)))
    return name


def generation_status(plan: GenerationPlan | PathLike, *, out: PathLike | None = None) -> GenerationResult:
    """Return what a run has done so far, without running anything."""
    opened = open_plan(plan, out)
    run = GenerationFolder(opened.out)
    if not run.manifests():
        raise DataError(f"{opened.out}: no finished step there: deadpan generate run PLAN starts the run")
    spent = 0.0
    if run.journal.is_file():
        with Journal(run.journal) as journal:
            spent = journal.paid
    return _result(opened, spent)


@contextmanager
def open_run(
    plan: GenerationPlan,
    *,
    limit: int | None = None,
    max_cost: float | None = None,
    progress: Progress = silent,
    resume: bool = True,
) -> Iterator[Pipeline]:
    """Open the pipeline of a plan, its folder locked; an error that stops it says how to continue."""
    if limit is not None:
        check_whole(limit, "--limit", 1)
    language = plan.open_language()
    run = GenerationFolder(plan.out)
    if not resume and run.root.is_dir() and run.manifests():
        raise ConfigError(
            f"{run.root}: holds a run already: continue it with --resume, or choose another folder with --out"
        )
    first = plan.settings(ASKING_STEPS[0])
    limit_cost = first.max_cost if max_cost is None else max_cost
    with run.removed_if_unused(), run.lock(), Journal(run.journal) as journal:
        budget, breaker = Budget(limit_cost, spent=journal.paid), Breaker(limit=plan.give_up_after)
        try:
            with Client(first, journal=journal, budget=budget, breaker=breaker) as client:
                yield Pipeline(plan, run, language, journal, client, progress, limit)
        except CostLimit:
            raise CostLimit(
                f"stopped at --max-cost with ${journal.paid:.4f} spent and {len(journal):,} finished calls "
                f"kept in {run.root}: raise --max-cost and continue with --resume, or take fewer dialogues "
                f"with --limit"
            ) from None
        except Unavailable as bad:
            raise DataError(f"{bad}; {len(journal):,} finished calls are kept: continue with --resume") from None


def _result(plan: GenerationPlan, spent: float, client: Client | None = None) -> GenerationResult:
    run = GenerationFolder(plan.out)
    manifests = run.manifests()
    finished, cached = [name for name in plan.steps if name in manifests], run.from_cache()
    return GenerationResult(
        plan.out,
        plan.language,
        tuple(StepResult.of(run, name, cached.get(name, (0, 0.0))) for name in finished),
        spent,
        dict(client.retried) if client else {},
        tuple(name for name in plan.steps if name not in manifests),
        tuple(sorted(client.unsupported)) if client else (),
    )


# Share of answers that are asked for again, assumed until the run has counted its own.
_ASKED_AGAIN = 0.1
# Source dialogues whose prompts are measured.
_MEASURED = 20
_TOKENS_PER_ROLE = 4
_UNLIMITED_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """Expected calls, tokens and dollars of one step; `most` dollars if no answer is usable before the last try.

    Of the answers a share of `retried` is asked for again: as in this run's folder, or one in ten where it has
    none yet. With several candidates all of them are counted; a run stops earlier where one is good enough.
    """

    stage: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    most: float | None
    retried: float


@dataclass(frozen=True, slots=True)
class CostEstimate(Result):
    """The expected cost of a run, step by step. `dropped` source dialogues cannot be used."""

    dialogues: int
    dropped: int
    stages: tuple[StepEstimate, ...]

    @property
    def cost(self) -> float | None:
        """Dollars with the expected retries; None where a price is unknown."""
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
        cost = f"about {_dollars(self.cost)} US dollars with retries, at most {_dollars(self.most)}"
        return f"{self.dialogues:,} dialogues: {cost}"

    def summary(self) -> Summary:
        rows = tuple(
            (
                s.stage,
                s.model,
                s.calls,
                f"{s.retried:.0%}",
                s.tokens_in,
                s.tokens_out,
                _dollars(s.cost),
                _dollars(s.most),
            )
            for s in self.stages
        )
        columns = ("step", "model", "calls", "retried", "tokens in", "tokens out", "US $", "at most")
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
        if len(measured) < _MEASURED:
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
    again = _share_asked_again(plan, step)
    tries = sum(again**n for n in range(plan.tries(step)))
    times = [dialogues * min(q.times * tries, q.most) for q in asked]
    price = find_price(settings)
    cost = most = None
    if price:
        cost = sum(price.cost(Usage(q.tokens_in, q.tokens_out)) * n for q, n in zip(asked, times, strict=True))
        most = sum(price.cost(Usage(q.tokens_in, q.longest)) * q.most for q in asked) * dialogues
    sent = round(sum(q.tokens_in * n for q, n in zip(asked, times, strict=True)))
    written = round(sum(q.tokens_out * n for q, n in zip(asked, times, strict=True)))
    return StepEstimate(step, settings.model, round(sum(times)), sent, written, cost, most, again)


def _share_asked_again(plan: GenerationPlan, step: str) -> float:
    """Return the share of a step's answers that were asked for again, where the run has made the step."""
    manifest = GenerationFolder(plan.out).manifest(step)
    if manifest is None or not manifest.counts.get("calls"):
        return _ASKED_AGAIN
    again = sum(n for key, n in manifest.counts.items() if key.startswith("asked_again."))
    return again / manifest.counts["calls"]


def _one_question(plan: GenerationPlan, language: Language, step: str, measured: Sequence[Draft]) -> _Question:
    sent = _mean([_tokens(ASKED_STEPS[step].messages(language, draft)) for draft in measured])
    answer = _mean([_token_count(example["answer"]) for example in _examples(language, step)])
    longest = plan.settings(step).max_tokens or _UNLIMITED_TOKENS
    return _Question(sent, answer, longest, most=plan.tries(step))


def _candidate_questions(plan: GenerationPlan, language: Language, measured: Sequence[Draft]) -> list[_Question]:
    """Return the calls of several candidates: scene and mood, responses and their tone, an explanation."""
    prompts, tries, count = language.prompts, plan.tries("dialogue"), plan.candidates
    asked: dict[str, list[int]] = {}
    for draft in measured:
        response = draft.response or draft.source[-1]
        level = language.facts.politeness.unknown
        before = prompts["response"].messages(
            dialogue=render_dialogue(draft.context), speaker=response.speaker, politeness=level
        )
        for part, messages in {
            "scene": prompts["scene"].messages(**prompt_values(language, draft)),
            "mood": prompts["mood"].messages(dialogue=render_dialogue(draft.context)),
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
        answers = [_token_count(e["explanation" if part == "explanation" else "answer"]) for e in examples]
        longest = plan.part_settings(part).max_tokens or _UNLIMITED_TOKENS
        per_candidate = part in ("response", "tone")
        once = 1 if part == "mood" and plan.scene == "source" else tries
        times, most = (count, count) if per_candidate else (1, once)
        found.append(_Question(_mean(tokens), _mean(answers), longest, times, most))
    return found


def _tokens(messages: Sequence[Message]) -> int:
    return sum(_token_count(message["content"]) + _TOKENS_PER_ROLE for message in messages)


def _mean(numbers: Sequence[int]) -> int:
    return round(sum(numbers) / max(1, len(numbers)))


def _filled(language: Language, draft: Draft) -> Draft:
    """Return a draft with the prompts' own examples in place of what the model has yet to write."""
    for step in ASKING_STEPS[: ASKING_STEPS.index("dialogue") + 1]:
        draft = ASKED_STEPS[step].add(language, draft, _examples(language, step)[0]["answer"])
    return draft


def _examples(language: Language, step: str) -> Sequence[Mapping[str, str]]:
    return language.prompts[GENERATION_STEPS[step].prompt].examples


def _token_count(text: str) -> int:
    """Return about how many tokens a text has: four ASCII characters, or 1.25 others, make one."""
    other = sum(not character.isascii() for character in text)
    return round((len(text) - other) / 4 + other * 0.8) + 1


def _dollars(cost: float | None) -> str:
    """Return a cost as text, with as many digits as matter."""
    return "unknown" if cost is None else f"{cost:,.2f}" if cost >= 1 or cost == 0 else f"{cost:.4f}"


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
