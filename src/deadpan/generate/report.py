"""The report of a run: whether its dialogues are worth annotating, on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from deadpan.draws import sample
from deadpan.duplicates import identity, shingles
from deadpan.errors import ConfigError
from deadpan.generate.backcheck import BACKCHECK_FOLDER
from deadpan.generate.folder import REPORT_PAGE, Draft, Dropped, GenerationFolder, StepResult, as_examples
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.generate.release import DialogueTables, dialogue_tables
from deadpan.page import Page
from deadpan.page.results import output_page
from deadpan.page.summary import Summary
from deadpan.records import Turn
from deadpan.results import Result
from deadpan.stats import wilson
from deadpan.storage import Manifest, OutputPage, manifest_path, read_manifest
from deadpan.text import fold

_SAMPLES, _TOPICS, _OPENINGS = 5, 12, 5
_REQUESTED_WORDS = (10, 15)
_CLIP = 400


@dataclass(frozen=True, slots=True)
class GenerationReport(Result):
    """The page that was written, its finding, and the tables of the KoCoSa paper if they were asked for."""

    path: Path
    read: int
    kept: int
    tables: DialogueTables | None = None

    @property
    def finding(self) -> str:
        """The yield of the run in one sentence."""
        share = 100 * self.kept / self.read if self.read else 0.0
        kept = f"{self.kept:,} ({share:.0f} %)"
        return f"Of {self.read:,} source dialogues {kept} became dialogues ready for people."

    def about(self) -> OutputPage:
        """Return the words of the page."""
        facts = (f"{self.read:,} read", f"{self.kept:,} kept")
        return OutputPage("Generated dialogues", self.finding, facts, self.path.name)

    def summary(self) -> Summary:
        notes = (self.finding, f"report: {self.path}")
        if self.tables is None:
            return Summary(notes=notes)
        shown = self.tables.summary()
        return Summary(shown.tables, (*shown.notes, *notes))

    def as_dict(self) -> dict[str, object]:
        found = {"report": str(self.path), "read": self.read, "kept": self.kept}
        return found if self.tables is None else {**found, "tables": self.tables.as_dict()}


def write_report(
    plan: GenerationPlan | Path | str,
    *,
    run: Path | str | None = None,
    path: Path | None = None,
    with_tables: bool = False,
) -> GenerationReport:
    """Write the page about a run; `run` is its folder if that is not the plan's.

    `with_tables` also makes the tables of the KoCoSa paper, and its Figure 3 as topics.svg beside the page.
    """
    plan = open_plan(plan, run)
    target = path or plan.out / REPORT_PAGE
    if target.is_dir():
        raise ConfigError(f"{target}: is a folder: --out names the page to write, --run the folder of the run")
    folder = GenerationFolder(plan.out)
    last = folder.last()
    steps = folder.manifests()
    report = GenerationReport(target, steps["source"].counts["read"], steps[last].counts["kept"])
    page = output_page(report.about())
    write_sections(page, plan)
    page.write(target)
    return replace(report, tables=dialogue_tables(plan, out=target.parent)) if with_tables else report


def write_sections(page: Page, plan: GenerationPlan) -> None:
    """Add the parts of the report to a page: its own, or a tour's."""
    run = GenerationFolder(plan.out)
    steps, last = run.manifests(), run.last()
    kept = steps[last].counts["kept"]
    _funnel(page, steps)
    _retries(page, steps)
    drafts = sample(run.drafts(last), _SAMPLES, seed=plan.seed, key=lambda draft: draft.id)
    _samples(page, plan, drafts, kept)
    _dropped_samples(page, run, steps)
    _cost(page, run)
    if kept:
        _diversity(page, diversity(lambda: run.drafts(last), plan.seed))
    _backcheck(page, run)


def _funnel(page: Page, steps: Mapping[str, Manifest]) -> None:
    from deadpan.figures import bars

    left = {f"after {name}": manifest.counts["kept"] for name, manifest in steps.items()}
    first = steps["source"].counts["read"]
    figure = bars(_finding(first, steps), {"read": first, **left}, unit="dialogues")
    page.heading("From source to dialogue")
    page.figure(figure.svg(), figure.title, figure.table)
    rows = [
        (name, reason, count, wilson(count, manifest.counts["read"]))
        for name, manifest in steps.items()
        for reason, count in sorted(manifest.drops.items(), key=lambda item: (-item[1], item[0]))
    ]
    if rows:
        page.table(
            ("step", "reason of the drop", "dialogues", "share of the step's input"),
            rows,
            caption="Drops by reason; each is kept in its step's dropped.jsonl",
        )
    else:
        page.text("Nothing was dropped.")


