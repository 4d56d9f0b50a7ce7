"""The application: pages, routes, what each answers, and the OpenAPI document made from them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from importlib.resources import files
from string import Template
from typing import Any

import msgspec
from litestar import Litestar, MediaType, Request, Response, Router, get, post
from litestar.config.cors import CORSConfig
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.exceptions import HTTPException, InternalServerException, ValidationException
from litestar.handlers import BaseRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Components, License, SecurityScheme
from litestar.params import JSONBody
from litestar.response import Stream
from msgspec import UNSET

from deadpan import __version__
from deadpan.detect.detector import BASE
from deadpan.errors import DeadpanError
from deadpan.formats.labels import label_word
from deadpan.llm import EMBEDDED_PREFIX, LLMSettings
from deadpan.page import stylesheet
from deadpan.page.markup import escape
from deadpan.records import Example
from deadpan.serve import bodies
from deadpan.serve.bodies import LONGEST_TEXT, DetectAnswer, DetectRequest, HealthAnswer, ModelsAnswer, ReadingRequest
from deadpan.serve.catalogue import Catalogue, answer, reader_settings, stream_reading
from deadpan.serve.gate import ApiError, Gate, Metrics, RateLimit, find_client
from deadpan.serve.server import ServeSettings, is_loopback

_SAMPLE_TEXTS = {
    "A meeting": "Oh great, another meeting that could have been an email.",
    "A thank-you": "Thank you so much for your help yesterday!",
    "Room temperature": "A: I never actually switched the oven on.\n"
    "B: So we're having it at room temperature, the traditional way.",
    "야근": "A: 오늘도 야근이래.\nB: 와, 진짜 행복하다.",
}
_SMALL_MODEL = f"{EMBEDDED_PREFIX}smollm2-135m"
_KEY = '<p><label for="key">Key</label><br><input id="key" type="password" autocomplete="off"></p>'


def read_static(name: str) -> str:
    """Return a file of the pages."""
    return files("deadpan.serve").joinpath("static", name).read_text(encoding="utf-8")


def playground_page(settings: ServeSettings, reader: str, taught: str) -> str:
    """Return the page where a person types a conversation and sees what each detector makes of it."""
    examples = "".join(
        f'<button type="button" class="chip" data-text="{escape(text)}">{escape(name)}</button>'
        for name, text in _SAMPLE_TEXTS.items()
    )
    caution = (
        "It is very small and only meant for trying this out: what it says is rarely right. deadpan models "
        "pull qwen2.5-coder-1.5b (1.1 GB) adds a better one."
        if reader == _SMALL_MODEL
        else "It can be wrong, and says so less often than it should."
    )
    reading = (
        _fill("reading.html", reader=escape(reader), caution=caution)
        if reader
        else '<p class="note">No language model is available: deadpan models pull qwen2.5-coder-1.5b adds '
        "one that says what the speaker means.</p>"
    )
    key = _KEY if settings.keys else ""
    body = _fill(
        "playground.html", longest=str(LONGEST_TEXT), key=key, examples=examples, reading=reading, taught=escape(taught)
    )  # fmt: skip
    return _page("Is it sarcastic?", "Type what somebody said, and see what each detector makes of it and why.", body)


def docs_page(document: dict[str, Any], address: str) -> str:
    """Return the description of every path, made from the OpenAPI document; examples call `address`."""
    parts = [f"<p>{escape(document['info']['description'])}</p>"]
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            parts.append(f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(about['description'])}</p>")
            parts += _examples(f"{address}{path}", about)
            rows = "".join(
                f"<tr><td>{escape(status)}</td><td>{escape(answer['description'])}</td></tr>"
                for status, answer in about["responses"].items()
            )
            head = "<thead><tr><th>status</th><th>meaning</th></tr></thead>"
            parts.append(f'<div class="table"><table>{head}<tbody>{rows}</tbody></table></div>')
    parts.append(
        "<h2>Errors</h2><p>Every error is JSON with a code for programs, a message for people, the field "
        "that is wrong, and the request id, which is also in the X-Request-Id header of every answer.</p>"
    )
    error = {"error": {"code": "no_text", "message": "the text is empty", "field": "text"}, "request_id": "9f1c"}
    parts.append(f'<pre tabindex="0"><code>{escape(json.dumps(error, indent=1))}</code></pre>')
    return _page("The service", "Call the detectors from a program.", "\n".join(parts))


def _examples(url: str, about: dict[str, Any]) -> list[str]:
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    found = []
    key = " -H 'authorization: Bearer KEY'" if about.get("security") else ""
    for name, example in content.get("examples", {}).items():
        data = json.dumps(example["value"], ensure_ascii=False).replace("'", "'\\''")
        command = f"curl {url} -H 'content-type: application/json'{key} \\\n  -d '{data}'"
        found.append(f'<h3>{escape(name)}</h3><pre tabindex="0"><code>{escape(command)}</code></pre>')
    return found


def _page(title: str, lead: str, body: str) -> str:
    return _fill("page.html", title=escape(title), lead=escape(lead), body=body, version=__version__)


def _fill(name: str, **values: str) -> str:
    return Template(read_static(name)).substitute(values)


log = logging.getLogger("deadpan.serve")
BODY_SECONDS = 30.0
"""Time for a client to send its whole body."""
_ASSETS = {"look.css": "text/css", "playground.js": "text/javascript", "playground.css": "text/css"}


class StrictRequest(Request[Any, Any, Any]):
    """A request whose body arrives in time and is read as exactly the type that the route names.

    Litestar would convert leniently ("explain": 1 is true) and word its errors without a code.
    """

    async def body(self) -> bytes:
        """Return the body, of limited size and within a limited time."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await super().body()
        except TimeoutError:
            raise ApiError(408, "too_slow", "the body did not arrive in time") from None
        except InternalServerException:
            raise ApiError(400, "disconnected", "the client went away") from None

    async def json(self) -> Any:
        """Return the body as the type of the route's `data`."""
        kind: type = self.route_handler.parsed_fn_signature.parameters["data"].annotation
        return bodies.read_body(await self.body(), kind)


