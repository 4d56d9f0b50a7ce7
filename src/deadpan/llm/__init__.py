"""One way to call a language model: any OpenAI-compatible endpoint, or the embedded one.

`complete` asks once. A `Client` adds, for many calls: a limit on concurrency, a budget, a cache, a journal
that lets a killed run resume without repeating a call, bounded retries and a circuit breaker. `ask` repeats a
question until the answer can be read. Importing this is cheap: the SDK is imported with the first call.
"""

from __future__ import annotations

from deadpan.llm.calls import CallRecord, read_calls
from deadpan.llm.client import CALL_FAILED, Client, Outcome, Unreadable, acomplete, ask, complete
from deadpan.llm.costs import Budget, CostLimit, Price, find_price
from deadpan.llm.embedded import EmbeddedServer, embedded_server
from deadpan.llm.messages import Message, Messages, Reply, StopReason, Usage, assistant, system, user
from deadpan.llm.retries import HOPELESS, Backoff, Breaker, Denied, Failed, Unavailable, Unreachable
from deadpan.llm.settings import DEFAULT_MODEL, EMBEDDED_PREFIX, LLMSettings, default_model
from deadpan.llm.transport import Answer, HttpTransport, Transport

__all__ = [
    "CALL_FAILED",
    "DEFAULT_MODEL",
    "EMBEDDED_PREFIX",
    "HOPELESS",
    "Answer",
    "Backoff",
    "Breaker",
    "Budget",
    "CallRecord",
    "Client",
    "CostLimit",
    "Denied",
    "EmbeddedServer",
    "Failed",
    "HttpTransport",
    "LLMSettings",
    "Message",
    "Messages",
    "Outcome",
    "Price",
    "Reply",
    "StopReason",
    "Transport",
    "Unavailable",
    "Unreachable",
    "Unreadable",
    "Usage",
    "acomplete",
    "ask",
    "assistant",
    "complete",
    "default_model",
    "embedded_server",
    "find_price",
    "read_calls",
    "system",
    "user",
]
