"""One static site from whatever the stages wrote: an index of their findings, pages and manifests."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {"build_report": "build", "ReportSite": "build"}
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"deadpan.report.{_NAMES[name]}"), name)
