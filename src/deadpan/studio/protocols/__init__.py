"""The studies of the papers, each ready to run: name -> class. Listing them imports no Django."""

from __future__ import annotations

from deadpan.registry import Registry

PROTOCOLS = Registry(
    "protocol",
    {
        name: f"deadpan.studio.protocols.{name}:{name.title()}"
        for name in ("annotate", "tell", "categorise", "perceive", "audit", "choose", "quiz")
    },
)
