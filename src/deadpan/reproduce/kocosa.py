"""KoCoSa (Kim et al. 2024): Tables 4 to 10 and Figure 3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadpan.detect.studies.ablation import ablate
from deadpan.detect.studies.design import run_trial
from deadpan.errors import DataError, ModelError
from deadpan.formats.study import AWKWARD, CASUAL, CRITICISM, MISFORMATTED
from deadpan.presets import preset_values
from deadpan.records import Example
from deadpan.reproduce.people import against_authors, open_people
from deadpan.reproduce.published import Measured, MissingPeople, read_paper
from deadpan.reproduce.trials import (
    Job,
    ReproductionOptions,
    TrialRunner,
    cells_of,
    exact,
    mean_of,
    measured,
    percent,
    size_jobs,
)
from deadpan.stats import Interval, score_predictions, wilson
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
_QUICK: Mapping[str, Any] = {"epochs": 1}
# Dialogues of a quick fine-tuning: an encoder of 110 million parameters reads one or two a second.
_SAMPLE = 300
# Dialogues that a language model is asked about in a quick reproduction.
_ASKED = 100
_OURS = {"linear, full context": "linear", "bag of bigrams, full context": "bigrams"}
_SHOTS = {"zero-shot": 0, "4-shot": 4, "8-shot": 8}
_FAMILIES = ("GPT-3.5", "GPT-4")
_WHOLE = 12_824
# Turns of context in Table 9, as far as its rows are legible.
_TURNS = (0, 3, None)
_NO_TOPICS = "topics are in the NIKL source corpora (kli.korean.go.kr) and not in the released files"
_KINDS = {"contextual awkwardness": AWKWARD, "format misalignment": MISFORMATTED}


def jobs(options: ReproductionOptions) -> list[Job]:
    """Return the jobs of the paper."""
    made = [_statistics(), *size_jobs("kocosa", "table-6", _SIZES, _SIZE_NOTES), _topics()]
    made += [_klue(row, size, options) for row, size in KLUE.items()]
    made += [_ours(row, system) for row, system in _OURS.items()]
    made += [_shots(f"{family} ({name})", family, name) for family in _FAMILIES for name in _SHOTS]
    made += [_shots(name, "", name) for name in _SHOTS]
    return [
        *made,
        _context(options),
        _by_topic("KLUE"),
        _by_topic("GPT"),
        _people(),
        _sincere_kinds(),
        _abnormal_kinds(),
    ]


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
                                 reason=reason, same=not gone)  # fmt: skip
        return found

    return Job("table-4", tuple(ids.values()), work, sources=("kocosa",))


def statistics(examples: list[Example]) -> dict[str, Interval]:
    """Return the rows of Table 4; counts without an interval, shares and means with one."""
    turns = [len(example.context) + 1 for example in examples]
    words = [[len(turn.text.split()) for turn in (*e.context, e.response)] for e in examples]
    sarcastic = sum(e.label is True for e in examples)
    return {
        "dialogues": exact(len(examples)),
        "sarcasm": exact(sarcastic),
        "non-sarcasm": exact(len(examples) - sarcastic),
        "sarcasm, %": percent(sarcastic, len(examples)),
        "non-sarcasm, %": percent(len(examples) - sarcastic, len(examples)),
        "average turns per dialogue": mean_of(turns),
        "max turns": exact(max(turns, default=0), len(turns)),
        "min turns": exact(min(turns, default=0), len(turns)),
        "tokens per dialogue": mean_of([sum(lengths) for lengths in words]),
        "tokens per utterance": mean_of([n for lengths in words for n in lengths]),
        "tokens per explanation": mean_of([len(e.explanation.split()) for e in examples if e.explanation]),
    }


def _topics() -> Job:
    (id,) = cells_of("figure-3", ["food and beverage, leisure and entertainment together"], ["%"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        topics = [str(e.meta.get("topic", "")).lower() for e in runner.corpus("kocosa").examples]
        known = [topic for topic in topics if topic]
        if not known:
            raise DataError(_NO_TOPICS)
        top = sum(topic.startswith(("food", "leisure")) for topic in known)
        return {id: Measured(wilson(top, len(known)), how=f"{len(known):,} dialogues with a topic")}

    return Job("figure-3", (id,), work)


# ---------------------------------------------------------------- Table 8


def _cells(
    exhibit: str, row: str, values: Mapping[str, Interval], how: str, reason: str, same: bool = False
) -> dict[str, Measured]:
    ids = cells_of(exhibit, [row], _SCORES)
    return measured(ids, [values[score] for score in _SCORES.values()], how=how, reason=reason, same=same)


def _part(runner: TrialRunner) -> str:
    gone = runner.missing("kocosa")
    return f"trained on what is here; not here: {gone}" if gone else ""


def _published(runner: TrialRunner, size: str) -> tuple[dict[str, Any], list[Path]]:
    """Return the paper's fine-tuning of an encoder, and the files of its weights."""
    path = weights_in(runner.options.encoder, size)
    if path is None:
        runner.files("kocosa")  # without the corpus, that is what is needed first
        raise ModelError(
            f"KLUE-RoBERTa-{size} (huggingface.co/klue/roberta-{size}): give a folder that holds "
            f"{size}/ with its weights, with --encoder"
        )
    settings = {**preset_values("kocosa", "detect transformer"), "encoder": str(path)}
    return {**settings, **(_QUICK if runner.options.quick else {})}, sorted(filter(Path.is_file, path.iterdir()))


