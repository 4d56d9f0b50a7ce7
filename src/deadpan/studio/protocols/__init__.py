"""The protocols: studies of the papers, ready to run. Listing their names imports no Django."""

from __future__ import annotations

from deadpan.formats.study import PROTOCOL_PLUGINS
from deadpan.registry import Registry

PROTOCOLS = Registry(
    "protocol",
    {
        name: f"deadpan.studio.protocols.{name}:{name.title()}Protocol"
        for name in ("annotate", "tell", "categorise", "perceive", "audit", "choose", "quiz")
    },
    group=PROTOCOL_PLUGINS,
)
