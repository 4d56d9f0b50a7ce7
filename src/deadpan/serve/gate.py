"""The gate in front of every route: request ids, keys, rates, metrics, security headers and log lines."""

from __future__ import annotations

import hmac
import logging
import math
import re
import secrets
import time
from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from deadpan import __version__
from deadpan.serve.server import ServeSettings, hash_key

if TYPE_CHECKING:
    from deadpan.serve.app import Service

log = logging.getLogger("deadpan.serve")
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"})
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class ApiError(Exception):
    """An answer other than 2xx: a status, a code for programs, a sentence for people and the wrong field."""

    def __init__(
        self, status: int, code: str, message: str, *, field: str = "", retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field
        self.retry_after = retry_after

    def headers(self) -> dict[str, str]:
        """Return the headers of the answer."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return headers | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})


class Gate:
    """An ASGI application around the routes. Neither texts nor keys are ever logged."""

    def __init__(self, app: Any, service: Service, paths: frozenset[str]) -> None:
        self.app, self.service, self.paths = app, service, paths

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = read_header(scope, b"x-request-id")
        request_id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        # The server drops the body of the answer to HEAD itself.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        inner = {**scope, "method": method, "state": {**scope.get("state", {}), "id": request_id}}
        started, status = time.perf_counter(), 0
        self.service.counts.under_way += 1

        async def sending(message: Mapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": add_headers(message["headers"], request_id)}
            await send(message)

        try:
            await self.app(inner, receive, sending)
        except Exception:  # only after a stream began: before that, the routes answer every error
            log.exception("%s ended early", request_id)
        finally:
            self.service.counts.under_way -= 1
            seconds = time.perf_counter() - started
            path = scope["path"] if scope["path"] in self.paths else "other"
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self.service.counts.count(method, path, status, seconds)
            log.info("%s %s %s %d %.1f ms", request_id, method, path, status, 1000 * seconds)


def read_header(scope: Mapping[str, Any], name: bytes) -> str:
    """Return a header of a request, or an empty text."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def add_headers(headers: Any, request_id: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with its id and those that keep browsers careful."""
    added = {"X-Request-Id": request_id, **_HEADERS}
    return [*headers, *((name.lower().encode(), value.encode()) for name, value in added.items())]


def find_client(scope: Mapping[str, Any], settings: ServeSettings) -> str:
    """Return who asks: the hash of a known key, or the address where there are no keys."""
    if not settings.keys:
        return str((scope.get("client") or ("unknown",))[0])
    word = read_header(scope, b"authorization")
    key = word[7:].strip() if word[:7].lower() == "bearer " else read_header(scope, b"x-api-key")
    given = hash_key(key)
    # All keys are compared, so that the time taken reveals nothing.
    if sum(hmac.compare_digest(given, known) for known in settings.keys) == 0:
        hint = "send Authorization: Bearer KEY"
        raise ApiError(401, "no_key", f"the key is not known: {hint}" if key else f"a key is needed: {hint}")
    return given


MOST_CLIENTS = 10_000
"""Clients that are remembered; the one that was quiet longest is forgotten first."""


class RateLimit:
    """At most `per_minute` requests of one client, a tenth of them at once; 0: no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second = per_minute / 60
        self.size = max(per_minute / 10, 1.0)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request, or refuse it with the seconds after which one would be let in."""
        if not self.per_second:
            return
        now = self._clock()
        left, then = self._buckets.pop(client, (self.size, now))
        left = min(self.size, left + (now - then) * self.per_second)
        self._buckets[client] = (max(left - 1, 0) if left >= 1 else left, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self.per_second)
            raise ApiError(429, "too_many_requests", f"slow down: try again in {wait} s", retry_after=wait)


_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Requests by path and status, their duration, texts by model and answer, requests under way."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.answers: Counter[tuple[str, str]] = Counter()
        self.buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_SECONDS) + 1))
        self.seconds: Counter[str] = Counter()
        self.under_way = 0

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        self.requests[method, path, status] += 1
        self.buckets[path][bisect_left(_SECONDS, seconds)] += 1
        self.seconds[path] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        """Return everything in the text format."""
        lines = [*_about("info", "gauge", "Version of the program."), f'deadpan_info{{version="{__version__}"}} 1']
        lines += _about("requests_total", "counter", "Finished requests.")
        for (method, path, status), n in sorted(self.requests.items()):
            lines.append(f'deadpan_requests_total{{method="{method}",path="{path}",status="{status}"}} {n}')
        lines += _about("texts_total", "counter", "Texts judged, by model and answer.")
        for (model, answer), n in sorted(self.answers.items()):
            name = model.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'deadpan_texts_total{{model="{name}",answer="{answer}"}} {n}')
        lines += _about("requests_in_progress", "gauge", "Requests under way.")
        lines.append(f"deadpan_requests_in_progress {self.under_way}")
        told = "Time from a request to the last byte of its answer."
        lines += _about("request_seconds", "histogram", told)
        for path, counts in sorted(self.buckets.items()):
            below = 0
            for limit, n in zip((*map(str, _SECONDS), "+Inf"), counts, strict=True):
                below += n
                lines.append(f'deadpan_request_seconds_bucket{{path="{path}",le="{limit}"}} {below}')
            lines.append(f'deadpan_request_seconds_sum{{path="{path}"}} {self.seconds[path]:.6f}')
            lines.append(f'deadpan_request_seconds_count{{path="{path}"}} {below}')
        return "\n".join(lines) + "\n"


def _about(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP deadpan_{name} {words}", f"# TYPE deadpan_{name} {kind}"]