def _klue(row: str, size: str, options: ReproductionOptions) -> Job:
    spread = cells_of("table-8-deviations", [row], _SCORES)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        settings, files = _published(runner, size)
        quick = runner.options.quick
        found = runner.scores("kocosa", "transformer", settings, at_most=_SAMPLE if quick else None,
                              seeds=runner.options.all_seeds, inputs=files)  # fmt: skip
        reason = "; ".join(filter(None, ("a sample and one epoch" if quick else "", _part(runner)))) or "other seeds"
        same = found.official and not quick
        cells = _cells("table-8", row, found.values, found.how, reason, same)
        one = Measured(how=found.how, needs="data: a run without --quick, with --seeds 2 or more")
        if not found.deviations:
            return cells | dict.fromkeys(spread, one)
        values = [found.deviations[score] for score in _SCORES.values()]
        return cells | measured(spread, values, how=found.how, reason=reason, same=same)

    seconds = (60 if size == "base" else 180) * (1 if options.quick else 200 * options.seeds)
    cells = (*cells_of("table-8", [row], _SCORES), *spread)
    return Job(f"table-8 {row}", cells, work, seconds=seconds if options.encoder else 0.5, sources=("kocosa",))


def _shots(row: str, family: str, name: str) -> Job:
    """Return the job of a language model with examples; a row of the paper needs the paper's model."""
    exhibit = "table-8" if family else "table-8-llm"

    def work(runner: TrialRunner) -> dict[str, Measured]:
        model, shots = runner.options.llm, _SHOTS[name]
        id = family.lower().replace("gpt-3.5", "gpt-3.5-turbo")
        if not model or (family and not _is_family(model, family)):
            runner.files("kocosa")
            raise ModelError(
                f"{family or 'a language model'} with {shots} examples: deadpan reproduce kocosa --only {exhibit} "
                f"--llm {'openai/' + id if family else 'MODEL'} --out OUT"
            )
        settings = {**preset_values("kocosa", "detect prompted"), "model": model, "shots": shots,
                    "base_url": runner.options.base_url}  # fmt: skip
        # The instruction of appendix C.2.
        found = runner.scores("kocosa", "prompted", settings, at_most=_ASKED if runner.options.quick else None)
        reason = "; ".join(filter(None, (f"{model}, not {family}" if not family else "", _part(runner))))
        how = f"{model}, {shots} examples; {found.how}"
        return _cells(exhibit, row, found.values, how, reason, bool(family) and found.official)

    return Job(f"{exhibit} {row}", cells_of(exhibit, [row], _SCORES), work, seconds=4.0, sources=("kocosa",))


def _is_family(model: str, family: str) -> bool:
    """Return whether a model is of a family: gpt-4-0613 is GPT-4, gpt-4o is not."""
    name = model.rpartition("/")[2].lower()
    return name == family.lower() or name.startswith(f"{family.lower()}-")


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

    cells = cells_of("table-8-ours", [row], _SCORES)
    return Job(f"table-8 {row}", cells, work, seconds=5.0, sources=("kocosa",))


# ---------------------------------------------------------------- Tables 9 and 10


