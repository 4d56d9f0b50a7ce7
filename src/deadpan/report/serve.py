"""A report on this computer's own address, rewritten when an output changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError, DeadpanError
from deadpan.report.build import TITLE, ReportSite, build_report
from deadpan.report.outputs import MANIFEST

HOST = "127.0.0.1"
SECONDS = 1.0
STATE = "/.state"
# The reload is added by the server: the files of the site have no such script.
RELOAD = (
    "let s;setInterval(()=>fetch('/.state').then(r=>r.text()).then(t=>{if(s&&t!==s)location.reload();s=t})"
    ".catch(()=>0),1000)"
)


def state_of(folders: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    """Return path, size and time of every manifest: it is written last, so a change is a finished output."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob(MANIFEST)):
            try:
                facts = path.stat()
            except FileNotFoundError:  # being written at this moment
                continue
            found.append((str(path), facts.st_size, facts.st_mtime_ns))
    return tuple(found)


class LiveReport:
    """A site and the folders it is about. `refresh` rewrites it if a manifest has changed."""

    def __init__(self, folders: Sequence[Path], out: Path, title: str = TITLE) -> None:
        self.folders = [Path(folder) for folder in folders]
        self.out, self.title = Path(out), title
        self.version = 0
        self.problem = ""
        self.site: ReportSite = build_report(self.folders, self.out, title=title)
        self._seen = state_of(self.folders)

    def refresh(self) -> bool:
        """Return True if the site was rewritten; after an error the old site stays."""
        now = state_of(self.folders)
        if now == self._seen:
            return False
        self._seen = now
        try:
            self.site = build_report(self.folders, self.out, title=self.title)
            self.problem = ""
        except DeadpanError as wrong:
            self.problem = str(wrong)
            return False
        self.version += 1
        return True


class _Handler(SimpleHTTPRequestHandler):
    live: LiveReport

    def __init__(self, *args: Any, live: LiveReport, **more: Any) -> None:
        self.live = live
        super().__init__(*args, directory=str(live.out), **more)

    def do_GET(self) -> None:
        if self.path == STATE:
            self._answer(str(self.live.version).encode(), "text/plain")
            return
        path = Path(self.translate_path(self.path))
        page = path / "index.html" if path.is_dir() else path
        if (
            page.suffix == ".html"
            and page.is_file()
            and page.resolve().is_relative_to(self.live.out.resolve())
        ):
            text = page.read_text(encoding="utf-8")
            text = text.replace(
                "default-src &#x27;none&#x27;;", "default-src &#x27;none&#x27;; connect-src &#x27;self&#x27;;"
            )
            text = _allow(text).replace("</body>", f"<script>{RELOAD}</script></body>")
            self._answer(text.encode(), "text/html; charset=utf-8")
            return
        super().do_GET()

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing about single requests."""


def _allow(text: str) -> str:
    """Return a page whose policy allows the reload script, by its hash, beside its own."""
    import base64
    import hashlib

    digest = base64.b64encode(hashlib.sha256(RELOAD.encode()).digest()).decode()
    own = f"&#x27;sha256-{digest}&#x27;"
    if "script-src " in text:
        return text.replace("script-src ", f"script-src {own} ", 1)
    return text.replace("style-src ", f"script-src {own}; style-src ", 1)


def serve_report(
    folders: Sequence[Path | str],
    out: Path | str,
    *,
    title: str = TITLE,
    port: int = 8765,
    ready: Callable[[ReportSite], object] = lambda site: None,
    stop: threading.Event | None = None,
) -> ReportSite:
    """Build a report, serve it on the loopback address, and rebuild it when an output changes."""
    live = LiveReport([Path(folder) for folder in folders], Path(out), title)
    stop = stop or threading.Event()
    try:
        server = ThreadingHTTPServer((HOST, port), partial(_Handler, live=live))
    except OSError as bad:
        raise ConfigError(f"port {port}: cannot be used ({bad.strerror}): give another --port") from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        ready(replace(live.site, address=f"http://{HOST}:{server.server_address[1]}/"))
        while not stop.wait(SECONDS):
            live.refresh()
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()
        server.server_close()
    return live.site


def write_or_serve(
    serve: bool,
    ready: Callable[[ReportSite], object],
    *,
    folders: Sequence[Path],
    out: Path,
    title: str,
    port: int,
) -> None:
    """Write a report, or write and serve it until stopped; `ready` shows it."""
    if serve:
        serve_report(folders, out, title=title, port=port, ready=ready)
    else:
        ready(build_report(folders, out, title=title))
