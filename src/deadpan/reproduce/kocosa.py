"""KoCoSa (Kim et al. 2024): Tables 4 to 10 and Figure 3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadpan.detect.studies.ablation import ablate
from deadpan.errors import DataError, ModelError
from deadpan.records import Example
from deadpan.reproduce.measuring import against_authors, exact, mean_of, open_people, size_jobs
from deadpan.reproduce.published import Measured, read_paper
from deadpan.reproduce.trials import Job, ReproductionOptions, TrialRunner, cells_of
from deadpan.stats import Interval, wilson
from deadpan.validation import decode, encode

_SIZES = {
    "Oraby et al. 2016": ("oraby-gen",),
    "SARC (Khodak et al. 2018)": ("sarc-raw",),
    "Kocasm (Kim and Cho 2019)": ("kocasm",),
    "Ghosh et al. 2020, Twitter": ("figlang2020-twitter",),
    "Ghosh et al. 2020, Reddit": ("figlang2020-reddit",),
    "iSarcasm (Oprea and Magdy 2020)": ("isarcasm",),
    "ArSarcasm-v2 (Abu Farha et al. 2021)": ("arsarcasm_v2",),
    "Misra and Arora 2023": ("news_headlines",),
    "KoCoSa": ("kocosa",),
}
_SIZE_NOTES = {
    "SARC (Khodak et al. 2018)": "the whole sarc.csv of nlp.cs.princeton.edu/SARC/; a part is counted here",
    "Misra and Arora 2023": "Sarcasm_Headlines_Dataset_v2.json; the first version, counted here, is smaller",
}
_REASONS = {
    "tokens": "tokens are words between spaces; the paper does not name its tokenizer",
    "average": "with the response counted as a turn",
}
_SCORES = {
    "BA": "balanced_accuracy", "M-F1": "macro_f1", "W-F1": "weighted_f1", "Precision-S": "precision",
    "Recall-S": "recall", "Precision-N": "precision_not", "Recall-N": "recall_not",
}  # fmt: skip
KLUE = {"KLUE-RoBERTa-base": "base", "KLUE-RoBERTa-large": "large"}
_FINE_TUNING: Mapping[str, Any] = {"epochs": 5, "batch_size": 16, "learning_rate": 1e-5, "speaker_swap": 0.5}
"""Table 8's settings: 5 epochs, batches of 16, learning rate 1e-5, half of the speakers swapped."""
_QUICK: Mapping[str, Any] = {"epochs": 2}
_SAMPLE = 400
"""Dialogues of a quick fine-tuning: an encoder of 110 million parameters reads one or two a second."""
_OURS = {"linear, full context": "linear", "bag of bigrams, full context": "bigrams"}
_HUMAN = "deadpan studio create annotate kocosa --name NAME"
_WHOLE = 12_824
_TURNS = (0, 3, None)
"""Turns of context in Table 9, as far as its rows are legible."""


def jobs(options: ReproductionOptions) -> list[Job]:
    """Return the jobs of the paper."""
    made = [_statistics(), *size_jobs("kocosa", "table-6", _SIZES, _SIZE_NOTES), _topics()]
    made += [_klue(row, size) for row, size in KLUE.items()]
    made += [_ours(row, system) for row, system in _OURS.items()]
    return [*made, _context(), _people()]


# ---------------------------------------------------------------- Table 4


def _statistics() -> Job:
    rows = [cell.row for cell in read_paper("kocosa").cells() if cell.exhibit == "table-4"]
    ids = dict(zip(rows, cells_of("table-4", rows, ["value"]), strict=True))

    def work(runner: TrialRunner) -> dict[str, Measured]:
        examples = runner.corpus("kocosa").examples
        values = statistics(examples)
        gone = runner.missing("kocosa")
        part = f"{len(examples):,} of {_WHOLE:,} dialogues are here"
        found = {}
        for row, id in ids.items():
            counted = values[row].low is None
            need = f"data: {gone}" if gone and counted else ""
            reason = "; ".join(filter(None, (_REASONS.get(row.partition(" ")[0]), part if gone else "")))
            found[id] = Measured(values[row], how=part if gone else "all dialogues", needs=need,
                                 reason=reason)  # fmt: skip
        return found

    return Job("table-4", tuple(ids.values()), work)


def statistics(examples: list[Example]) -> dict[str, Interval]:
    """Return the rows of Table 4; counts without an interval, shares and means with one."""
    turns = [len(example.context) + 1 for example in examples]
    words = [[len(turn.text.split()) for turn in (*e.context, e.response)] for e in examples]
    sarcastic = sum(e.label is True for e in examples)
    return {
        "dialogues": exact(len(examples)),
        "sarcasm": exact(sarcastic),
        "non-sarcasm": exact(len(examples) - sarcastic),
        "sarcasm, %": _percent(sarcastic, len(examples)),
        "non-sarcasm, %": _percent(len(examples) - sarcastic, len(examples)),
        "average turns per dialogue": mean_of(turns),
        "max turns": exact(max(turns, default=0), len(turns)),
        "min turns": exact(min(turns, default=0), len(turns)),
        "tokens per dialogue": mean_of([sum(lengths) for lengths in words]),
        "tokens per utterance": mean_of([n for lengths in words for n in lengths]),
        "tokens per explanation": mean_of([len(e.explanation.split()) for e in examples if e.explanation]),
    }


