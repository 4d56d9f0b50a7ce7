"""The tables and figures of four papers, measured again: published beside ours, with a verdict per cell."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {"reproduce": "run", "Reproduction": "reproduction", "PAPERS": "published"}
__all__ = ["PAPERS", "Reproduction", "reproduce"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"deadpan.reproduce.{_NAMES[name]}"), name)
