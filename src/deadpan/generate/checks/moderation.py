"""A provider's moderation endpoint: the categories a dialogue is flagged for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from deadpan.errors import ConfigError, ModelError
from deadpan.generate.steps.flow import in_order
from deadpan.journal import Journal
from deadpan.llm import LLMSettings, user
from deadpan.llm.calls import CallRecord, call_key, find_call, now, record_call
from deadpan.llm.endpoint import Endpoint, connect, find_endpoint
from deadpan.llm.loop import run
from deadpan.llm.retries import Backoff, Failed

TAG = "moderation"


class Moderation:
    """Calls /moderations of the plan's endpoint, each dialogue once; kept in the journal like any call."""

    def __init__(
        self,
        settings: LLMSettings,
        model: str,
        journal: Journal,
        *,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if settings.embedded:
            raise ConfigError(
                "toxicity has moderation, which needs an endpoint: set base_url and model under [model]"
            )
        self.settings = settings
        self.model = model
        self.journal = journal
        self.backoff = backoff or Backoff()
        self._sleep = sleep
        self._endpoint: Endpoint = find_endpoint(settings)
        self._connection: Any = None

    def __call__(self, dialogues: Sequence[Sequence[str]]) -> list[str]:
        return list(in_order(self.find, dialogues, self.settings.concurrency))

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        if self._connection is not None:
            run(self._connection.close())
            self._connection = None

    async def find(self, texts: Sequence[str]) -> str:
        """Return what one dialogue is flagged for; empty if nothing."""
        text = "\n".join(texts)
        key = call_key(LLMSettings(model=self.model), [user(text)], 0, TAG)
        known = find_call(self.journal, key)
        if known is None:
            request = {"model": self.model, "input": text}
            categories = await self._categories(text)
            known = CallRecord(TAG, 0, request, categories, "stop", self.model, cost=0.0, at=now())
            record_call(self.journal, key, known)
        return known.text

    async def _categories(self, text: str) -> str:
        """Return the comma-separated names of the flagged categories."""
        attempt = 0
        while True:
            try:
                return await self._ask(text)
            except Failed as bad:
                if attempt >= self.settings.retries:
                    where = self._endpoint.url or "the API"
                    raise ModelError(
                        f"moderation at {where} did not answer ({bad}): check the server"
                    ) from None
                await self._sleep(self.backoff.wait(attempt, bad))
                attempt += 1

    async def _ask(self, text: str) -> str:
        import openai

        if self._connection is None:
            self._connection = connect(self._endpoint, self.settings.timeout)
        try:
            answer = await self._connection.moderations.create(model=self.model, input=text)
            result = answer.results[0]
            if not result.flagged:
                return ""
            flagged = result.categories.model_dump(by_alias=True)
            return ", ".join(sorted(name for name, hit in flagged.items() if hit)) or "flagged"
        except openai.APIStatusError as bad:
            if bad.status_code in (401, 403, 404):
                raise ConfigError(
                    f"the endpoint offers no moderation (HTTP {bad.status_code}): remove it from toxicity"
                ) from None
            raise Failed(f"http_{bad.status_code}") from None
        except (openai.APIConnectionError, openai.APIResponseValidationError) as bad:
            raise Failed("connection", str(bad)) from None
        except (IndexError, AttributeError, TypeError, ValueError) as bad:
            raise Failed("garbage", str(bad)) from None