def _context(options: ReproductionOptions) -> Job:
    rows = ("only the response", "three turns of context", "full context", "gain by the full context")
    ids = cells_of("table-9", rows, ["model"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        given = weights_in(runner.options.encoder, "large")
        system, settings, files = ("transformer", *_published(runner, "large")) if given else ("linear", {}, [])
        found = runner.once(
            f"ablation kocosa {system}", {"turns": _TURNS, "settings": settings},
            lambda: _ablation(runner, system, settings), sources=("kocosa",), inputs=files,
        )  # fmt: skip
        values = [decode(found[name], Interval) for name in ("first", "three", "full", "gain")]
        reasons = ("" if given else "another system, without pretrained Korean; --encoder gives the paper's",)
        reason = "; ".join(filter(None, (*reasons, _part(runner))))
        how, same = f"{system}; {found['how']}", bool(given) and found["official"] and not runner.options.quick
        return measured(ids, values, how=how, reason=reason, same=same)

    seconds = 20.0 if options.encoder is None else 500.0 * (1 if options.quick else 200)
    return Job("table-9", ids, work, seconds=seconds, sources=("kocosa",))


def _ablation(runner: TrialRunner, system: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    design, how = runner.design("kocosa", _SAMPLE if settings and runner.options.quick else None)
    examples = [*design.folds[0].train, *design.folds[0].test]
    k = 3 if runner.options.quick and not design.published else 5
    own = {name: value for name, value in settings.items() if name != "turns"}
    result = ablate(
        examples, system, turns=_TURNS, metric="balanced_accuracy", k=k, seed=runner.options.seed, settings=own
    )
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
        "how": named, "official": design.published,
    }  # fmt: skip


_TOPICS = (
    "Food and Beverages", "Leisure and Entertainment", "Individuals and Relationship", "Beauty and Health",
)  # fmt: skip


def _by_topic(system: str) -> Job:
    """Return the job of one system's columns in Table 10, on a corpus that has topics."""
    columns = {f"{system} BA": "balanced_accuracy", f"{system} W-F1": "weighted_f1"}
    ids = cells_of("table-10", _TOPICS, columns)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        topics = {e.id: str(e.meta.get("topic", "")).lower() for e in runner.corpus("kocosa").examples}
        if not any(topics.values()):
            raise DataError(_NO_TOPICS)
        if system == "KLUE":
            name, settings = "transformer", _published(runner, "large")[0]
        elif runner.options.llm:
            name = "prompted"
            settings = {**preset_values("kocosa", "detect prompted"), "model": runner.options.llm,
                        "base_url": runner.options.base_url, "shots": 4}  # fmt: skip
        else:
            raise ModelError("GPT-4 with 4 examples: give a language model with --llm")
        design, how = runner.design("kocosa", _SAMPLE if runner.options.quick else None)
        answers = run_trial(name, design, seed=runner.options.seed, settings=settings).predictions
        found = {}
        for topic in _TOPICS:
            part = {e.id: e for e in design.tested if topics[e.id].startswith(topic.lower().partition(" ")[0])}
            table = score_predictions(list(part.values()), [p for p in answers if p.example_id in part])
            for id, score in zip(cells_of("table-10", [topic], columns), columns.values(), strict=True):
                found[id] = Measured(table.scores[score], how=how, reason="other topics", same=False)
        return found

    return Job(f"table-10 {system}", ids, work, sources=("kocosa",))


# ---------------------------------------------------------------- people


def _people() -> Job:
    human = cells_of("table-9", ["only the response", "full context"], ["human"])
    ids = (*human, *cells_of("table-8", ["Human Evaluation"], _SCORES))

    def work(runner: TrialRunner) -> dict[str, Measured]:
        tables = {}
        found: dict[str, Measured] = {}
        for id, name in zip(human, ("kocosa-response", "kocosa"), strict=True):
            try:
                tables[name] = against_authors(open_people(runner, name))
            except MissingPeople as missing:
                found[id] = Measured(needs=f"people: {missing}")
                continue
            how = f"{tables[name].n:,} dialogues"
            found[id] = Measured(tables[name].scores["balanced_accuracy"], how=how, reason="other people")
        if "kocosa" in tables:
            how = f"{tables['kocosa'].n:,} dialogues"
            return found | _cells("table-8", "Human Evaluation", tables["kocosa"].scores, how, "other people")
        return found | dict.fromkeys(ids[len(human) :], found[human[1]])

    return Job("people kocosa", ids, work)


def _sincere_kinds() -> Job:
    kinds = {"casual dialogue": CASUAL, "direct criticism": CRITICISM}
    ids = cells_of("table-7", kinds, ["%"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        votes = Counter(open_people(runner, "kocosa-kind").votes().values())
        both = sum(votes[kind] for kind in kinds.values())
        how = f"{both:,} dialogues called non-sarcasm"
        shares = [percent(votes[kind], both) for kind in kinds.values()]
        return measured(ids, shares, how=how, reason="other people, other dialogues")

    return Job("table-7", ids, work)


def _abnormal_kinds() -> Job:
    counts = cells_of("table-5", [*_KINDS, "total"], ["cases"])
    shares = cells_of("table-5", _KINDS, ["%"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        votes = Counter(open_people(runner, "kocosa-generated").votes().values())
        found = [votes[kind] for kind in _KINDS.values()]
        values = [*map(exact, (*found, sum(found))), *(percent(n, sum(found)) for n in found)]
        how = f"{sum(found):,} abnormal dialogues"
        return measured((*counts, *shares), values, how=how, reason="other dialogues, other people")

    return Job("table-5", (*counts, *shares), work)