AnyRequest = Request[Any, Any, Any]


class Service:
    """Settings, detectors, counts and the language model, which the routes share."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.catalogue = Catalogue(settings)
        self.counts = Metrics()
        self.rate = RateLimit(settings.rate)
        self.reader = reader_settings(settings)
        # The embedded model takes one reading at a time.
        self.readings = asyncio.Semaphore(1)
        self.document: dict[str, Any] = {}


def _service(connection: ASGIConnection[Any, Any, Any, Any]) -> Service:
    service: Service = connection.app.state.service
    return service


async def admit(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Check the key, then the rate; pages and health are free of both."""
    service = _service(connection)
    client = find_client(connection.scope, service.settings)
    if connection.scope["path"].startswith("/v1/"):
        service.rate.take(client)


async def check_host(request: AnyRequest) -> None:
    """Refuse a page of another site that made the browser take its own name for this machine."""
    settings = _service(request).settings
    # Not request.url: it decodes the query, which may be any bytes. Without the header no browser is asking.
    named = request.headers.get("host", "")
    host = named.rpartition("]")[0].removeprefix("[") or named.partition(":")[0]
    if named and not (settings.keys or settings.open or is_loopback(host) or host == settings.host):
        hint = f"open http://{settings.host}:{settings.port}, or start the service with keys"
        raise ApiError(403, "foreign_host", f"this service answers to its own address only: {hint}")


_MEANINGS = {
    400: "Not JSON.", 401: "No key, or an unknown one.", 404: "No such model.",
    408: "The body arrived too slowly.", 413: "Too large.", 422: "A field is wrong; the answer names it.",
    429: "Too many requests; see Retry-After.", 503: "Busy, or no language model.",
}  # fmt: skip


def _errors(*statuses: int) -> dict[int, ResponseSpec]:
    return {
        status: ResponseSpec(bodies.ErrorAnswer, generate_examples=False, description=_MEANINGS[status])
        for status in statuses
    }


# ---------------------------------------------------------------- JSON


@post("/v1/detect", status_code=200, responses=_errors(400, 401, 404, 408, 413, 422, 429, 503))
async def detect(data: JSONBody[DetectRequest], request: AnyRequest) -> DetectAnswer:
    """Judge one text, a batch or a conversation: exactly one of text, texts, inputs and conversation.

    At most 4,096 texts of 20,000 characters each, 4 MB in all; 20 texts with explain. Results are in the
    order of the request. The label is "cannot tell" where a score is too close to call (GET /v1/models
    gives the limits), and "not supported" for a language that the detector does not know.
    """
    service, examples = _service(request), data.examples()
    model = service.catalogue.find(data.model).at(data.prevalence)
    predictions = await model.predict(examples)
    for prediction in predictions:
        service.counts.answers[model.name, label_word(prediction) or "unread"] += 1
    if not data.explain:
        return DetectAnswer(model.name, list(map(answer, predictions)), request.state.id)
    results = [
        await asyncio.to_thread(model.explained, example, prediction)
        for example, prediction in zip(examples, predictions, strict=True)
    ]
    return DetectAnswer(model.name, results, request.state.id, model.limits())


