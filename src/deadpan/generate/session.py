"""A plan opened for work: its folder locked, its language read, its models ready."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from deadpan.errors import ConfigError, DataError, DeadpanError
from deadpan.generate.caller import Caller, Unanswered
from deadpan.generate.draft import Draft
from deadpan.generate.estimate import StageEstimate, estimate
from deadpan.generate.folder import RunFolder
from deadpan.generate.ledger import Ledger
from deadpan.generate.pipeline import Pipeline, Watch, unwatched
from deadpan.generate.plan import Plan, read_plan
from deadpan.generate.window import two_people, window
from deadpan.llm import CostLimit

SHOWN = 20


def open_plan(path: Path, out: Path | None = None) -> Plan:
    """A plan, with its folder changed if asked."""
    plan = read_plan(path)
    return plan if out is None else replace(plan, out=out)


@contextmanager
def open_run(
    plan: Plan,
    *,
    limit: int | None = None,
    max_cost: float | None = None,
    watch: Watch = unwatched,
    resume: bool = True,
) -> Iterator[Pipeline]:
    """The pipeline of a plan. What stops it midway says that finished work is kept, and how to go on."""
    if limit is not None and limit < 1:
        raise ConfigError(f"--limit needs 1 or more, got {limit}")
    language = plan.open_language()
    run = RunFolder(plan.out)
    if not resume and run.root.is_dir() and run.done():
        raise ConfigError(
            f"{run.root}: holds a run already: continue it with --resume, or choose another folder with --out"
        )
    with run.alone():
        ledger = Ledger(run.root)
        try:
            with Caller(plan, ledger, max_cost=max_cost) as caller:
                yield Pipeline(plan, run, language, ledger, caller, watch, limit)
        except CostLimit as bad:
            raise _stopped(run, ledger, bad) from None
        except Unanswered as bad:
            raise DataError(
                f"{bad}; {ledger.calls:,} finished calls are kept: continue with --resume"
            ) from None
        finally:
            ledger.close()


def _stopped(run: RunFolder, ledger: Ledger, bad: CostLimit) -> DeadpanError:
    return CostLimit(
        f"stopped at --max-cost with ${ledger.paid:.4f} spent and {ledger.calls:,} finished calls kept in "
        f"{run.root}: raise --max-cost and continue with --resume, or use fewer dialogues with --limit"
    )


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run would do."""

    dialogues: int
    dropped: int
    stages: list[StageEstimate]

    @property
    def cost(self) -> float | None:
        """Dollars if all goes well; None where a price is not known."""
        return _sum([stage.cost for stage in self.stages])

    @property
    def most(self) -> float | None:
        return _sum([stage.most for stage in self.stages])


def _sum(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def dry_run(plan: Plan, limit: int | None = None) -> DryRun:
    """Count the sources and price their prompts; nothing is called and nothing is written."""
    language = plan.open_language()
    # Neither ledger nor caller: reading sources needs none.
    pipeline = Pipeline(plan, RunFolder(plan.out), language, None, None)  # type: ignore[arg-type]
    shown: list[Draft] = []
    usable = dropped = 0
    for raw in pipeline.sources():
        turns, why = two_people(raw.turns) if not raw.wrong else ((), raw.wrong)
        if why:
            dropped += 1
            continue
        usable += 1
        if len(shown) < SHOWN:
            cut = window(turns, plan.source.max_turns, seed=plan.seed, id=raw.id)
            shown.append(Draft(raw.id, cut, raw.topic, raw.intimacy))
        if usable == limit:
            break
    if plan.source.sample:
        usable = min(usable, plan.source.sample)
    return DryRun(usable, dropped, estimate(plan, language, usable, list(islice(shown, SHOWN))))
