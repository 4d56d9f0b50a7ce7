"""One static site from whatever the stages wrote: an index of their findings, pages and manifests."""

from __future__ import annotations

from typing import Any

from deadpan import lazy

_NAMES = {"build_report": "build", "ReportSite": "build"}
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    return lazy(__name__, name, _NAMES)
