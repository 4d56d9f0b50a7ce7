"""The studio's fixtures, for its commands."""

from studio.conftest import collect_ignore_glob, items, site, template

__all__ = ["collect_ignore_glob", "items", "site", "template"]
