"""Pages, saves and files of a study of 20,000 items against one of 200, in one run: prints the ratios and their bars.

Times are of the processor, so that another program on the machine changes nothing.

python benchmarks/studio_scale.py [--quick] [--watched] [--only-watched]

--watched also measures the rate of saves on a server with and without one open dashboard of the large study,
--only-watched nothing else.
"""

from __future__ import annotations

import http.client
import os
import statistics
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Not tests/ itself: this file would be taken for the folder of the same name there.
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "studio"))

from crowd import Annotator, Server, together

SMALL, LARGE = 200, 20_000
RATERS = 25
BARS = {
    "dashboard": 2.0,
    "adjudication list": 2.0,
    "people list": 2.0,
    "first figures": 2.0,
    "next item": 1.3,
    "save": 1.3,
}
BARS |= dict.fromkeys(("export", "Label Studio export", "release"), 1.5)


def make(n: int, name: str) -> Any:
    """A study of n items and 2.5 judgments an item, imported in bulk."""
    from deadpan.formats.study import ReaderJudgmentItem, Study
    from deadpan.records import Judgment, Turn
    from deadpan.studio.records.imports import import_judgments
    from deadpan.studio.records.studies import create_study

    items = [
        ReaderJudgmentItem(f"i{at}", Turn("B", f"Lovely, number {at}."), (Turn("A", "It rains."),)) for at in range(n)
    ]
    study = create_study(name, Study("reader-judgment", name, raters_per_item=12), items, "bench")
    at = "2026-01-01T00:00:00+00:00"
    rows = [
        Judgment(
            f"i{item}",
            f"r{(item * 7 + k) % RATERS}",
            "sarcastic",
            ("sarcastic", "not sarcastic")[(item + k) % 5 == 0],
            3.0,
            at,
        )
        for item in range(n)
        for k in range(2 + item % 2)
    ]
    began = time.process_time()
    import_judgments(study, rows, "bench")
    return study, len(rows), time.process_time() - began


def median(action: Callable[[], None], times: int) -> float:
    action()
    took = []
    for _ in range(times):
        began = time.process_time()
        action()
        took.append(time.process_time() - began)
    return statistics.median(took)


def person(study: Any, role: str, name: str) -> Any:
    from django.test import Client
    from django.utils import timezone

    from deadpan.studio.people.admission import make_invite

    client = Client(headers={"host": "localhost"})
    token = make_invite(study, role, 1, timezone.now(), "bench")
    client.post(f"/join/{token}", {"name": f"{name}{study.pk}", "password": "correct horse battery"})
    client.post(f"/s/{study.slug}/consent", {"agree": "yes"})
    return client


def measure(n: int, times: int, name: str = "small") -> dict[str, float]:
    from datetime import date

    from deadpan.studio.app.figures import compute_figures
    from deadpan.studio.app.settings import WORKER_VARIABLE
    from deadpan.studio.records.export import export_study
    from deadpan.studio.records.labelstudio import write_tasks
    from deadpan.studio.records.release import release_facts, release_study

    study, judgments, took = make(n, name)
    owner, judge, rater = (person(study, role, role) for role in ("owner", "adjudicator", "annotator"))
    page = f"/s/{study.slug}"
    found = {"import per judgment": took / judgments}

    def get(client: Any, address: str) -> Callable[[], None]:
        def ask() -> None:
            assert client.get(address).status_code == 200, address

        return ask

    os.environ[WORKER_VARIABLE] = "1"
    began = time.process_time()
    get(owner, f"{page}/dashboard")()
    found["first figures"] = time.process_time() - began
    began = time.process_time()
    compute_figures(study, "en")
    found["all figures, beside the requests"] = time.process_time() - began
    found["dashboard"] = median(get(owner, f"{page}/dashboard"), times)
    found["people list"] = median(get(owner, f"{page}/people"), times)
    found["adjudication list"] = median(get(judge, f"{page}/adjudicate"), times)
    saves, nexts = [], []
    for _ in range(times):
        began = time.process_time()
        address = rater.get(f"{page}/").url
        nexts.append(time.process_time() - began)
        body = {"answers": {"sarcastic": "sarcastic"}, "seconds": 1.0, "key": uuid.uuid4().hex}
        began = time.process_time()
        assert rater.post(f"{address}/save", body, content_type="application/json").status_code == 200
        saves.append(time.process_time() - began)
    found["next item"], found["save"] = statistics.median(nexts), statistics.median(saves)
    facts = release_facts(study, "ids", version="1.0.0", licence="x", citation="x", published=date(2026, 1, 1))
    writers: dict[str, Callable[[Path], object]] = {
        "export": lambda out: export_study(study, out),
        "Label Studio export": lambda out: write_tasks(study, out),
        "release": lambda out: release_study(study, out, facts, "ids"),
    }
    with tempfile.TemporaryDirectory() as folder:
        for what, write in writers.items():
            if n == SMALL:  # the first one imports what it needs
                write(Path(folder) / f"first {what}")
            began = time.process_time()
            write(Path(folder) / what)
            found[what] = (time.process_time() - began) / judgments
    return found


