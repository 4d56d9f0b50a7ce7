"""Exports: a public set as a task and a dataset, and the rows of runs as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, make_dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.item import CATEGORIES, LETTERS, item_schema, write_items
from deadpan.bench.items.prompts import ZERO_SHOT, render_prompt
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.runs.folder import AnswerRow, BenchRun, RunPlan, find_runs, model_slug, set_of
from deadpan.bench.scores.comparison import names_of
from deadpan.bench.scores.score import score_run
from deadpan.cards import DataFacts, FileFacts, HubConfig, croissant, dataset_card, markdown_table
from deadpan.errors import ConfigError, DataError, need
from deadpan.formats.judgments import write_csv
from deadpan.page.summary import Summary
from deadpan.records import Item
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.storage import digest, write_json, write_manifest, write_records, write_text

HARNESS, HUGGING_FACE = "lm-eval", "hf"
_LANGUAGES = {"en": "English", "ko": "Korean"}


def export_bench(
    sources: Sequence[str | Path],
    out: Path,
    *,
    to: Literal["inspect"] | None = None,
    items: str | Path | ItemSet | None = None,
    ask: AskPassphrase | None = None,
) -> RowExport | SetExport:
    """Export runs to a .parquet, .csv or .jsonl file, or a public set to a folder of datasets.

    With `to="inspect"`, every run becomes a log that Inspect's viewer opens, in the folder `out`; `items` is the
    set that was asked, if it does not come with the package.
    """
    paths = [Path(source) for source in sources]
    if to == "inspect":
        return export_inspect(paths, Path(out), items=items, ask=ask)
    if Path(out).suffix in EXPORTS:
        return export_rows(paths, out)
    if len(sources) > 1 or any(path.is_dir() for path in paths):
        raise ConfigError(
            f"{out}: rows of runs are exported to a file: end its name with {', '.join(EXPORTS)}, or use --to inspect"
        )
    return export_set(sources[0] if sources else DEFAULT_SET, out, ask=ask)


@dataclass(frozen=True, slots=True)
class SetExport(Result):
    """The folders that were written, and the number of items per language."""

    out: Path
    set: str
    hash: str
    items: Mapping[str, int]

    def as_dict(self) -> dict[str, object]:
        """Return the folder, the set's hash and the counts."""
        return {"out": str(self.out), "set": self.set, "items": dict(self.items), "hash": self.hash}

    def summary(self) -> Summary:
        """Return where each format is."""
        counts = ", ".join(f"{language} {count}" for language, count in self.items.items())
        return Summary(
            notes=(
                f"{self.set}: {sum(self.items.values())} items ({counts})",
                f"lm-evaluation-harness: {self.out / HARNESS}",
                f"Hugging Face dataset: {self.out / HUGGING_FACE}",
            )
        )


def export_set(items: str | Path | ItemSet, out: Path, *, ask: AskPassphrase | None = None) -> SetExport:
    """Write both folders. A set that is not public is never exported."""
    items, out = open_set(items, ask), Path(out)
    if not items.public:
        raise DataError(f"{items.label} is {items.visibility}: only public sets are exported; seal it instead")
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty: choose another --out")
    by_language: dict[str, list[Item]] = {}
    for item in items.items:
        by_language.setdefault(item.language, []).append(item)
    _write_harness(out / HARNESS, items, by_language)
    _write_hugging_face(out / HUGGING_FACE, items, by_language)
    counts = {language: len(members) for language, members in by_language.items()}
    write_manifest(out, command="bench export", config={"set": items.label, "hash": items.hash}, counts=counts)
    return SetExport(out, items.label, items.hash, counts)


# ---------------------------------------------------------------- lm-evaluation-harness


def _write_harness(out: Path, items: ItemSet, by_language: dict[str, list[Item]]) -> None:
    for language, members in by_language.items():
        name = f"sarcbench_{language}"
        rows = [
            {
                "id": item.id,
                "category": item.category,
                "pair_id": item.pair_id,
                "prompt": render_prompt(item, range(len(LETTERS))),
                "answer": LETTERS[item.answer],
                "canary": item.canary,
            }
            for item in members
        ]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_text(out / f"{name}.jsonl", lines)
        write_text(out / f"{name}.yaml", _task_yaml(name, items))
    write_text(out / "five_repeats.py", _FIVE_REPEATS)
    write_text(out / "README.md", _harness_readme(items, list(by_language)))