def _retries(page: Page, steps: Mapping[str, Manifest]) -> None:
    """Show answers that were asked for again, and what was noticed without a drop."""
    retried = Counter[str]()
    noticed = Counter[str]()
    for manifest in steps.values():
        for key, count in manifest.counts.items():
            if key.startswith("asked_again."):
                retried[key.removeprefix("asked_again.")] += count
        noticed.update(manifest.changes)
    if retried:
        page.table(("retried because", "times"), retried.most_common(), caption="Answers that could not be used")
    if noticed:
        page.table(("noticed, not dropped", "dialogues"), noticed.most_common())


def _finding(first: int, steps: Mapping[str, Manifest]) -> str:
    """Return what the funnel shows, as its title."""
    kept = list(steps.values())[-1].counts["kept"]
    lost = {name: sum(manifest.drops.values()) for name, manifest in steps.items()}
    worst = max(lost, key=lambda name: lost[name])
    passed = f"{kept:,} of {first:,} dialogues passed every step"
    return f"{passed}; the step {worst} dropped most" if lost[worst] else passed


def _samples(page: Page, plan: GenerationPlan, drafts: Sequence[Draft], kept: int) -> None:
    page.heading("Samples, step by step")
    if not drafts:
        page.note(
            "No dialogue passed. The drops above say why: if the model does not keep to the form, use a larger one."
        )
        return
    page.text(f"{len(drafts)} of {kept:,}, drawn at random.")
    rows = [
        (
            _inline(draft.source),
            draft.situation,
            ", ".join(f"{who} {level}" for who, level in draft.politeness.items()) or "–",
            _inline(draft.context),
            _inline((draft.response,) if draft.response else ()),
        )
        for draft in drafts
    ]
    page.table(("source", "situation", "politeness", "new dialogue", "sarcastic response"), rows)
    for draft in drafts:
        for example in as_examples(draft, plan.language):
            note = f"meant: {draft.explanation}" if example.label else "sincere contrast"
            page.conversation(example, note=note)


def _dropped_samples(page: Page, run: GenerationFolder, steps: Mapping[str, Manifest]) -> None:
    """Show the first drop of each reason, so that a filter that drops the wrong ones is noticed."""
    chosen: dict[tuple[str, str], Dropped] = {}
    for name, manifest in steps.items():
        if name != "source" and manifest.drops:
            for dropped in run.dropped(name):
                chosen.setdefault((name, dropped.reason), dropped)
    if not chosen:
        return
    page.heading("What was dropped", 3)
    rows = [(drop.step, drop.reason, _clip(drop.detail), _clip(_dropped_text(drop))) for drop in chosen.values()]
    page.table(("step", "reason", "detail", "what it was"), rows, caption="The first of each reason")


def _dropped_text(dropped: Dropped) -> str:
    if dropped.raw:
        return " / ".join(line.strip() for line in dropped.raw.splitlines() if line.strip())
    return _inline(dropped.draft.turns or dropped.draft.source) if dropped.draft else ""


def _cost(page: Page, run: GenerationFolder) -> None:
    page.heading("Cost")
    cached = run.from_cache()
    asked = {name: manifest for name, manifest in run.manifests().items() if manifest.counts.get("calls")}
    results = {name: StepResult.of(run, name, cached.get(name, (0, 0.0))) for name in asked}
    rows = [
        (
            name,
            str(manifest.config.get("model", "")),
            manifest.counts["calls"],
            manifest.counts["tokens_in"],
            manifest.counts["tokens_out"],
            "unknown" if manifest.counts["unpriced_calls"] else f"{results[name].cost:,.4f}",
            f"{results[name].cached_cost:,.4f}",
        )
        for name, manifest in asked.items()
    ]
    columns = ("step", "model", "calls", "tokens in", "tokens out", "US dollars", "cached, US dollars")
    page.table(columns, rows, numeric=columns[-2:])
    unknown = sum(one.unpriced_calls for one in results.values())
    also = f" The price of {unknown:,} calls is not known." if unknown else ""
    also += " Answers from the cache were paid for by an earlier run." if cached else ""
    total = sum(one.cost for one in results.values())
    page.note(f"${total:,.4f} in all, at the prices when the answers were made.{also}")