@post(
    "/v1/reading", status_code=200, media_type="text/event-stream",
    responses=_errors(400, 401, 408, 413, 422, 429, 503),
)  # fmt: skip
async def reading(data: JSONBody[ReadingRequest], request: AnyRequest) -> Stream:
    """Stream what a language model takes the speaker to mean.

    Server-sent events: start {model}, piece {text} many times, then done or error.
    """
    service, example = _service(request), data.examples()[-1]
    if service.reader is None:
        hint = "pull one with deadpan models pull qwen2.5-coder-1.5b, or start with --llm and --base-url"
        raise ApiError(503, "no_language_model", f"no language model is available: {hint}")
    if service.readings.locked():
        raise ApiError(503, "busy", "the language model is busy with another request", retry_after=5)
    return Stream(_events(service, service.reader, example), media_type="text/event-stream")


async def _events(service: Service, reader: LLMSettings, example: Example) -> AsyncIterator[bytes]:
    async with service.readings:
        yield _event("start", {"model": reader.model})
        try:
            async for piece in stream_reading(reader, example):
                yield _event("piece", {"text": piece})
        except DeadpanError as bad:
            message = " ".join(str(bad).split())
            yield _event("error", {"error": {"code": "no_answer", "message": message}})
            return
        yield _event("done", {})