_FIVE_REPEATS = '''"""Avg@5 and Maj@5 of one item: its five answers, each a letter or UNREAD."""

from collections import Counter


def score(doc, results):
    """The share of right answers; and whether the most frequent one is right, a tie or unread ones are not."""
    letters = results[0] if isinstance(results[0], list) else results
    ranked = Counter(letters).most_common(2)
    tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
    right = [letter == doc["answer"] for letter in letters]
    return {"avg_at_5": sum(right) / len(right), "maj_at_5": float(not tied and ranked[0][0] == doc["answer"])}
'''


def _task_yaml(name: str, items: ItemSet) -> str:
    """Return a generative task with our prompt; as in our runs, the last `Final Answer: X` counts."""
    return f"""# SarcBench {items.label}, set hash {items.hash[:16]}, prompt {ZERO_SHOT}
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {name}.jsonl
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: []
  do_sample: true
  temperature: 0.7
  top_p: 0.95
  max_gen_toks: 512
repeats: 5
filter_list:
  - name: final-answer
    filter:
      - function: regex
        regex_pattern: "(?i:final answer)[\\\\s*_`]*:[\\\\s*_`$(]*([A-Fa-f])(?![A-Za-z])"
        group_select: -1
        fallback: unread
      - function: uppercase
process_results: !function five_repeats.score
metric_list:
  - metric: avg_at_5
    aggregation: mean
    higher_is_better: true
  - metric: maj_at_5
    aggregation: mean
    higher_is_better: true
metadata:
  version: {items.version}
"""


def _harness_readme(items: ItemSet, languages: Sequence[str]) -> str:
    tasks = ",".join(f"sarcbench_{language}" for language in languages)
    return f"""# SarcBench {items.label} for lm-evaluation-harness

Run inside this folder, since the tasks name their data by file:

    lm_eval --include_path . --tasks {tasks} --model local-chat-completions \\
      --model_args model=NAME,base_url=http://HOST/v1/chat/completions --apply_chat_template

The harness records no stop reasons, so a truncated answer counts as wrong without notice; the limit here is
512 tokens for that reason. `deadpan bench run` repeats a truncated request with a larger limit and counts it.
"""


# ---------------------------------------------------------------- Hugging Face


def _write_hugging_face(out: Path, items: ItemSet, by_language: dict[str, list[Item]]) -> None:
    for language, members in by_language.items():
        write_records(out / "data" / f"{language}.parquet", members, Item)
    write_items(out / f"{items.name}-{items.version}.jsonl", items.items)
    write_json(out / "schema.json", item_schema())
    write_text(out / "README.md", _card(items, by_language))
    write_json(out / "croissant.json", _croissant(items, out, by_language))


def _card_facts(items: ItemSet, languages: Sequence[str]) -> DataFacts:
    """Return the facts about the set for its card."""
    return DataFacts(
        title=f"SarcBench {items.label}",
        version=items.version,
        language=tuple(languages),
        licence=next((item.licence for item in items.items if item.licence), "not given"),
        citation=f"SarcBench {items.version}, the deadpan authors. After SarcBench v0.1 (Budda).",
        summary="Six-option questions about what a speaker means: sarcastic or sincere, about whom, and why. "
        "Most come as minimal pairs in which one small change of the context flips the answer.",
        how_made="Written for this set, item by item, each with a checklist; audited so that neither the "
        "options nor the remark alone give the answer away. No text was taken from elsewhere.",
        personal_data="None: people and places are invented.",
        known_limits=(
            "No human baseline yet: people's answers are pending.",
            "Written, short and in one culture's manner each: voice, long history and in-jokes are missing.",
            "Public, so it may enter training data; the canary string reveals this but does not prevent it.",
        ),
        creators=tuple(sorted({item.author for item in items.items if item.author})),
    )


def _card(items: ItemSet, by_language: dict[str, list[Item]]) -> str:
    facts = _card_facts(items, list(by_language))
    configs = [HubConfig("all", {"test": "data/*.parquet"}, default=True)]
    configs += [HubConfig(language, {"test": f"data/{language}.parquet"}) for language in by_language]
    columns = ("category", *(_LANGUAGES.get(language, language) for language in by_language))
    rows = [
        (category, *(sum(item.category == category for item in part) for part in by_language.values()))
        for category in CATEGORIES
    ]
    canary = next((item.canary for item in items.items if item.canary), "")
    return dataset_card(
        facts,
        configs=configs,
        n=len(items.items),
        first={"Set hash": f"`{items.hash}`", "Sizes": markdown_table(columns, rows)},
        last={"Canary": f"`{canary}`"},
        tasks=("multiple-choice", "question-answering"),
        tags=("pragmatics",),
    )