def _percent(part: int, whole: int) -> Interval:
    share = wilson(part, whole)
    value, low, high = (None if x is None else 100 * x for x in (share.value, share.low, share.high))
    return Interval(value, low, high, share.level, share.n, share.why)


def _topics() -> Job:
    (id,) = cells_of("figure-3", ["food and beverage, leisure and entertainment together"], ["%"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        topics = [str(e.meta.get("topic", "")).lower() for e in runner.corpus("kocosa").examples]
        known = [topic for topic in topics if topic]
        if not known:
            raise DataError("topics are in the NIKL source corpora (kli.korean.go.kr) and not in the released files")
        top = sum(topic.startswith(("food", "leisure")) for topic in known)
        return {id: Measured(wilson(top, len(known)), how=f"{len(known):,} dialogues with a topic")}

    return Job("figure-3", (id,), work)


# ---------------------------------------------------------------- Table 8


def _cells(exhibit: str, row: str, values: Mapping[str, Interval], how: str, reason: str) -> dict[str, Measured]:
    ids = cells_of(exhibit, [row], _SCORES)
    return {
        id: Measured(values[score], how=how, reason=reason) for id, score in zip(ids, _SCORES.values(), strict=True)
    }


def _part(runner: TrialRunner) -> str:
    gone = runner.missing("kocosa")
    return f"trained on what is here; not here: {gone}" if gone else ""


def _klue(row: str, size: str) -> Job:
    def work(runner: TrialRunner) -> dict[str, Measured]:
        path = weights_in(runner.options.encoder, size)
        if path is None:
            runner.files("kocosa")  # without the corpus, that is what is needed first
            raise ModelError(
                f"KLUE-RoBERTa-{size} (huggingface.co/klue/roberta-{size}): give a folder that holds "
                f"{size}/ with its weights, with --encoder"
            )
        quick = runner.options.quick
        settings = {**_FINE_TUNING, **(_QUICK if quick else {}), "encoder": str(path), "turns": None,
                    "speakers": True}  # fmt: skip
        found = runner.scores(
            "kocosa", "transformer", settings, at_most=_SAMPLE if quick else None,
            seeds=runner.options.all_seeds, inputs=sorted(filter(Path.is_file, path.iterdir())),
        )  # fmt: skip
        reasons = ("a sample and two epochs" if quick else "", _part(runner))
        reason = "; ".join(filter(None, reasons)) or "another random seed"
        return _cells("table-8", row, found.values, found.how, reason)

    return Job(f"table-8 {row}", cells_of("table-8", [row], _SCORES), work)


def weights_in(folder: Path | None, size: str) -> Path | None:
    """Return the folder of an encoder of this size: NAME/base, or the folder itself if its name says so."""
    if folder is None:
        return None
    inside = folder / size
    chosen = inside if inside.is_dir() else folder if size in folder.name.lower() else None
    return chosen if chosen is not None and (chosen / "config.json").is_file() else None


def _ours(row: str, system: str) -> Job:
    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = runner.scores("kocosa", system, {"turns": None})
        reason = "; ".join(filter(None, ("without pretrained Korean", _part(runner))))
        how = f"another system, {system}; {found.how}"
        return _cells("table-8-ours", row, found.values, how, reason)

    return Job(f"table-8 {row}", cells_of("table-8-ours", [row], _SCORES), work)


# ---------------------------------------------------------------- Table 9


def _context() -> Job:
    rows = ("only the response", "three turns of context", "full context", "gain by the full context")
    ids = cells_of("table-9", rows, ["model"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = runner.once("ablation kocosa linear", {"turns": _TURNS}, lambda: _ablation(runner), sources=("kocosa",))
        values = [decode(found[name], Interval) for name in ("first", "three", "full", "gain")]
        reason = "; ".join(filter(None, ("without pretrained Korean", _part(runner))))
        return {
            id: Measured(value, how=f"another system, linear; {found['how']}", reason=reason)
            for id, value in zip(ids, values, strict=True)
        }

    return Job("table-9", ids, work)


def _ablation(runner: TrialRunner) -> dict[str, Any]:
    design, how = runner.design("kocosa")
    examples = runner.corpus("kocosa").examples
    k = 3 if runner.options.quick and not design.published else 5
    result = ablate(examples, "linear", turns=_TURNS, metric="balanced_accuracy", k=k, seed=runner.options.seed)
    (first, three, full), gain = result.scores.values(), list(result.gains.values())[-1].difference
    # The difference is first minus second: the gain is its negative.
    turned = Interval(
        None if gain.value is None else -gain.value, None if gain.high is None else -gain.high,
        None if gain.low is None else -gain.low, gain.level, first.n,
        "" if gain.value is not None else gain.why,
    )  # fmt: skip
    named = how if design.published else f"{k}-fold cross-validation of the part that is here"
    return {
        "first": encode(first), "three": encode(three), "full": encode(full), "gain": encode(turned),
        "how": named,
    }  # fmt: skip


def _people() -> Job:
    ids = cells_of("table-9", ["only the response", "full context"], ["human"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = {}
        for id, name in zip(ids, ("kocosa-response", "kocosa"), strict=True):
            study = open_people(runner, name, "sarcastic", _HUMAN)
            table = against_authors(study)
            found[id] = Measured(table.scores["balanced_accuracy"], how=f"{table.n:,} dialogues", reason="other people")
        return found

    return Job("people kocosa", ids, work)
