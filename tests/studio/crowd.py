"""Many annotators at once, and a server that can be killed: for the load tests and the benchmark."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from deadpan.formats.study import AnnotateItem, Study, write_study
from deadpan.records import Turn

SOURCE = Path(__file__).parent.parent.parent / "src"
PAUSE = 0.05
PATIENCE = 600.0
"""Seconds after which a server hangs; one on a busy machine is only slow."""
SAVES_AN_ITEM = 4
"""An item of `annotate` has three questions and a remark, each saved as it is given."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen, log: Callable[[], str]) -> None:
    """Until the studio answers, or is known not to."""
    for _ in range(12_000):  # ten minutes: only a hang takes that long
        try:
            with closing(http.client.HTTPConnection("localhost", port, timeout=60)) as connection:
                connection.request("GET", "/login")
                connection.getresponse().read()
            return
        except OSError:
            assert process.poll() is None, log()
            time.sleep(PAUSE)
    raise AssertionError("the server did not start")


@dataclass
class Server:
    """The studio as `deadpan studio serve` serves it, in a process group of its own."""

    home: Path
    url: str = ""
    port: int = field(default_factory=free_port)
    process: subprocess.Popen | None = None
    token: str = ""
    body_seconds: float | None = None

    @property
    def env(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "DEADPAN_STUDIO": str(self.home),
            "DATABASE_URL": self.url,
            **({"DEADPAN_STUDIO_BODY_SECONDS": str(self.body_seconds)} if self.body_seconds else {}),
        }

    def command(self, *words: str):
        run = [sys.executable, "-m", "deadpan", "studio", *words, "--json"]
        done = subprocess.run(run, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self) -> None:
        serve = f"-m deadpan studio serve --workers 2 --port {self.port}"
        words = [sys.executable, *serve.split()]
        log = (self.home / "server.log").open("ab")
        self.process = subprocess.Popen(words, env=self.env, stdout=log, stderr=log, start_new_session=True)
        log.close()
        wait_for(self.port, self.process, self.log)

    def kill(self, how: int = signal.SIGKILL) -> None:
        """End the whole group: nothing is flushed, nothing is said."""
        os.killpg(self.process.pid, how)
        self.process.wait(60)

    def log(self) -> str:
        return (self.home / "server.log").read_text(errors="replace")


def prepare(server: Server, folder: Path, n_items: int = 200, raters: int = 60) -> str:
    """A study, and a link for everybody."""
    items = [
        AnnotateItem(f"i{at}", Turn("B", f"Lovely, number {at}."), (Turn("A", "It rains."),)) for at in range(n_items)
    ]
    write_study(folder, Study("annotate", "Load", raters_per_item=raters, settings={"qualification": 0}), items)
    server.command(
        "create", "annotate", "--open", "--setting", "contact=lab@example.org", "--name", "load", str(folder)
    )
    return server.command("invite", "load", "--role", "participant", "--uses", "500")["link"].rsplit("/", 1)[1]


