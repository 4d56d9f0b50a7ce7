"""The guide through the tour: runs the stops in order and makes one page of what they found."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path

from deadpan.errors import ConfigError, MissingExtra, ModelError
from deadpan.page import Link, Page, Summary, Table
from deadpan.results import Result
from deadpan.storage import Manifest, file_marks, manifest_path, read_manifest, write_json, write_manifest
from deadpan.validation import encode

_COMMAND = "tour"

STOPS = {
    "Your own sentence": "deadpan.tour.detectors:sentence_stop",
    "A pair that words cannot solve": "deadpan.tour.detectors:pair_stop",
    "SARC's Table 2 in miniature": "deadpan.tour.detectors:table_two_stop",
    "A leak, caught": "deadpan.tour.detectors:leak_stop",
    "A dialogue a language model wrote": "deadpan.tour.stages:dialogue_stop",
    "People": "deadpan.tour.stages:people_stop",
    "SarcBench": "deadpan.tour.stages:board_stop",
}
"""Title and function of every stop, in the order of the argument."""

_CLAIM = (
    "What makes a sentence sarcastic is mostly outside it, so a score means little unless you know what it "
    "was measured on. deadpan builds corpora, collects human judgments, trains detectors and tests language "
    "models, and says beside every number how far it can be trusted."
)
_NEXT = (
    ("Judge a table of your own", "deadpan detect predict mine.csv --column text=tweet --out scored.csv"),
    ("Type sentences into a page", "deadpan serve"),
    ("Run a language model on all of SarcBench", "deadpan bench run --llm openai/NAME --out runs"),
    ("Run a study with people", "deadpan studio serve"),
    ("See what is installed and what is missing", "deadpan doctor"),
)  # fmt: skip

Step = Callable[[str], None]


@dataclass(slots=True)
class Guide:
    """Context of a stop: a page to write on, a folder for files, and what the stop found."""

    page: Page
    out: Path
    seed: int = 0
    text: str = ""
    """The visitor's own sentence."""
    step: Step = lambda description: None
    finding: str = ""
    command: str = ""
    artefacts: list[Link] = field(default_factory=list)

    def found(self, finding: str, command: str) -> None:
        """Say what the stop shows, in one sentence, and the command that goes on from there."""
        self.finding, self.command = finding, command

    def artefact(self, text: str, path: Path) -> None:
        """Link a file that the stop wrote."""
        self.artefacts.append(Link(text, path.relative_to(self.out).as_posix()))


@dataclass(frozen=True, slots=True)
class TourStop:
    """A stop that was made: its finding, or what it needs."""

    title: str
    finding: str
    command: str
    seconds: float
    shown: bool


@dataclass(frozen=True, slots=True)
class TourResult(Result):
    """The findings of all stops, and the page."""

    report: Path
    seconds: float
    stops: tuple[TourStop, ...]

    def summary(self) -> Summary:
        rows = tuple((f"{n}. {stop.title}", stop.finding) for n, stop in enumerate(self.stops, 1))
        notes = (
            f"{self.seconds:.0f} seconds. The whole tour on one page that needs no network: {self.report}",
            f"Next: {_NEXT[0][1]}",
        )
        return Summary((Table(("stop", "finding"), rows),), notes)

    def as_dict(self) -> dict[str, object]:
        stops = [asdict(stop) for stop in self.stops]
        return {"report": str(self.report), "seconds": self.seconds, "stops": stops}


def run_tour(
    out: Path,
    *,
    text: str = "",
    seed: int = 0,
    announce: Callable[[str], AbstractContextManager[Step]] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TourResult:
    """Run every stop and write the page; `announce` shows which stop is under way."""
    out = Path(out)
    _prepare(out)
    there = file_marks(out)
    body, stops, started = Page(""), [], clock()
    artefacts: list[Link] = []
    for number, (title, target) in enumerate(STOPS.items(), 1):
        before = clock()
        with announce(title) if announce else nullcontext(lambda description: None) as step:
            guide = Guide(body, out, seed, text, step)
            shown = _visit(guide, f"{number}. {title}", f"stop-{number}", target)
        artefacts += guide.artefacts
        stops.append(TourStop(title, guide.finding, guide.command, round(clock() - before, 1), shown))
    result = TourResult((out / "report.html").resolve(), round(clock() - started, 1), tuple(stops))
    _page(result, body, artefacts).write(result.report)
    write_manifest(out, command=_COMMAND, seed=seed, before=there)
    return result


def _prepare(out: Path) -> None:
    """Make the folder; refuse one that is not a tour's, since stops replace what is in their subfolders."""
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: is a file: choose another --out")
    is_tour = manifest_path(out).is_file() and read_manifest(out, any_version=True).command == _COMMAND
    if out.is_dir() and any(out.iterdir()) and not is_tour:
        raise ConfigError(f"{out}: not empty and not a tour: choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    # By this manifest, without files, a tour that is cut short can be made again.
    write_json(manifest_path(out), encode(Manifest(_COMMAND)))


def _visit(guide: Guide, title: str, anchor: str, target: str) -> bool:
    """Make one stop; where something is not installed, say what adds it and go on."""
    guide.page.heading(title, anchor=anchor)
    module, _, function = target.partition(":")
    try:
        getattr(import_module(module), function)(guide)
    except (MissingExtra, ModelError) as absent:
        guide.found(f"Not shown here: {absent}", "deadpan doctor --fix")
        guide.page.note(guide.finding)
        return False
    if guide.command:
        guide.page.text("Try it yourself:").code(guide.command)
    return True


def _page(result: TourResult, body: Page, artefacts: list[Link]) -> Page:
    page = Page("Words alone do not make sarcasm", _CLAIM)
    page.heading("Seven stops")
    page.contents((Link(f"{n}. {stop.title}", f"#stop-{n}"), stop.finding) for n, stop in enumerate(result.stops, 1))
    page.extend(body)
    page.heading("Files of this tour", anchor="files").bullets(artefacts)
    page.heading("Next", anchor="next")
    for what, command in _NEXT:
        page.text(f"{what}:").code(command)
    return page
