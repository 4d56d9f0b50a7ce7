"""Batch interfaces of OpenAI and Anthropic: many calls in one request, answered within a day at half the price.

Calls that are made at the same time are sent together. The name of every batch is in a journal before it is
waited for, so a run that was killed asks for the answers of its batches and pays for nothing twice.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from deadpan.errors import ConfigError, ModelError
from deadpan.journal import Journal
from deadpan.llm.calls import call_key
from deadpan.llm.costs import UNLIMITED_OUTPUT
from deadpan.llm.messages import Message, Usage
from deadpan.llm.retries import Failed
from deadpan.llm.settings import OPENAI, PROVIDERS, LLMSettings, find_key, split_name
from deadpan.llm.transport import STOPS, Answer, Endpoint, HttpTransport, find_endpoint, read_answer, sort_status

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger(__name__)

HALF = 0.5
"""The part of its ordinary price that a call costs, at both providers."""
GATHER = 0.2
"""Seconds without a further call after which a batch is sent."""
LARGEST = 10_000
"""Calls in one batch: OpenAI takes 50,000 in 200 MB, Anthropic 100,000 in 256 MB."""
FIRST_WAIT, LONGEST_WAIT = 0.25, 60.0
"""Seconds between two questions whether a batch has ended: each wait is half as long again as the last."""
_ANTHROPIC = PROVIDERS["anthropic"]
Results = dict[str, Any]
"""The results of a batch, by the name that each call has there."""


class BatchTransport(HttpTransport):
    """Calls through the batch interface of their provider; the journal at `path` keeps the names of batches.

    `sleep` waits between two looks at a batch, as an argument for tests.
    """

    def __init__(
        self, path: Path, *, private: bool = False, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        super().__init__()
        self.path = path
        self._private = private
        self._sleep = sleep
        self._waits: dict[str, asyncio.Task[Results]] = {}
        self._sending: set[asyncio.Task[None]] = set()
        self._queue: dict[str, tuple[dict[str, Any], asyncio.Future[str]]] = {}
        self._flush: asyncio.TimerHandle | None = None

    @cached_property
    def journal(self) -> Journal:
        """The journal of batches, made with the first one."""
        return Journal(self.path, private=self._private)

    @cached_property
    def _sent(self) -> dict[str, str]:
        """The batch of every call that was sent and whose answer has not been taken."""
        sent: dict[str, str] = {}
        for batch, row in self.journal.records() if self.path.exists() else ():
            if "failed" in row:
                sent = {name: at for name, at in sent.items() if at != batch}
            sent |= dict.fromkeys(row.get("calls", ()), batch)
        return sent

    def knows(self, messages: Sequence[Message], settings: LLMSettings, replicate: int) -> bool:
        """Return whether a call is in a batch that an earlier start of the run has sent."""
        return call_key(settings, messages, replicate) in self._sent

    def check(self, settings: LLMSettings) -> None:
        """Raise an error for a provider without a batch interface, or if the key is missing."""
        self._interface(settings)
        self._endpoint_of(settings)

    async def close(self) -> None:
        """Stop waiting and close the connections; batches go on at the provider."""
        for task in (*self._waits.values(), *self._sending):
            task.cancel()
        self._waits.clear()
        if "journal" in self.__dict__:
            self.journal.close()
            del self.journal
        await super().close()

    async def _endpoint(self, settings: LLMSettings) -> Endpoint:
        return self._endpoint_of(settings)

    def _interface(self, settings: LLMSettings) -> type[_OpenAI]:
        if settings.model.startswith("anthropic/"):
            return _Anthropic
        if settings.embedded or split_name(settings)[0] is not OPENAI:
            raise ConfigError(f"{settings.model} has no batch interface: --batch takes openai/... and anthropic/...")
        return _OpenAI

    def _endpoint_of(self, settings: LLMSettings) -> Endpoint:
        if self._interface(settings) is _OpenAI:
            return find_endpoint(settings)
        # With another address its name would be read as that of a model of an OpenAI-compatible server.
        url = settings.base_url.strip().rstrip("/") or _ANTHROPIC.url
        key, variable = find_key(settings.changed(base_url=""), url)
        # Newer models take one of the two, and a rejected batch would cost hours: the first is kept.
        both = {"top_p"} if settings.temperature is not None else set()
        name = settings.model.partition("/")[2]
        return Endpoint(url, key, name, variable, _ANTHROPIC.ignores | both)

    async def _attempt(
        self,
        connection: AsyncOpenAI,
        endpoint: Endpoint,
        body: dict[str, Any],
        messages: Sequence[Message],
        settings: LLMSettings,
        replicate: int,
    ) -> Answer:
        """Put the call into the next batch, or find it in an earlier one, and wait for its answer."""
        interface = self._interface(settings)(connection, endpoint)
        name = call_key(settings, messages, replicate)
        batch = self._sent.get(name) or await self._queued(name, interface.request(name, body), interface)
        if batch not in self._waits:
            self._waits[batch] = asyncio.create_task(self._wait(batch, interface))
        waiting = self._waits[batch]
        try:
            results = await asyncio.shield(waiting)
        except Failed:
            self._waits.pop(batch, None)  # a retry asks for the same batch again: it is paid for
            raise
        self._sent.pop(name, None)  # a retry is a new call
        if name not in results:
            raise Failed("expired", f"no answer in batch {batch}")
        # The request waited for others, so its own time is not known.
        return dataclasses.replace(interface.read(results[name], body), seconds=0.0)

    async def _queued(self, name: str, request: dict[str, Any], interface: _OpenAI) -> str:
        """Return the batch that a call was sent in, after a moment in which others may join it."""
        loop = asyncio.get_running_loop()
        sent = self._queue.setdefault(name, (request, loop.create_future()))[1]
        if self._flush is not None:
            self._flush.cancel()
        self._flush = loop.call_later(GATHER, self._send, interface)
        return await sent

    def _send(self, interface: _OpenAI) -> None:
        task = asyncio.create_task(self._submit(interface))
        self._sending.add(task)  # the loop itself keeps no reference to a task
        task.add_done_callback(self._sending.discard)

    async def _submit(self, interface: _OpenAI) -> None:
        """Send everything that is queued; note the batch before anybody waits for it."""
        queued, self._queue = self._queue, {}
        for some in _parts(queued, LARGEST):
            try:
                batch = await interface.submit([request for request, _ in some.values()])
                self.journal.append(batch, {"calls": list(some), "server": interface.endpoint.where})
            except Exception as bad:  # noqa: BLE001 - whoever waits must hear of it, or would wait forever
                for _, sent in some.values():
                    if not sent.done():
                        sent.set_exception(bad)
                continue
            log.info("batch %s: %d calls to %s", batch, len(some), interface.endpoint.model)
            for name, (_, sent) in some.items():
                self._sent[name] = batch
                if not sent.done():
                    sent.set_result(batch)

    async def _wait(self, batch: str, interface: _OpenAI) -> Results:
        """Return what became of every call of a batch, when it has ended."""
        wait = FIRST_WAIT
        try:
            while not await interface.ended(batch):
                await self._sleep(wait)
                wait = min(LONGEST_WAIT, 1.5 * wait)
            return await interface.results(batch)
        except BatchFailed as bad:  # it has no answers; another start must not wait for it again
            self.journal.append(batch, {"failed": str(bad)})
            raise


class BatchFailed(ModelError):
    """A batch that the provider refused as a whole, or does not know any more."""


class _OpenAI:
    """OpenAI: a file of requests, a batch, a file of answers and one of errors."""

    ENDED: ClassVar = ("completed", "failed", "expired", "cancelled")

    def __init__(self, connection: AsyncOpenAI, endpoint: Endpoint) -> None:
        # Looking at a batch may be repeated at will. Sending one may not: it would be paid for twice.
        self.patient = connection.with_options(max_retries=5, timeout=120)
        self.once = connection.with_options(max_retries=0, timeout=600)
        self.endpoint = endpoint

    def request(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call as it stands in a batch."""
        return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": dict(body)}

    async def submit(self, requests: Sequence[Mapping[str, Any]]) -> str:
        """Send a batch; return its name."""
        lines = "".join(json.dumps(request, ensure_ascii=False) + "\n" for request in requests)
        with _sorted_errors(self.endpoint):
            file = await self.once.files.create(file=("requests.jsonl", lines.encode()), purpose="batch")
            made = await self.once.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
            )
            return str(made.id)

    async def ended(self, batch: str) -> bool:
        """Return whether the provider is done with a batch."""
        with _sorted_errors(self.endpoint):
            return (await self.patient.batches.retrieve(batch)).status in self.ENDED

    async def results(self, batch: str) -> Results:
        """Return what the provider says about each call; a batch that it refused is an error."""
        with _sorted_errors(self.endpoint):
            made = await self.patient.batches.retrieve(batch)
            found = [file for file in (made.output_file_id, made.error_file_id) if file]
            results = _by_name([(await self.patient.files.content(file)).text for file in found])
        if made.status == "failed":
            said = [each.message for each in (made.errors and made.errors.data) or [] if each.message]
            raise BatchFailed(f"{self.endpoint.where} refuses batch {batch}: {said[0] if said else 'no reason given'}")
        return results

    def read(self, result: Mapping[str, Any], body: Mapping[str, Any]) -> Answer:
        """Return the answer to a call, or raise what a server would have said at once."""
        response = result.get("response") or {}
        if response.get("status_code") == 200:
            return read_answer(json.dumps(response.get("body")), self.endpoint.model)
        if not response:  # not asked: the batch ended before its turn
            raise Failed("expired", str((result.get("error") or {}).get("message") or "not asked"))
        said = response.get("body") or {}
        return _refused(int(response.get("status_code") or 500), said.get("error", said), self.endpoint, body)


