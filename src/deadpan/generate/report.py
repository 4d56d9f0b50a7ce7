"""The page that tells at one look whether a run is worth annotating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deadpan.draws import sample
from deadpan.generate.backcheck import FOLDER as BACKCHECK
from deadpan.generate.diversity import Diversity, diversity
from deadpan.generate.draft import Draft, Dropped, as_examples
from deadpan.generate.folder import STEPS, RunFolder
from deadpan.generate.ledger import MICRO
from deadpan.generate.plan import Plan
from deadpan.page import Page
from deadpan.records import Turn
from deadpan.stats import wilson
from deadpan.storage import Manifest, manifest_path, read_manifest

SAMPLES, DROPPED_SAMPLES, TOPICS = 5, 6, 12
ASKED_WORDS = (10, 15)
CLIP = 400


def write_report(plan: Plan, run: RunFolder, path: Path) -> None:
    """Write the page from what the steps wrote."""
    steps = {name: found for name in STEPS if (found := run.manifest(name)) is not None}
    last = run.last()
    page = Page(
        "Generated dialogues",
        _lead(steps, last, run),
        language="en",
    )
    write_sections(page, plan, run)
    page.write(path)


def write_sections(page: Page, plan: Plan, run: RunFolder) -> None:
    """The parts of the report, for a page of their own or a tour's."""
    steps = {name: found for name in STEPS if (found := run.manifest(name)) is not None}
    last = run.last()
    kept = steps[last].counts["kept"]
    _funnel(page, steps)
    drafts = sample(run.drafts(last), SAMPLES, seed=plan.seed, key=lambda draft: draft.id)
    _samples(page, plan, drafts, kept)
    _dropped_samples(page, plan, run, steps)
    _cost(page, steps)
    if kept:
        _diversity(page, diversity(lambda: run.drafts(last), plan.seed))
    _backcheck(page, run)


def _lead(steps: dict[str, Manifest], last: str, run: RunFolder) -> str:
    read, kept = steps["source"].counts["read"], steps[last].counts["kept"]
    share = 100 * kept / read if read else 0.0
    return f"Of {read:,} source dialogues {kept:,} ({share:.0f} %) became dialogues ready for people."


def _funnel(page: Page, steps: dict[str, Manifest]) -> None:
    from deadpan.figures import bars

    left = {f"after {name}": found.counts["kept"] for name, found in steps.items()}
    first = steps["source"].counts["read"]
    figure = bars(_finding(first, steps), {"read": first, **left}, unit="dialogues")
    page.heading("From source to dialogue")
    page.figure(figure.svg(), figure.title, figure.table)
    rows = [
        (name, reason, count, wilson(count, found.counts["read"]))
        for name, found in steps.items()
        for reason, count in sorted(found.drops.items(), key=lambda item: (-item[1], item[0]))
    ]
    if rows:
        page.table(
            ("step", "dropped because", "dialogues", "share of the step's"),
            rows,
            caption="Drops by reason; each is kept in its step's dropped.jsonl",
        )
    else:
        page.text("Nothing was dropped.")
    again = Counter[str]()
    noticed = Counter[str]()
    for found in steps.values():
        again.update(
            {k.removeprefix("asked_again."): n for k, n in found.counts.items() if "asked_again." in k}
        )
        noticed.update(found.changes)
    if again:
        page.table(
            ("asked again because", "times"), again.most_common(), caption="Answers that could not be used"
        )
    if noticed:
        page.table(("noticed, not dropped", "dialogues"), noticed.most_common())


def _finding(first: int, steps: dict[str, Manifest]) -> str:
    """What the funnel shows, in words."""
    kept = list(steps.values())[-1].counts["kept"]
    lost = {name: sum(found.drops.values()) for name, found in steps.items()}
    worst = max(lost, key=lambda name: lost[name])
    came = f"{kept:,} of {first:,} dialogues came through"
    return f"{came}, most were lost in {worst}" if lost[worst] else came


def _samples(page: Page, plan: Plan, drafts: Sequence[Draft], kept: int) -> None:
    page.heading("Samples, step by step")
    if not drafts:
        page.note(
            "No dialogue came through. The drops above say why: a model too small to keep to the form needs "
            "replacing, not filtering."
        )
        return
    page.text(f"{len(drafts)} of {kept:,}, drawn by the seed.")
    rows = [
        (
            _said(draft.source),
            draft.situation,
            ", ".join(f"{who} {level}" for who, level in draft.politeness.items()) or "–",
            _said(draft.context),
            _said((draft.response,) if draft.response else ()),
        )
        for draft in drafts
    ]
    page.table(("source", "situation", "politeness", "new dialogue", "sarcastic response"), rows)
    for draft in drafts:
        for example in as_examples(draft, plan.language):
            note = f"meant: {draft.explanation}" if example.label else "its sincere twin"
            page.conversation(example, note=note)