class Annotator:
    """One browser's worth of HTTP: cookies, the form's token, saves with a key that is sent again until
    it is acknowledged."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.cookies = port, dict[str, str]()
        self.connection: http.client.HTTPConnection | None = None
        page = self._request("GET", f"/join/{token}")
        self._form(f"/join/{token}", page, {})
        page = self._request("GET", "/s/load/consent")
        self._form("/s/load/consent", page, {"agree": "yes"})
        self.item = ""
        self.acknowledged: list[str] = []
        self.latencies: list[float] = []

    def _request(self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None) -> str:
        """Send a request as a person does: again if the connection was closed while it was idle, or if the
        page says that the database is busy."""
        status, text, deadline = 503, "", time.monotonic() + PATIENCE
        while status == 503 and time.monotonic() < deadline:
            try:
                status, text = self._exchange(method, path, body, headers or {})
            except http.client.RemoteDisconnected:
                status, text = self._exchange(method, path, body, headers or {})
        assert status in (200, 302), f"{method} {path}: {status}"
        return text

    def _exchange(self, method: str, path: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("localhost", self.port, timeout=60)
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        try:
            self.connection.request(method, path, body, {"Cookie": cookie, **headers})
            response = self.connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise
        for set_cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, rest = set_cookie.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        self.location = response.headers.get("Location", "")
        return response.status, text

    def _form(self, path: str, page: str, values: dict[str, str]) -> None:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        body = "&".join(f"{k}={v}" for k, v in {"csrfmiddlewaretoken": token, **values}.items())
        self._request("POST", path, body, {"Content-Type": "application/x-www-form-urlencoded"})

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def second_window(self) -> Annotator:
        """The same person, on a connection of its own."""
        twin = copy(self)
        twin.connection, twin.acknowledged, twin.latencies = None, [], []
        return twin

    def next_item(self) -> None:
        self._request("GET", "/s/load/")
        self.item = self.location

    def save(
        self, sent_at: float | None = None, patience: float = PATIENCE, answers: dict[str, str] | None = None
    ) -> None:
        """One answer under one key, tried until it is acknowledged."""
        key = uuid.uuid4().hex
        given = answers or {"response": "sarcasm", "context": "normal", "comment": key}
        body = json.dumps({"answers": given, "seconds": 1, "key": key})
        headers = {"Content-Type": "application/json", "X-CSRFToken": self.cookies["csrftoken"]}
        begun = time.monotonic() if sent_at is None else sent_at
        deadline = time.monotonic() + patience
        while True:
            try:
                status, text = self._exchange("POST", f"{self.item}/save", body, headers)
                if status == 200 and json.loads(text)["saved"]:
                    break
                assert status in (500, 502, 503), f"{status} {text[:300]}"
            except (OSError, http.client.HTTPException):
                pass
            assert time.monotonic() < deadline, "a save was not acknowledged in time"
            time.sleep(PAUSE)
        self.latencies.append(time.monotonic() - begun)
        self.acknowledged.append(key)


def crowd(server: Server, token: str, n: int) -> list[Annotator]:
    """People who came in by the link and have an item each; they come at once, as after an announcement."""

    def come(_: int) -> Annotator:
        person = Annotator(server.port, token)
        person.next_item()
        return person

    with ThreadPoolExecutor(min(n, 8)) as pool:
        return list(pool.map(come, range(n)))


def together(people: list[Annotator], work) -> None:
    """Everybody works at once; the first failure is raised here."""
    failures: list[BaseException] = []

    def run(person: Annotator, number: int) -> None:
        try:
            work(person, number)
        except BaseException as failure:  # noqa: BLE001 - raised again below
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(person, at)) for at, person in enumerate(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for person in people:
        person.close()
    if failures:
        raise failures[0]


def many(people: list[Annotator], saves: int) -> None:
    """So many saves, as fast as they are acknowledged, a few an item."""

    def work(person: Annotator, number: int) -> None:
        for at in range(saves // len(people)):
            if at % SAVES_AN_ITEM == 0:
                person.next_item()
            person.save()

    together(people, work)


def offered(people: list[Annotator], rate: float, seconds: float) -> list[float]:
    """Saves at a fixed rate whatever the server does; latencies count from when each was due."""
    for person in people:
        person.latencies.clear()
    begin = time.monotonic() + 0.5
    total = int(rate * seconds)

    def work(person: Annotator, number: int) -> None:
        for place, at in enumerate(range(number, total, len(people))):
            if (place + number) % SAVES_AN_ITEM == 0:  # people do not all turn the page at once
                person.next_item()
            due = begin + at / rate
            time.sleep(max(0.0, due - time.monotonic()))
            person.save(sent_at=due)

    together(people, work)
    return sorted(latency for person in people for latency in person.latencies)


def percentile(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


def moments(seed: int, n: int, low: float, high: float) -> list[float]:
    """Seeded random pauses between kills."""
    draw = random.Random(seed)
    return [draw.uniform(low, high) for _ in range(n)]


def lost_and_doubled(server: Server, people: list[Annotator], out: Path) -> tuple[int, int]:
    """Acknowledged saves that are not in the export, and saves that are in it twice."""
    from collections import Counter

    from deadpan.formats.judgments import read_export

    server.command("export", "load", "--out", str(out))
    stored = Counter(j.answer for j in read_export(out).judgments if j.question == "comment")
    acknowledged = {key for person in people for key in person.acknowledged}
    return len(acknowledged - stored.keys()), sum(count > 1 for count in stored.values())


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL server of one's own; its address. Raises LookupError where there is none to start."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(found[-1]) if found else shutil.which("initdb")
    if not initdb:
        raise LookupError("needs PostgreSQL: apt-get install postgresql")
    as_user = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
    # Not under pytest's own folder: only its owner may look into that, and PostgreSQL will not run as root.
    folder = Path(tempfile.mkdtemp(prefix="deadpan-postgres-"))
    folder.chmod(0o755)
    data, port = folder / "pg", free_port()
    data.mkdir()
    if as_user:
        shutil.chown(data, "postgres", "postgres")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/", **as_user}
    subprocess.run([initdb, "-D", str(data), "-A", "trust", "-U", "studio", "--no-sync"], check=True, **quiet)
    binary = str(Path(initdb).parent / "postgres")
    words = [binary, "-D", str(data), "-p", str(port), "-k", str(data), "-c", "listen_addresses=127.0.0.1"]
    process = subprocess.Popen(words, **quiet)
    try:
        ready = [str(Path(initdb).parent / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
        while subprocess.run(ready, check=False, **quiet).returncode:
            assert process.poll() is None, "PostgreSQL did not start"
            time.sleep(PAUSE)
        yield f"postgres://studio@127.0.0.1:{port}/postgres"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def new_database(name: str) -> str:
    """An empty database on the PostgreSQL server that all tests of this process share; its address."""
    import psycopg

    server = _shared_postgres()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return server.replace("/postgres", f"/{name}")


@cache
def _shared_postgres() -> str:
    started = postgres()
    url = started.__enter__()
    atexit.register(started.__exit__, None, None, None)
    return url