class _Anthropic(_OpenAI):
    """Anthropic: one request with all calls, then one answer with all results."""

    FIELDS: ClassVar = {"stop": "stop_sequences", "max_completion_tokens": "max_tokens"}
    CODES: ClassVar = {
        "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
        "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529,
    }  # fmt: skip

    @property
    def _options(self) -> Any:
        from openai import Omit

        headers = {"x-api-key": self.endpoint.key, "anthropic-version": "2023-06-01", "Authorization": Omit()}
        return {"headers": headers}

    def request(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call as it stands in a batch: Anthropic's names, and a token limit, which it requires."""
        params = {self.FIELDS.get(field, field): value for field, value in body.items()}
        system = "\n\n".join(turn["content"] for turn in body["messages"] if turn["role"] in ("system", "developer"))
        params["messages"] = [turn for turn in body["messages"] if turn["role"] in ("user", "assistant")]
        instructions = {"system": system} if system else {}
        return {"custom_id": name, "params": {"max_tokens": UNLIMITED_OUTPUT, **instructions, **params}}

    async def submit(self, requests: Sequence[Mapping[str, Any]]) -> str:
        """Send a batch; return its name."""
        with _sorted_errors(self.endpoint):
            text = await self.once.post(
                "/messages/batches", body={"requests": list(requests)}, cast_to=str, options=self._options
            )
            return str(json.loads(text)["id"])

    async def ended(self, batch: str) -> bool:
        """Return whether the provider is done with a batch."""
        with _sorted_errors(self.endpoint):
            text = await self.patient.get(f"/messages/batches/{batch}", cast_to=str, options=self._options)
            return bool(json.loads(text).get("processing_status") == "ended")

    async def results(self, batch: str) -> Results:
        """Return what the provider says about each call."""
        with _sorted_errors(self.endpoint):
            text = await self.patient.get(f"/messages/batches/{batch}/results", cast_to=str, options=self._options)
            return _by_name([text])

    def read(self, result: Mapping[str, Any], body: Mapping[str, Any]) -> Answer:
        """Return the answer to a call, or raise what a server would have said at once."""
        found = result.get("result") or {}
        if found.get("type") == "errored":
            error = found.get("error") or {}
            error = error.get("error", error)
            return _refused(self.CODES.get(error.get("type"), 500), error, self.endpoint, body)
        if found.get("type") != "succeeded":
            raise Failed("expired", f"the call was {found.get('type', 'not asked')}")
        message = found["message"]
        text = "".join(part.get("text", "") for part in message.get("content") or ())
        used = message.get("usage") or {}
        cached = used.get("cache_read_input_tokens") or 0
        # Anthropic counts cached input apart, OpenAI as a part of the input.
        taken = (used.get("input_tokens") or 0) + (used.get("cache_creation_input_tokens") or 0) + cached
        usage = Usage(taken, used["output_tokens"], cached) if "output_tokens" in used else None
        stop = STOPS.get(message.get("stop_reason"), "other")
        return Answer(text, stop, usage, str(message.get("model") or self.endpoint.model))


def _by_name(texts: Sequence[str]) -> Results:
    """Return the lines of result files by the names of their calls."""
    lines = [json.loads(line) for text in texts for line in text.split("\n") if line.strip()]
    return {line["custom_id"]: line for line in lines}


def _refused(code: int, error: object, endpoint: Endpoint, body: Mapping[str, Any]) -> Answer:
    """Sort an error of one call as if its own request had failed."""
    named = error if isinstance(error, Mapping) else {}
    like = SimpleNamespace(
        status_code=code, code=named.get("code"), param=named.get("param"), body=error, message=str(error),
        response=SimpleNamespace(headers={}),
    )  # fmt: skip
    return sort_status(cast(Any, like), endpoint, body)


@contextmanager
def _sorted_errors(endpoint: Endpoint) -> Iterator[None]:
    """Turn the SDK's errors about a batch into ours: what may pass with time is worth a retry."""
    import openai

    try:
        yield
    except openai.NotFoundError as bad:
        raise BatchFailed(f"{endpoint.where} has no such batch ({bad}): repeat the command to send it again") from None
    except openai.APIStatusError as bad:
        sort_status(bad, endpoint, {})
        raise Failed(f"http_{bad.status_code}", str(bad)) from None
    except openai.APIConnectionError as bad:
        raise Failed("connection", str(bad.__cause__ or bad)) from None
    except (AttributeError, KeyError, TypeError, ValueError) as bad:  # a proxy's page, a list, half a file
        raise Failed("garbage", f"not a batch: {bad}") from None


def _parts(queued: Mapping[str, Any], size: int) -> Iterator[dict[str, Any]]:
    names = list(queued)
    for start in range(0, len(names), size):
        yield {name: queued[name] for name in names[start : start + size]}