def _dropped_samples(page: Page, plan: Plan, run: RunFolder, steps: dict[str, Manifest]) -> None:
    """One or two of each reason, so that a filter that bites the wrong ones is seen."""
    chosen: list[Dropped] = []
    for name in steps:
        if name == "source" or not steps[name].drops:
            continue
        by_reason: dict[str, int] = {}
        for dropped in run.dropped(name):
            if by_reason.setdefault(dropped.reason, 0) < 1:
                by_reason[dropped.reason] += 1
                chosen.append(dropped)
    if not chosen:
        return
    page.heading("What was dropped", 3)
    rows = [(each.step, each.reason, _clip(each.detail), _clip(_dropped_text(each))) for each in chosen]
    page.table(("step", "reason", "detail", "what it was"), rows, caption="The first of each reason")


def _dropped_text(dropped: Dropped) -> str:
    if dropped.raw:
        return " / ".join(line.strip() for line in dropped.raw.splitlines() if line.strip())
    return _said(dropped.draft.turns or dropped.draft.source) if dropped.draft else ""


def _cost(page: Page, steps: dict[str, Manifest]) -> None:
    page.heading("Cost")
    asked = {name: found for name, found in steps.items() if found.counts.get("calls")}
    rows = [
        (
            name,
            str(found.config.get("model", "")),
            found.counts["calls"],
            found.counts["tokens_in"],
            found.counts["tokens_out"],
            _dollars(found),
        )
        for name, found in asked.items()
    ]
    page.table(
        ("step", "model", "calls", "tokens in", "tokens out", "US dollars"), rows, numeric=("US dollars",)
    )
    total = sum(found.counts["cost_micros"] for found in asked.values()) / MICRO
    unknown = sum(found.counts["unpriced_calls"] for found in asked.values())
    also = f" The price of {unknown:,} calls is not known." if unknown else ""
    page.note(f"${total:,.4f} in all, at the prices when the answers were made.{also}")


def _dollars(found: Manifest) -> str:
    if found.counts["unpriced_calls"]:
        return "unknown"
    return f"{found.counts['cost_micros'] / MICRO:,.4f}"


def _diversity(page: Page, found: Diversity) -> None:
    from deadpan.figures import bars

    page.heading("Variety")
    rows: list[tuple[str, float | int]] = [
        (f"distinct sequences of {size} words in responses", share) for size, share in found.distinct.items()
    ]
    low, high = ASKED_WORDS
    within = sum(n for words, n in found.response_words.items() if low <= words <= high)
    rows += [
        ("likeness of two dialogues, mean (0 to 1)", found.likeness),
        ("likeness of the two closest", found.closest),
        ("different themes", len(found.themes)),
        (f"responses of {low} to {high} words, share", within / found.n),
    ]
    page.table(("measure", f"value, n = {found.n:,}"), rows)
    common = [(words, n) for words, n in found.openings.most_common(5) if n > 1]
    if common:
        page.table(("response begins", "times"), common, caption="The commonest openings")
    top = dict(found.topics.most_common(TOPICS))
    if rest := found.topics.total() - sum(top.values()):
        top["others"] = rest
    name = next(iter(top))
    title = f"The commonest topic is {name}" if len(top) > 1 else f"The only topic is {name}"
    figure = bars(title, top, unit="dialogues")
    page.figure(figure.svg(), figure.title, figure.table)


def _backcheck(page: Page, run: RunFolder) -> None:
    folder = run.root / BACKCHECK
    if not folder.is_dir() or not manifest_path(folder).is_file():
        return
    found = read_manifest(folder)
    n = found.counts["n"]
    page.heading("Back-check by a detector")
    names = (("easy", "right and sure without the context: too easy"), ("alone", "right without the context"),
             ("context", "right with the context"))  # fmt: skip
    page.table(("finding", "share"), [(words, wilson(found.counts[key], n)) for key, words in names])
    page.note(f"The detector: {found.config['detector']}. Item by item in {BACKCHECK}/items.jsonl.")


def _said(turns: Sequence[Turn]) -> str:
    return _clip(" / ".join(f"{turn.speaker}: {turn.text}" for turn in turns))


def _clip(text: str) -> str:
    return text if len(text) <= CLIP else f"{text[:CLIP]}…"