def _croissant(items: ItemSet, out: Path, by_language: dict[str, list[Item]]) -> dict[str, Any]:
    """Return Croissant metadata with the columns of the items."""
    files = []
    for language, members in by_language.items():
        path = f"data/{language}.parquet"
        size, sha256 = (out / path).stat().st_size, digest(out / path)
        description = f"{len(members)} items in {_LANGUAGES.get(language, language)}."
        files.append(FileFacts(language, path, sha256, size, len(members), description))
    return croissant(_card_facts(items, list(by_language)), files, _record_set)


def _record_set(file: FileFacts) -> dict[str, Any]:
    language = file.split
    properties = item_schema()["properties"]
    plain = [name for name in properties if name not in ("context", "checks", "options", "tags")]
    return {
        "@type": "cr:RecordSet",
        "@id": language,
        "name": language,
        "description": f"Items in {_LANGUAGES.get(language, language)}.",
        "key": {"@id": f"{language}/id"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{language}/{name}",
                "name": name,
                "description": properties[name]["description"],
                "dataType": "sc:Integer" if name == "answer" else "sc:Text",
                "source": {"fileObject": {"@id": file.path}, "extract": {"column": name}},
            }
            for name in plain
        ],
    }


EXPORTS = (".parquet", ".csv", ".jsonl")
SECRET = ("item", "family", "answer", "prediction", "correct", "order", "error", "text")
"""Fields that would reveal a private set: they never leave its run folder."""
_KINDS = get_type_hints(AnswerRow)
BareRow: Any = make_dataclass(
    "BareRow", [(name, kind) for name, kind in _KINDS.items() if name not in SECRET], frozen=True, slots=True
)
"""A row of a private set as it is exported: cost and outcome, but neither item nor answer."""


def write_rows(path: Path, rows: Sequence[AnswerRow], public: bool) -> int:
    """Write rows as Parquet, CSV or JSON lines; rows of a private set without items and answers."""
    path = Path(path)
    if path.suffix not in EXPORTS:
        raise ConfigError(f"{path}: unknown format: end its name with {', '.join(EXPORTS)}")
    kept, kind = (rows, AnswerRow) if public else (bare(rows), BareRow)
    return write_csv(path, kept, kind) if path.suffix == ".csv" else write_records(path, kept, kind)


def bare(rows: Iterable[AnswerRow]) -> list[Any]:
    """Return rows without the fields in `SECRET`."""
    kept = [each.name for each in fields(BareRow)]
    return [BareRow(**{name: getattr(row, name) for name in kept}) for row in rows]


@dataclass(frozen=True, slots=True)
class RowExport(Result):
    """A file of exported rows."""

    out: Path
    rows: int
    with_items_and_answers: bool

    def as_dict(self) -> dict[str, object]:
        """Return the file and what it holds."""
        return {"out": str(self.out), "rows": self.rows, "with_items_and_answers": self.with_items_and_answers}

    def summary(self) -> Summary:
        """Return the file and the number of rows."""
        note = "" if self.with_items_and_answers else " (private set: without items, letters and texts)"
        return Summary(notes=(f"{self.out}: {self.rows:,} rows{note}",))


def export_rows(folders: Sequence[Path], out: Path) -> RowExport:
    """Write the rows of runs to a file; rows of a private set without items, letters and texts."""
    runs = find_runs(folders)
    public = all(run.public for run in runs)
    written = write_rows(out, [row for run in runs for row in run.rows], public)
    return RowExport(Path(out), written, public)


# ---------------------------------------------------------------- Inspect

_STOPS = {"content_filter": "content_filter", "max_tokens": "max_tokens", "stop": "stop"}
_SCORER = "final_answer"


def export_inspect(
    folders: Sequence[Path], out: Path, *, items: str | Path | ItemSet | None = None, ask: AskPassphrase | None = None
) -> RowExport:
    """Write each run as a log of Inspect: a sample per item and run, with prompt, answer, score and tokens.

    Letters are those that were shown. An answer that is missing is a sample with an error.
    """
    need("inspect_ai", "inspect")
    from inspect_ai.log import write_eval_log

    runs = find_runs(folders)
    if out.suffix or (out.exists() and (out.is_file() or any(out.iterdir()))):
        raise ConfigError(f"{out}: logs go to a new folder: choose another --out")
    for run in runs:
        if not run.public:
            raise DataError(f"{run.path}: {run.plan.set} is {run.plan.visibility}: a log would hold items and answers")
    out.mkdir(parents=True, exist_ok=True)
    for name, run in zip(names_of(runs), runs, strict=True):
        write_eval_log(_inspect_log(run, set_of(run, items, ask)), str(out / f"{model_slug(name)}.eval"))
    return RowExport(out, sum(len(run.rows) for run in runs), True)


