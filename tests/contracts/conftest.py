"""The studio's fixtures, for the contract of protocols."""

from studio.conftest import items, site, template

__all__ = ["items", "site", "template"]
