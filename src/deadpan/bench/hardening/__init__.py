"""Hardening of drafts: which items are kept, by what validation, the audit, a panel and people show."""