def _inspect_log(run: BenchRun, items: ItemSet | None) -> Any:
    from inspect_ai import log, model

    if items is None:
        raise DataError(f"{run.path}: {run.plan.set} does not come with the package: name its file with --set")
    plan, known = run.plan, {item.id: item for item in items.items}
    scores = [_inspect_score(*each) for each in _inspect_results(run)]
    ids = list(dict.fromkeys(row.item for row in run.rows))
    used = model.ModelUsage(
        input_tokens=sum(row.input_tokens for row in run.rows),
        output_tokens=sum(row.output_tokens for row in run.rows),
        total_tokens=sum(row.input_tokens + row.output_tokens for row in run.rows),
    )
    dates = sorted(row.at for row in run.rows if row.at) or [""]
    done = sum(not row.error for row in run.rows)
    settings = model.GenerateConfig(
        temperature=plan.temperature, top_p=plan.top_p, max_tokens=max(plan.limits, default=None)
    )
    return log.EvalLog(
        status="success" if run.complete else "error",
        eval=log.EvalSpec(
            created=dates[0] or "1970-01-01T00:00:00+00:00", task="sarcbench", task_version=plan.set.partition("@")[2],
            model=plan.system, model_generate_config=settings,
            dataset=log.EvalDataset(name=plan.set, samples=len(ids), sample_ids=ids, shuffled=plan.shuffle),
            config=log.EvalConfig(epochs=plan.runs, epochs_reducer=["mean", "plurality"]),
            metadata={"set_hash": plan.set_hash, "prompt": plan.prompt, "constrained": plan.constrained},
        ),
        results=log.EvalResults(total_samples=plan.total, completed_samples=done, scores=scores),
        stats=log.EvalStats(started_at=dates[0], completed_at=dates[-1], model_usage={plan.system: used}),
        samples=[_inspect_sample(row, known[row.item], plan) for row in run.rows],
    )  # fmt: skip


def _inspect_results(run: BenchRun) -> list[tuple[str, Interval]]:
    scores = score_run(run) if any(not row.error for row in run.rows) else None
    return [("mean", scores.avg), ("plurality", scores.maj)] if scores else []


def _inspect_score(reducer: str, value: Interval) -> Any:
    from inspect_ai import log

    metric = log.EvalMetric(name="accuracy", value=value.value or 0.0, metadata={"low": value.low, "high": value.high})
    return log.EvalScore(name=_SCORER, scorer=_SCORER, reducer=reducer, metrics={"accuracy": metric})


def _inspect_sample(row: AnswerRow, item: Item, plan: RunPlan) -> Any:
    from inspect_ai import log, model, scorer
    from inspect_ai._util.error import EvalError

    order = [LETTERS.index(letter) for letter in row.order] or list(range(len(item.options)))
    shown = {letter: LETTERS[at] for at, letter in enumerate(LETTERS[place] for place in order)}
    prompt = render_prompt(item, order, plan.prompt_texts)
    usage = model.ModelUsage(
        input_tokens=row.input_tokens, output_tokens=row.output_tokens,
        total_tokens=row.input_tokens + row.output_tokens, reasoning_tokens=row.reasoning_tokens,
    )  # fmt: skip
    said = model.ChatMessageAssistant(content=row.text, model=row.returned or plan.model, source="generate")
    choice = model.ChatCompletionChoice(message=said, stop_reason=_STOPS.get(row.stop_reason, "unknown"))
    score = scorer.Score(
        value=scorer.CORRECT if row.correct else scorer.INCORRECT,
        answer=shown.get(row.prediction, ""),
        explanation=row.text,
        metadata={"unread": row.unread, "refused": row.refused, "cut_off": row.truncated},
    )
    return log.EvalSample(
        id=row.item,
        epoch=row.run,
        input=prompt,
        choices=[item.options[place] for place in order],
        target=shown[row.answer],
        messages=[model.ChatMessageUser(content=prompt, source="input"), said],
        output=model.ModelOutput(
            model=row.returned or plan.model, choices=[choice], usage=usage, time=row.seconds or None
        ),
        scores=None if row.error else {_SCORER: score},
        metadata={"category": row.category, "pair": row.family, "language": row.language, "order": row.order},
        model_usage={plan.system: usage},
        total_time=row.seconds or None,
        error=EvalError(message=row.error, traceback="", traceback_ansi="") if row.error else None,
    )