def _event(name: str, value: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(value) + b"\n\n"


@get("/v1/models", responses=_errors(401, 429))
async def models(request: AnyRequest) -> ModelsAnswer:
    """List the detectors, and the language model if there is one."""
    service = _service(request)
    reader = bodies.ReaderAbout(service.reader.model) if service.reader else None
    found = [model.about() for model in service.catalogue.models.values()]
    return ModelsAnswer(found, reader, request.state.id)


@get("/metrics", media_type="text/plain; version=0.0.4; charset=utf-8", responses=_errors(401))
async def metrics(request: AnyRequest) -> str:
    """Return counters for Prometheus."""
    return _service(request).counts.text()


@get("/health")
async def health(request: AnyRequest) -> HealthAnswer:
    """Say that the service is up."""
    return HealthAnswer("ok", __version__, list(_service(request).catalogue.models))


@get("/v1/openapi.json")
async def openapi(request: AnyRequest) -> dict[str, Any]:
    """Return this document."""
    return _service(request).document


# ---------------------------------------------------------------- pages


@get("/openapi.json", include_in_schema=False)
async def root_openapi(request: AnyRequest) -> dict[str, Any]:
    """Return the description where tools look for it."""
    return _service(request).document


@get("/", media_type=MediaType.HTML, include_in_schema=False)
async def playground(request: AnyRequest) -> str:
    """Return the page where a person types a text."""
    service = _service(request)
    taught = service.catalogue.models[BASE].taught_by()
    return playground_page(service.settings, service.reader.model if service.reader else "", taught)


@get("/docs", media_type=MediaType.HTML, include_in_schema=False)
async def docs(request: AnyRequest) -> str:
    """Return the description of the service for people, with the address at which they see it."""
    service = _service(request)
    host = request.headers.get("host") or f"{service.settings.host}:{service.settings.port}"
    return docs_page(service.document, f"{request.scope['scheme']}://{host}")


@get([f"/assets/{name}" for name in _ASSETS], include_in_schema=False)
async def asset(request: AnyRequest) -> Response[str]:
    """Return a style sheet or script of the pages."""
    name = request.scope["path"].rpartition("/")[2]
    text = stylesheet() if name == "look.css" else read_static(name)
    return Response(text, media_type=_ASSETS[name], headers={"Cache-Control": "max-age=300"})


# ---------------------------------------------------------------- the application


def create_app(settings: ServeSettings | None = None) -> Gate:
    """Return the ASGI application; detectors are loaded now, so that the first request is not slow."""
    settings = settings or ServeSettings()
    service = Service(settings)
    security: Any = [{"key": []}, {"header": []}] if settings.keys else None
    guarded = Router("/", route_handlers=[detect, reading, models, metrics], guards=[admit], security=security)
    routes: list[Any] = [guarded, health, openapi, root_openapi, playground, docs, asset,
    ]  # fmt: skip
    cors = CORSConfig(
        allow_origins=list(settings.origins),
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type", "x-api-key", "x-request-id"],
    )
    app = Litestar(
        routes,
        request_class=StrictRequest,
        before_request=check_host,
        request_max_body_size=bodies.MOST_BYTES,
        cors_config=cors if settings.origins else None,
        exception_handlers={Exception: error_response},
        openapi_config=None,
        logging_config=None,
        state=State({"service": service}, deep_copy=False),
    )
    service.document = _describe(routes)
    return Gate(app, service, frozenset(route.path for route in app.routes))


_CONVERSATION = {
    "conversation": [
        {"speaker": "A", "text": "I never switched the oven on."},
        {"speaker": "B", "text": "So we're having it at room temperature, the traditional way."},
    ]
}
_EXAMPLES: dict[str, dict[str, object]] = {
    "/v1/detect": {
        "one text": {"text": "Oh great, another delay.", "explain": True},
        "a batch": {"texts": ["Oh great, another delay.", "The bus leaves at nine."]},
        "a conversation": _CONVERSATION,
    },
    "/v1/reading": {"a conversation": _CONVERSATION},
}


def _describe(routes: list[Any]) -> dict[str, Any]:
    """Return the OpenAPI document of the routes."""
    config = OpenAPIConfig(
        "deadpan",
        __version__,
        use_handler_docstrings=True,
        operation_id_creator=lambda handler, method, path: str(handler.handler_name.rpartition(".")[2]),
        license=License("Apache-2.0", identifier="Apache-2.0"),
        description="Judges texts and conversations: how likely is it that they are sarcastic? "
        "Scores are statistical guesses. Texts are neither stored nor logged.",
        components=Components(
            security_schemes={
                "key": SecurityScheme("http", scheme="bearer"),
                "header": SecurityScheme("apiKey", name="X-API-Key", security_scheme_in="header"),
            }
        ),
    )
    # An application of its own: one with a document would also serve Litestar's pages, which load
    # their scripts from elsewhere.
    document = Litestar(routes, openapi_config=config, logging_config=None).openapi_schema.to_schema()
    for path, examples in _EXAMPLES.items():
        content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        content["examples"] = {name: {"value": value} for name, value in examples.items()}
    # msgspec's own schemas also say that other fields are refused and how long a text in a list may be.
    kinds = [getattr(bodies, name) for name in document["components"]["schemas"]]
    _, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    document["components"]["schemas"] = schemas
    return document


_STATUS = {
    404: ("not_found", "no such address: see /docs"),
    405: ("wrong_method", "this address does not take that method: see /docs"),
    413: ("body_too_large", f"send at most {bodies.MOST_BYTES:,} bytes"),
}


def error_response(request: Request[Any, Any, Any], bad: Exception) -> Response[bodies.ErrorAnswer]:
    """Return any failure as JSON; what went wrong inside is logged, not told."""
    request_id = request.scope["state"]["id"]
    if isinstance(bad, ApiError):
        error = bad
    elif isinstance(bad, DeadpanError):
        error = ApiError(500, "failed", " ".join(str(bad).split())[:300])
    elif isinstance(bad, HTTPException) and bad.status_code in _STATUS:
        error = ApiError(bad.status_code, *_STATUS[bad.status_code])
    elif isinstance(bad, ValidationException):  # all else about a body is said by read_body
        error = ApiError(400, "not_json", 'the body is empty: send {"text": "..."}')
    elif isinstance(bad, HTTPException) and bad.status_code < 500:
        error = ApiError(bad.status_code, "bad_request", bad.detail)
    else:
        log.error("%s failed", request_id, exc_info=bad)
        error = ApiError(500, "failed", "something went wrong; the log has details under the request id")
    detail = bodies.ErrorDetail(error.code, error.message, error.field or UNSET)
    return Response(
        bodies.ErrorAnswer(detail, request_id), status_code=error.status, headers=error.headers(),
        media_type=MediaType.JSON,
    )  # fmt: skip
