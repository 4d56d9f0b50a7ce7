"""The application: routes and what each answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from functools import partial
from importlib.resources import files
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from deadpan import __version__
from deadpan.errors import DeadpanError
from deadpan.formats.labels import label_word
from deadpan.page import stylesheet
from deadpan.serve.catalogue import Catalogue, prediction_json
from deadpan.serve.gate import Gate
from deadpan.serve.metrics import TYPE, Metrics
from deadpan.serve.openapi import openapi
from deadpan.serve.pages import docs_page, playground_page
from deadpan.serve.readings import failure, reader_settings, stream_reading
from deadpan.serve.refusals import Refusal
from deadpan.serve.requests import read_detect, read_one
from deadpan.serve.settings import ServeSettings

BODY_SECONDS = 30.0
"""Time for a client to send its whole body."""
READINGS = 1
"""Readings at a time; the embedded model takes one."""
ASSETS = {"playground.js": "text/javascript", "playground.css": "text/css"}

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")


class Service:
    """Settings, detectors, metrics and the language model, which the routes share."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.catalogue = Catalogue(settings)
        self.metrics = Metrics()
        self.reader = reader_settings(settings)
        self._readings = asyncio.Semaphore(READINGS)

    async def body(self, request: Request) -> bytes:
        """Return the body, of limited size and within a limited time."""
        most, parts, size = self.settings.most_bytes, [], 0
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise Refusal(413, "body_too_large", f"{int(length):,} bytes: send at most {most:,}")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise Refusal(413, "body_too_large", f"send at most {most:,} bytes")
                    parts.append(part)
        except TimeoutError:
            raise Refusal(408, "too_slow", "the body did not arrive in time") from None
        except ClientDisconnect:
            raise Refusal(400, "disconnected", "the client went away") from None
        return b"".join(parts)

    # ------------------------------------------------------------ JSON

    async def detect(self, request: Request) -> Response:
        """Judge one text, a batch or a conversation."""
        asked = read_detect(await self.body(request), self.settings)
        model = self.catalogue.find(asked.model)
        predictions = await model.batches.predict(asked.examples)
        results = [prediction_json(prediction) for prediction in predictions]
        for prediction in predictions:
            self.metrics.answers[model.name, label_word(prediction) or "unread"] += 1
        if asked.explain:
            for result, example, prediction in zip(results, asked.examples, predictions, strict=True):
                result |= await asyncio.to_thread(model.explanation_json, example, prediction)
        answer: dict[str, Any] = {"model": model.name, "results": results}
        if asked.explain:
            answer["limits"] = model.limits()
        return _json({**answer, "request_id": request.state.id})

    async def models(self, request: Request) -> Response:
        """List the detectors, and the language model if there is one."""
        found = [model.about() for model in self.catalogue.models.values()]
        reader = None if self.reader is None else {"id": self.reader.model}
        return _json({"models": found, "reader": reader, "request_id": request.state.id})

    async def health(self, request: Request) -> Response:
        """Say that the service is up."""
        return _json({"status": "ok", "version": __version__, "models": list(self.catalogue.models)})

    async def openapi(self, request: Request) -> Response:
        """Describe the service."""
        return _json(openapi(self.settings))

    async def counters(self, request: Request) -> Response:
        """Return the metrics."""
        return PlainTextResponse(self.metrics.text(), media_type=TYPE)

    async def reading(self, request: Request) -> Response:
        """Stream what a language model takes the speaker to mean, as server-sent events."""
        example = read_one(await self.body(request), self.settings)
        if self.reader is None:
            cure = (
                "pull one with deadpan models pull qwen2.5-coder-1.5b, or start with --reader and --base-url"
            )
            raise Refusal(503, "no_language_model", f"no language model is available: {cure}")
        if self._readings.locked():
            raise Refusal(503, "busy", "the language model is busy with another request", retry_after=5)
        return StreamingResponse(self._events(example), media_type="text/event-stream")

    async def _events(self, example: Any) -> AsyncIterator[bytes]:
        assert self.reader is not None
        async with self._readings:
            yield _event("start", {"model": self.reader.model})
            try:
                async for piece in stream_reading(self.reader, example):
                    yield _event("piece", {"text": piece})
            except DeadpanError as bad:
                yield _event("error", {"error": {"code": "no_answer", "message": failure(bad)}})
                return
            yield _event("done", {})

    # ------------------------------------------------------------ pages

    async def playground(self, request: Request) -> Response:
        """Return the page where a person types a text."""
        return HTMLResponse(playground_page(self.settings, self.reader.model if self.reader else ""))

    async def docs(self, request: Request) -> Response:
        """Return the description of the service for people."""
        return HTMLResponse(docs_page(openapi(self.settings), self._address(request)))

    def _address(self, request: Request) -> str:
        """Return the address at which the client sees the service: the Host header, if it is one."""
        host = request.headers.get("host", "")
        host = host if _HOST.fullmatch(host) else f"{self.settings.host}:{self.settings.port}"
        return f"{request.scope['scheme']}://{host}"

    async def asset(self, request: Request, name: str) -> Response:
        """Return a style sheet or script of the pages."""
        text = files("deadpan.serve").joinpath("static", name).read_text(encoding="utf-8")
        return Response(text, media_type=ASSETS[name], headers={"Cache-Control": "max-age=300"})

    async def look(self, request: Request) -> Response:
        """Return the style sheet that all pages share."""
        return Response(stylesheet(), media_type="text/css", headers={"Cache-Control": "max-age=300"})


def create_app(settings: ServeSettings | None = None) -> Gate:
    """Return the ASGI application; detectors are loaded now, so that the first request is not slow."""
    service = Service(settings or ServeSettings())
    routes = [
        Route("/v1/detect", service.detect, methods=["POST"]),
        Route("/v1/reading", service.reading, methods=["POST"]),
        Route("/v1/models", service.models),
        Route("/v1/openapi.json", service.openapi),
        Route("/openapi.json", service.openapi),  # where tools look for it
        Route("/health", service.health),
        Route("/metrics", service.counters),
        Route("/docs", service.docs),
        Route("/", service.playground),
        Route("/assets/look.css", service.look),
        *(Route(f"/assets/{name}", partial(service.asset, name=name)) for name in ASSETS),
    ]
    inner = Router(routes=routes)
    paths = frozenset(route.path for route in routes)
    return Gate(inner, service, paths)


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")


def _event(name: str, value: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(value) + b"\n\n"
