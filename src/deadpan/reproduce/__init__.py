"""The tables and figures of four papers, measured again: published beside ours, with a verdict per cell."""

from __future__ import annotations

from typing import Any

from deadpan import lazy

_NAMES = {"reproduce": "reproduction", "Reproduction": "reproduction", "PAPERS": "published"}
__all__ = ["PAPERS", "Reproduction", "reproduce"]


def __getattr__(name: str) -> Any:
    return lazy(__name__, name, _NAMES)
