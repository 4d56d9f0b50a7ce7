"""The protocols: studies of the papers, ready to run. Listing their names imports no Django."""

from __future__ import annotations

from deadpan.formats.study import PROTOCOL_PLUGINS
from deadpan.registry import Registry

PROTOCOLS = Registry(
    "protocol",
    {
        "annotate": "deadpan.studio.protocols.annotate:AnnotateProtocol",
        "tell": "deadpan.studio.protocols.author_survey:TellProtocol",
        "categorise": "deadpan.studio.protocols.categorise:CategoriseProtocol",
        "perceive": "deadpan.studio.protocols.reader_judgment:PerceiveProtocol",
        "audit": "deadpan.studio.protocols.audit:AuditProtocol",
        "choose": "deadpan.studio.protocols.pairwise:ChooseProtocol",
        "quiz": "deadpan.studio.protocols.quiz:QuizProtocol",
    },
    group=PROTOCOL_PLUGINS,
)
