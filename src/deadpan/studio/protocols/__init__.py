"""The protocols: studies of the papers, ready to run. Listing their names imports no Django."""

from __future__ import annotations

from deadpan.formats.study import PROTOCOL_PLUGINS
from deadpan.registry import Registry

PROTOCOLS = Registry(
    "protocol",
    {
        "annotate": "deadpan.studio.protocols.annotate:AnnotateProtocol",
        "author-survey": "deadpan.studio.protocols.author_survey:AuthorSurveyProtocol",
        "categorise": "deadpan.studio.protocols.categorise:CategoriseProtocol",
        "reader-judgment": "deadpan.studio.protocols.reader_judgment:ReaderJudgmentProtocol",
        "audit": "deadpan.studio.protocols.audit:AuditProtocol",
        "pairwise": "deadpan.studio.protocols.pairwise:PairwiseProtocol",
        "quiz": "deadpan.studio.protocols.quiz:QuizProtocol",
        "custom": "deadpan.studio.protocols.custom:CustomProtocol",
    },
    group=PROTOCOL_PLUGINS,
)