STATES = ("alone", "open", "computing")
"""No dashboard; one that is open; one that is open while the worker computes its figures again."""


def watched(home: Path, study: Any, seconds: float, rounds: int) -> None:
    """Rate of saves of 10 annotators beside an open dashboard, in short rounds that take turns.

    A dashboard is fetched every two seconds. Its figures are computed at most a tenth of the time.
    """
    from django.db import connections
    from django.utils import timezone

    from deadpan.studio.people.admission import make_invite

    owner = person(study, "owner", "watcher")
    session = owner.cookies["sessionid"].value
    token = make_invite(study, "participant", 100, timezone.now(), "bench")
    keep_figures(study)
    connections.close_all()
    server = Server(home)
    server.start()
    rates: dict[str, list[float]] = {state: [] for state in STATES}
    try:
        people = [Annotator(server.port, token) for _ in range(10)]
        one_round(server, people, session, "open", seconds)  # nobody is measured while things warm up
        for number in range(rounds):
            for state in ("alone", "open") if number % 2 else ("open", "alone"):
                rates[state].append(one_round(server, people, session, state, seconds))
        expire(study)
        for _ in range(max(2, rounds // 4)):  # the worker needs longer than these rounds
            rates["computing"].append(one_round(server, people, session, "computing", seconds))
    finally:
        server.kill()
    alone, seen, busy = (statistics.median(rates[state]) for state in STATES)
    pairs = sorted(b / a for a, b in zip(rates["alone"], rates["open"], strict=True))
    ratio = statistics.median(pairs)
    whole = 0.9 * ratio + 0.1 * busy / alone
    print(f"saves with their next item per second: {alone:.1f} alone, {seen:.1f} with an open dashboard, ")
    print(f"{busy:.1f} while its figures are computed; {len(pairs)} pairs of rounds of {seconds:.0f} s")
    print(f"ratio of a pair: median {ratio:.2f}, middle half {pairs[len(pairs) // 4]:.2f} to ", end="")
    print(f"{pairs[3 * len(pairs) // 4]:.2f}; with a tenth of the time computing: ", end="")
    print(f"{whole:.2f}, bar 0.90 {'met' if whole >= 0.9 else 'MISSED'}")
    print({state: [round(rate, 1) for rate in found] for state, found in rates.items()})


def one_round(server: Server, people: list[Any], session: str, state: str, seconds: float) -> float:
    """Saves per second of everybody together."""
    stop = threading.Event()
    viewer = threading.Thread(target=look, args=(server.port, session, stop))
    if state != "alone":
        viewer.start()
    count = [0]
    began = time.monotonic()

    def work(someone: Any, _: int) -> None:
        while time.monotonic() < began + seconds:
            someone.next_item()
            someone.save(answers={"sarcastic": "sarcastic"})
            count[0] += 1

    together(people, work)
    rate = count[0] / (time.monotonic() - began)
    stop.set()
    if state != "alone":
        viewer.join()
    return rate


def keep_figures(study: Any) -> None:
    """Figures that were computed just now and took a minute, so that the worker rests."""
    from deadpan.studio.models import StoredFigures

    page = "<p>" + "computed before " * 1000
    StoredFigures.objects.filter(study=study).delete()
    StoredFigures.objects.create(study=study, language="en", stamp="earlier", page=page, seconds=60.0)


def expire(study: Any) -> None:
    """Let the worker think that it has rested long enough."""
    from datetime import timedelta

    from django.utils import timezone

    from deadpan.studio.models import StoredFigures

    old = timezone.now() - timedelta(seconds=100)
    StoredFigures.objects.filter(study=study).update(computed_at=old, seconds=0.6)


def look(port: int, session: str, stop: threading.Event) -> None:
    while not stop.wait(2.0):
        connection = http.client.HTTPConnection("localhost", port, timeout=120)
        connection.request("GET", "/s/load/dashboard/live", headers={"Cookie": f"sessionid={session}"})
        assert connection.getresponse().status == 200
        connection.close()


def main() -> None:
    from deadpan.studio.app.database import open_studio

    times = 10 if "--quick" in sys.argv else 40
    with tempfile.TemporaryDirectory() as folder:
        open_studio(Path(folder) / "home", "")
        if "--only-watched" in sys.argv:
            watched(Path(folder) / "home", make(LARGE, "load")[0], 5.0, 10)
            return
        small, large = measure(SMALL, times), measure(LARGE, times, "load")
        if "--watched" in sys.argv:
            from deadpan.studio.models import StoredStudy

            watched(Path(folder) / "home", StoredStudy.objects.get(slug="load"), 5.0, 12)
    print(f"{'':42}{SMALL:>12,}{LARGE:>12,}{'ratio':>8}{'bar':>6}")
    for name, value in large.items():
        ratio = value / small[name]
        bar = BARS.get(name)
        met = "" if bar is None else f"{bar:6.1f} {'met' if ratio <= bar else 'MISSED'}"
        print(f"{name:42}{small[name] * 1000:>9.2f} ms{value * 1000:>9.2f} ms{ratio:>8.2f}{met}")


if __name__ == "__main__":
    main()
