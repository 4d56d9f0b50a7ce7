"""A provider's moderation endpoint: which of its categories a dialogue falls in."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from deadpan.errors import ConfigError, ModelError
from deadpan.generate.flow import in_order
from deadpan.generate.ledger import Ledger, Said
from deadpan.llm import Settings
from deadpan.llm.endpoint import Endpoint, connect, find_endpoint
from deadpan.llm.loop import run
from deadpan.llm.retries import Backoff, Failed


class Moderation:
    """Calls /moderations of the plan's endpoint, each dialogue once; kept in the ledger like any call."""

    def __init__(
        self,
        settings: Settings,
        model: str,
        ledger: Ledger,
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
        self.ledger = ledger
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
        """What one dialogue is flagged for; empty if nothing."""
        text = "\n".join(texts)
        key = hashlib.blake2b(f"moderation\x1f{self.model}\x1f{text}".encode(), digest_size=20).digest()
        known = self.ledger.get(key)
        if known is None:
            known = Said(await self._categories(text), "stop", self.model, cost=0)
            self.ledger.put(key, known, 0)
        return known.text

    async def _categories(self, text: str) -> str:
        """Comma-separated names of what it was flagged for."""
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
            return ", ".join(sorted(name for name, found in flagged.items() if found)) or "flagged"
        except openai.APIStatusError as bad:
            if bad.status_code in (401, 403, 404):
                raise ConfigError(
                    f"no moderation for us at the endpoint (HTTP {bad.status_code}): leave it out of toxicity"
                ) from None
            raise Failed(f"http_{bad.status_code}") from None
        except (openai.APIConnectionError, openai.APIResponseValidationError) as bad:
            raise Failed("connection", str(bad)) from None
        except (IndexError, AttributeError, TypeError, ValueError) as bad:
            raise Failed("garbage", str(bad)) from None
