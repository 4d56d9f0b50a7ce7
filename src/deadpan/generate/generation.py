"""Runs of a plan: whole, step by step, estimated or looked at. The functions notebooks and commands call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deadpan.arguments import check_list, check_path, check_settings, check_whole
from deadpan.config import config_from
from deadpan.errors import ConfigError, DataError
from deadpan.fields import encode
from deadpan.generate.estimate import CostEstimate, estimate_cost
from deadpan.generate.folder import GenerationFolder
from deadpan.generate.pipeline import Pipeline
from deadpan.generate.plan import EXAMPLES, GenerationPlan, open_plan
from deadpan.generate.report import write_report
from deadpan.generate.results import GenerationResult, StepResult
from deadpan.generate.steps.order import ASKING, NAMES
from deadpan.journal import Journal
from deadpan.llm import Breaker, Budget, Client, CostLimit, Unavailable, default_model
from deadpan.progress import Progress, silent
from deadpan.registry import unknown
from deadpan.storage import write_manifest

PathLike = Path | str


def generate_dialogues(
    sources: PathLike | Sequence[PathLike] = EXAMPLES,
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
    progress: Progress = silent,
    on_estimate: Callable[[CostEstimate], object] | None = None,
) -> GenerationResult:
    """Run every step of a plan, then write the report and the manifest of the run folder.

    `on_estimate` is called with the expected cost before the first call to the model.
    """
    opened = open_plan(plan, out)
    with open_run(opened, limit=limit, max_cost=max_cost, progress=progress, resume=resume) as pipeline:
        pipeline.check()
        if on_estimate is not None:
            on_estimate(estimate_cost(opened, limit=limit))
        pipeline.run_all()
        write_report(opened)
        result = _result(opened, pipeline.client.spent, pipeline.client)
        config = {key: value for key, value in encode(opened).items() if key in ("language", "seed")}
        write_manifest(
            opened.out, command="generate run", config=config, seed=opened.seed, counts=result.counts()
        )
    return result


def run_step(
    plan: GenerationPlan | PathLike,
    name: str,
    *,
    out: PathLike | None = None,
    limit: int | None = None,
    max_cost: float | None = None,
    progress: Progress = silent,
) -> StepResult:
    """Run one step of a plan on the output of the step before it."""
    if name not in NAMES:
        raise ConfigError(unknown("step", name, list(NAMES)))
    with open_run(open_plan(plan, out), limit=limit, max_cost=max_cost, progress=progress) as pipeline:
        if name in ASKING:
            pipeline.check()
        pipeline.run_step(name)
        return StepResult.of(pipeline.run, name, pipeline.run.manifests()[name])


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
    first = plan.settings(ASKING[0])
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
            raise DataError(
                f"{bad}; {len(journal):,} finished calls are kept: continue with --resume"
            ) from None


def _result(plan: GenerationPlan, spent: float, client: Client | None = None) -> GenerationResult:
    run = GenerationFolder(plan.out)
    manifests = run.manifests()
    finished = [name for name in plan.steps if name in manifests]
    return GenerationResult(
        plan.out,
        plan.language,
        tuple(StepResult.of(run, name, manifests[name]) for name in finished),
        spent,
        dict(client.retried) if client else {},
        tuple(name for name in plan.steps if name not in manifests),
        tuple(sorted(client.unsupported)) if client else (),
    )
