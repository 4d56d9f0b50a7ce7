"""Running the benchmark: ask models every item of a set, and report their scores."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadpan.arguments import check_names, check_path, check_progress
from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.check import validate_set
from deadpan.bench.items.prompts import REASONED, ZERO_SHOT, OwnPrompt
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.runs.answerers import Answerer
from deadpan.bench.runs.folder import JOURNAL, BenchRun, read_run
from deadpan.bench.runs.journal import cost_notes
from deadpan.bench.runs.run import Watch, progress_watch, run_models
from deadpan.bench.runs.settings import LIMITS, RunSettings, Sampling
from deadpan.bench.scores.prompt_range import PromptRange, prompt_ranges, prompt_tables
from deadpan.bench.scores.report import best_first, reading_notes, score_tables, set_note
from deadpan.bench.scores.score import RunScores, score_run
from deadpan.errors import ConfigError
from deadpan.llm.settings import KEY_ENV, default_model
from deadpan.page.summary import Summary
from deadpan.progress import Progress, silent
from deadpan.results import Result

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BenchResult(Result):
    """Finished runs with their scores, best first."""

    out: Path
    set: str
    runs: tuple[BenchRun, ...] = field(repr=False)
    scores: tuple[RunScores, ...] = field(repr=False)
    partial: bool = False
    """True if only a part of the set was asked."""
    prompts: tuple[PromptRange, ...] = field(default=(), repr=False)
    """Per model that was asked by several prompts: its scores, their range and the items that flip."""
    warning: str = ""
    """The first problem that `bench check` finds in the set; empty for a sound one."""

    def __repr__(self) -> str:
        models = ", ".join(run.plan.model for run in self.runs)
        return f"BenchResult({models} on {self.set}, {len(self.incomplete)} incomplete, out={str(self.out)!r})"

    @property
    def incomplete(self) -> tuple[BenchRun, ...]:
        """The runs in which a row has no answer."""
        return tuple(run for run in self.runs if not run.complete)

    def as_dict(self) -> dict[str, object]:
        """Return the scores of every run, and the folders of incomplete ones."""
        incomplete = [str(run.path) for run in self.incomplete]
        prompts = {"prompts": [each.as_dict() for each in self.prompts]} if self.prompts else {}
        return {"runs": [each.as_dict() for each in self.scores], **prompts, "incomplete": incomplete}

    def summary(self) -> Summary:
        """Return the scores, why runs are incomplete, and the next command."""
        names = [each.model for each in self.scores]
        tables = score_tables(names, self.scores) if self.scores else ()
        tables += prompt_tables(self.prompts)
        notes = [set_note(self.scores[0])] if self.scores else []
        notes += reading_notes(names, self.scores)
        for run in self.incomplete:
            notes += _missing(run)
        notes += [note for run in self.runs for note in cost_notes(run.path / JOURNAL)]
        notes += [self.warning] if self.warning else []
        notes.append(f"Rows and journals: {self.out}/")
        if self.partial:
            notes.append("Runs on part of a set are not on a leaderboard: run the whole set, with another --out.")
        else:
            notes.append(f"Leaderboard: deadpan bench site {self.out} --out site")
        return Summary(tables, tuple(notes))


def _missing(run: BenchRun) -> list[str]:
    """Return why a run is incomplete, and what to do."""
    reasons = Counter(row.error.partition(":")[0] for row in run.rows if row.error)
    counts = ", ".join(f"{why} {count}" for why, count in reasons.most_common())
    return [
        f"{run.path}: INCOMPLETE, so not on a leaderboard.",
        f"{reasons.total()} of {run.plan.total} rows have no answer ({counts}). Repeat the command.",
    ]


def run_bench(
    models: str | Sequence[str] | None = None,
    set: str | Path | ItemSet = DEFAULT_SET,
    *,
    out: str | Path = "runs",
    answerers: Mapping[str, Answerer] | None = None,
    progress: Progress = silent,
    watch: Watch | None = None,
    prompts: Sequence[str | Path] = (),
    **options: Any,
) -> BenchResult:
    """Ask models every item of a set; the same call resumes a run that was killed.

    Models are named by provider (openai/..., anthropic/..., openai-api/...), or embedded/..., baseline/...
    Without `models` the embedded model is asked. Works inside a running event loop. Incomplete runs are part
    of the result.

    `options` are those of `run_settings`:

    - `runs`: how often every item is asked.
    - `out`: a folder that gets one folder per model.
    - `limit`, `sample`: only about the first N items, or N at random, in whole pairs.
    - `temperature`, `top_p`, `reasoning_effort`: None is not sent; `extra`: other fields of the request.
    - `max_tokens`, `escalate`: the first token limit, and whether cut-off answers get larger ones.
    - `constrain`: let the model write only a letter; None does so for embedded models.
    - `shuffle_options`: show the options in another order in every run.
    - `reasoned`: ask for a short explanation before the letter; a system of its own on the board.
    - `batch`: ask through the batch interface of OpenAI or Anthropic, at half the price and within a day.
    - `base_url`, `key_env`: an OpenAI-compatible server and the variable that holds its key.
    - `timeout`: seconds per attempt; None is 120, and more for large token limits.
    - `max_cost`, `price`: the limit in US dollars for all runs together, earlier sessions included, and per
      model (name: (input, output)) the price per million tokens, if it has none in the table.
    - `ask`: returns the passphrase of a sealed set.
    - `answerers`: what answers in place of a model of that name, such as a baseline of your own.
    - `prompts`: files with other prompts, each asked besides the paper's, with options in another order in every
      run; `.prompts` of the result has the range of scores.
    - `progress`, `watch`: called with the rows done and their total, or with the state of every model.
    """
    models = default_model() if models is None else models
    names = [models] if isinstance(models, str) else check_names(models, "models")
    settings = run_settings(set, **options)
    if strange := settings.price.keys() - {*names}:
        raise ConfigError(f"a price for {min(strange)}, which is not asked: name it as in --llm")
    warning = _unsound(settings.set)
    if warning:
        log.warning("%s", warning)
    folder = check_path(out, "the folder")
    seen = watch or progress_watch(check_progress(progress))
    own = [OwnPrompt.read(Path(path)) for path in prompts]
    finished = run_models(names, settings, folder, watch=seen, answerers=answerers, prompts=own)
    return _result(folder, settings, [read_run(folder) for folder, _ in finished], warning)


def _unsound(items: ItemSet) -> str:
    """Return a warning if a set fails its check: what it scores may mean nothing."""
    problems = validate_set(items).problems
    if not problems:
        return ""
    first = f"{problems[0].item}: {problems[0].what}"
    return f"{items.label} fails its check ({len(problems):,} problems, the first: {first}): see `deadpan bench check`."


def run_settings(
    set: str | Path | ItemSet = DEFAULT_SET,
    *,
    runs: int = 5,
    limit: int | None = None,
    sample: int | None = None,
    temperature: float | None = 0.7,
    top_p: float | None = 0.95,
    reasoning_effort: str | None = None,
    extra: Mapping[str, Any] | None = None,
    max_tokens: int = LIMITS[0],
    escalate: bool = True,
    constrain: bool | None = None,
    shuffle_options: bool = False,
    reasoned: bool = False,
    base_url: str = "",
    key_env: str = KEY_ENV,
    concurrency: int = 8,
    retries: int = 5,
    batch: bool = False,
    timeout: float | None = None,
    max_cost: float | None = None,
    price: Mapping[str, tuple[float, float]] | None = None,
    seed: int = 0,
    ask: AskPassphrase | None = None,
) -> RunSettings:
    """Return the settings of a run, checked. The arguments are those of `run_bench`."""
    sampling = Sampling(
        temperature, top_p, seed, timeout, concurrency, base_url, key_env, reasoning_effort, extra or {}
    )
    return RunSettings(
        open_set(set, ask), runs, limit, sample, max_tokens, escalate, shuffle_options, retries, max_cost,
        dict(price or {}), sampling, prompt=REASONED if reasoned else ZERO_SHOT, constrain=constrain,
        batch=batch,
    )  # fmt: skip


def _result(out: Path, settings: RunSettings, runs: Sequence[BenchRun], warning: str) -> BenchResult:
    answered = [run for run in runs if any(not row.error for row in run.rows)]
    ranges = prompt_ranges(answered, settings.sampling.seed)
    answered = [run for run in answered if not run.plan.own_prompt]
    scores = [score_run(run, settings.sampling.seed) for run in answered]
    ordered = [each for _, each in best_first([each.model for each in scores], scores)]
    return BenchResult(out, settings.set.label, tuple(runs), tuple(ordered), settings.partial, ranges, warning)
