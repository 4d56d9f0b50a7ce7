"""The gate in front of every route: request ids, keys, rates, errors as JSON, metrics, headers, log lines."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deadpan.errors import DeadpanError
from deadpan.serve.limits import RateLimit
from deadpan.serve.refusals import Refusal
from deadpan.serve.settings import hash_key

if TYPE_CHECKING:
    from deadpan.serve.app import Service

log = logging.getLogger("deadpan.serve")
OPEN_PATHS = frozenset({"/", "/docs", "/health", "/v1/openapi.json", "/openapi.json"})
"""Paths that need no key: they say nothing about anybody's texts. So do the assets of the pages."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_STATUS = {
    404: ("not_found", "no such address: see /docs"),
    405: ("wrong_method", "this address does not take that method: see /docs"),
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class Gate:
    """An ASGI application around the routes. Neither texts nor keys are ever logged."""

    def __init__(self, inner: ASGIApp, service: Service, paths: frozenset[str]) -> None:
        self.inner, self.service, self.paths = inner, service, paths
        self.settings, self.metrics = service.settings, service.metrics
        self.rate = RateLimit(service.settings.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["id"] = request_id
        started, status = time.perf_counter(), 0
        self.metrics.under_way += 1

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": list(message["headers"])}
                self._dress(MutableHeaders(raw=message["headers"]), headers, request_id)
            await send(message)

        try:
            await self._answer(scope, receive, sending, headers, lambda: bool(status))
        finally:
            self.metrics.under_way -= 1
            seconds = time.perf_counter() - started
            path = scope["path"] if scope["path"] in self.paths else "other"
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self.metrics.count(method, path, status, seconds)
            log.info("%s %s %s %d %.1f ms", request_id, method, path, status, 1000 * seconds)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, begun: Callable[[], bool]
    ) -> None:
        request_id = scope["state"]["id"]
        try:
            if scope["method"] == "OPTIONS" and self._origin(headers):
                await Response(status_code=204)(scope, receive, send)
                return
            self._admit(scope, headers)
            await self.inner(scope, receive, _Mended(send, request_id))
        except Refusal as refusal:
            why = refusal
        except DeadpanError as bad:
            why = Refusal(500, "failed", " ".join(str(bad).split())[:300])
        except Exception:
            log.exception("%s failed", request_id)
            why = Refusal(500, "failed", "something went wrong; the log has details under the request id")
        else:
            return
        if begun():  # a stream that was cut short cannot be answered a second time
            log.error("%s ended early: %s", request_id, why)
        else:
            await _refuse(why, request_id)(scope, receive, send)

    def _admit(self, scope: Scope, headers: Headers) -> None:
        """Check the key, then the rate; pages and health are free of both."""
        path = scope["path"]
        if path in OPEN_PATHS or path.startswith("/assets/"):
            return
        client = (scope.get("client") or ("unknown",))[0]
        if self.settings.keys:
            client = self._key(headers)
        if path.startswith("/v1/"):
            self.rate.take(client)

    def _key(self, headers: Headers) -> str:
        """Return the hash of a known key, or refuse. All keys are compared, so timing reveals nothing."""
        word = headers.get("authorization", "")
        key = word[7:].strip() if word[:7].lower() == "bearer " else headers.get("x-api-key", "")
        given = hash_key(key)
        known = [hmac.compare_digest(given, one) for one in self.settings.keys]
        if not any(known):
            cure = "send Authorization: Bearer KEY"
            raise Refusal(
                401, "no_key", f"the key is not known: {cure}" if key else f"a key is needed: {cure}"
            )
        return given

    def _origin(self, headers: Headers) -> str:
        origin = headers.get("origin", "")
        return origin if origin in self.settings.origins else ""

    def _dress(self, answer: MutableHeaders, headers: Headers, request_id: str) -> None:
        answer["X-Request-Id"] = request_id
        for name, value in HEADERS.items():
            answer[name] = value
        if origin := self._origin(headers):
            answer["Access-Control-Allow-Origin"] = origin
            answer["Access-Control-Allow-Headers"] = "authorization, content-type, x-api-key, x-request-id"
            answer["Access-Control-Allow-Methods"] = "GET, POST"
            answer["Vary"] = "Origin"


_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"})


class _Mended:
    """Pass messages on, but say 404 and 405 in JSON, where the router says them in plain text."""

    def __init__(self, send: Send, request_id: str) -> None:
        self.send, self.id = send, request_id
        self.replaced: Mapping[str, object] | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in _STATUS:
            code, words = _STATUS[message["status"]]
            self.replaced = Refusal(message["status"], code, words).body(self.id)
            body = orjson.dumps(self.replaced)
            kept = [
                pair for pair in message["headers"] if pair[0] not in (b"content-length", b"content-type")
            ]
            length = (b"content-length", str(len(body)).encode())
            headers = [*kept, (b"content-type", b"application/json"), length]
            await self.send({**message, "headers": headers})
            await self.send({"type": "http.response.body", "body": body})
        elif self.replaced is None:
            await self.send(message)


def _refuse(refusal: Refusal, request_id: str) -> Response:
    headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    body = orjson.dumps(refusal.body(request_id))
    return Response(body, refusal.status, headers, media_type="application/json")
