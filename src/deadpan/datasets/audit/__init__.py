"""Audits: shortcuts, label noise and leaks of corpora, one page each and an atlas over all of them."""

from deadpan.datasets.audit.atlas import Atlas, audit_sources
from deadpan.datasets.audit.audit import CorpusAudit, audit_corpora

__all__ = ["Atlas", "CorpusAudit", "audit_corpora", "audit_sources"]