def _diversity(page: Page, measured: Diversity) -> None:
    from deadpan.figures import bars

    page.heading("Diversity")
    rows: list[tuple[str, float | int]] = [
        (f"distinct sequences of {size} words in responses", share) for size, share in measured.distinct.items()
    ]
    low, high = _REQUESTED_WORDS
    within = sum(n for words, n in measured.response_words.items() if low <= words <= high)
    rows += [
        ("similarity of two dialogues, mean (0 to 1)", measured.similarity),
        ("similarity of the closest two", measured.closest),
        ("different themes", len(measured.themes)),
        (f"responses of {low} to {high} words, share", within / measured.n),
    ]
    page.table(("measure", f"value, n = {measured.n:,}"), rows)
    common = [(words, n) for words, n in measured.openings.most_common(_OPENINGS) if n > 1]
    if common:
        page.table(("response begins", "times"), common, caption="The commonest openings")
    top = dict(measured.topics.most_common(_TOPICS))
    if rest := measured.topics.total() - sum(top.values()):
        top["others"] = rest
    name = next(iter(top))
    title = f"The commonest topic is {name}" if len(top) > 1 else f"The only topic is {name}"
    figure = bars(title, top, unit="dialogues")
    page.figure(figure.svg(), figure.title, figure.table)


def _backcheck(page: Page, run: GenerationFolder) -> None:
    folder = run.root / BACKCHECK_FOLDER
    if not folder.is_dir() or not manifest_path(folder).is_file():
        return
    manifest = read_manifest(folder)
    n = manifest.counts["n"]
    page.heading("Back-check by a detector")
    names = (
        ("easy", "correct and confident without the context: too easy"),
        ("alone", "correct without the context"),
        ("context", "correct with the context"),
    )
    page.table(("finding", "share"), [(words, wilson(manifest.counts[key], n)) for key, words in names])
    page.note(f"The detector: {manifest.config['detector']}. Item by item in {BACKCHECK_FOLDER}/items.jsonl.")


def _inline(turns: Sequence[Turn]) -> str:
    return _clip(" / ".join(f"{turn.speaker}: {turn.text}" for turn in turns))


def _clip(text: str) -> str:
    return text if len(text) <= _CLIP else f"{text[:_CLIP]}…"


_MEASURED = 2_000
# Dialogues compared with each other: 45,000 pairs give the mean similarity to two digits.
_COMPARED = 300


@dataclass(frozen=True, slots=True)
class Diversity:
    """`distinct`: the share of distinct word sequences in responses; `similarity`: the mean Jaccard of pairs.

    Both are measured on a sample of fixed size, because they depend on it: runs of any size can be compared.
    """

    n: int
    distinct: dict[int, float]
    similarity: float
    closest: float
    topics: Counter[str]
    themes: Counter[str]
    openings: Counter[str]
    response_words: Counter[int]


def diversity(drafts: Callable[[], Iterable[Draft]], seed: int) -> Diversity:
    """Measure topics and lengths on all drafts, the rest on a sample. `drafts` may be called repeatedly."""
    topics, themes = Counter[str](), Counter[str]()
    lengths: Counter[int] = Counter()
    for draft in drafts():
        topics[draft.topic or "not said"] += 1
        themes[draft.theme] += 1
        lengths[len(_words(draft))] += 1
    chosen = sample(drafts(), _MEASURED, seed=seed, key=lambda draft: draft.id)
    grams: dict[int, Counter[tuple[str, ...]]] = {size: Counter() for size in (1, 2, 3)}
    openings: Counter[str] = Counter()
    for draft in chosen:
        words = _words(draft)
        openings[" ".join(words[:2])] += 1
        for size, counted in grams.items():
            counted.update(zip(*(words[at:] for at in range(size)), strict=False))
    similarity, closest = _similarity([draft.text for draft in chosen[:_COMPARED]])
    distinct = {size: len(counted) / max(1, counted.total()) for size, counted in grams.items()}
    return Diversity(topics.total(), distinct, similarity, closest, topics, themes, openings, lengths)


def _words(draft: Draft) -> list[str]:
    return fold(draft.response.text).split() if draft.response else []


def _similarity(texts: Sequence[str]) -> tuple[float, float]:
    """Return the mean and the largest Jaccard similarity over all pairs."""
    sets = [shingles(identity(text)) for text in texts]
    scores = [len(a & b) / len(a | b) for a, b in combinations(sets, 2) if a or b]
    return (sum(scores) / len(scores), max(scores)) if scores else (0.0, 0.0)
