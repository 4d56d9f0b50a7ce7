"""One way to call a language model: any OpenAI-compatible endpoint, or the embedded one.

Importing this is cheap: the SDK is imported with the first call that is not answered by the cache.
"""

from __future__ import annotations

from deadpan.llm.budget import CostLimit
from deadpan.llm.client import Client, acomplete, complete
from deadpan.llm.embedded import Server, embedded_server
from deadpan.llm.messages import Message, Messages, Reply, StopReason, Usage, assistant, system, user
from deadpan.llm.prices import Price, find_price
from deadpan.llm.settings import Settings

__all__ = [
    "Client",
    "CostLimit",
    "Message",
    "Messages",
    "Price",
    "Reply",
    "Server",
    "Settings",
    "StopReason",
    "Usage",
    "acomplete",
    "assistant",
    "complete",
    "embedded_server",
    "find_price",
    "system",
    "user",
]
