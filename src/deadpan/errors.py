"""Errors a person can act on: each message says what is wrong and what to do about it."""

from __future__ import annotations

import importlib
from types import ModuleType


class DeadpanError(Exception):
    """Anything the user can put right. The command line prints it as one line and exits with 2."""


class DataError(DeadpanError):
    """A file is missing, damaged or not what it says."""


class ConfigError(DeadpanError):
    """An option, a name or a configuration file is wrong."""


class MissingExtra(DeadpanError):
    """A part of deadpan needs a library that is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"this needs {library}, which is not installed: pip install 'deadpan[{extra}]'")
        self.library = library
        self.extra = extra


class ModelError(DeadpanError):
    """A model is missing, damaged, or did not answer."""


def need(library: str, extra: str) -> ModuleType:
    """Import a library of an optional extra, or say which pip command brings it."""
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as missing:
        # A broken install of the library itself must not be reported as an absent one.
        if missing.name and library.split(".")[0] != missing.name.split(".")[0]:
            raise
        raise MissingExtra(library, extra) from None
