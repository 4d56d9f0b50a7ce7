"""Errors that users can fix: each message says what is wrong and what to do about it."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

LONGEST_WORD = 300  # a path fits; a field name of 3,000 letters is damage
LONGEST_MESSAGE = 2_000


class DeadpanError(Exception):
    """Base class of errors that users can fix. The command line prints one line and exits with 2.

    A message is one line, also where it quotes an array or a table. It may quote damaged input: if it is very
    long its middle is cut, so that the beginning (what is wrong) and the end (what to do) can still be read.
    """

    def __str__(self) -> str:
        message = re.sub(r"\s*\n\s*", " ", super().__str__())
        message = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: _cut(word[0], LONGEST_WORD), message)
        return _cut(message, LONGEST_MESSAGE)


class DataError(DeadpanError):
    """Data or a file is missing, damaged or of the wrong kind."""


class ConfigError(DeadpanError):
    """An option, an argument, a name or a configuration file is wrong."""


class MissingExtra(DeadpanError):
    """A library of an optional extra is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        package = library.partition(".")[0]
        library = "scikit-learn" if package in ("sklearn", "scipy", "threadpoolctl") else package  # which brings both
        super().__init__(f"this needs {library} (deadpan[{extra}]), which is not installed: {pip_install(extra)}")
        self.library = library
        self.extra = extra


class ModelError(DeadpanError):
    """A model is missing, damaged, or did not answer."""


def pip_install(*extras: str, pip: str = "pip") -> str:
    """Return the command that adds extras to this copy of deadpan, from where it was installed."""
    import json
    import shlex
    from importlib import metadata
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    named = f"deadpan[{','.join(extras)}]"
    try:
        origin = json.loads(metadata.distribution("deadpan").read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        origin = {}
    place = Path(unquote(urlsplit(origin.get("url", "")).path))
    what = [named]
    if origin.get("dir_info", {}).get("editable"):
        what = ["-e", f"{place}[{','.join(extras)}]"]
    elif origin:
        what = [f"{named} @ {origin['url']}"]
    pins = next(
        (p for p in (Path(__file__).with_name("constraints.txt"), place / "constraints.txt") if p.exists()), None
    )
    # Without the pin of torch, pip takes a build with gigabytes of CUDA.
    constraints = ["-c", str(pins)] if pins and "neural" in extras else []
    return " ".join([pip, "install", *(shlex.quote(word) for word in (*constraints, *what))])


def _cut(text: str, longest: int) -> str:
    """Return the text with its middle left out if it is longer than that."""
    if len(text) <= longest:
        return text
    tail = longest // 3
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


def reason_of(error: BaseException, longest: int = 160) -> str:
    """Return the first line of a library's error, to quote it; its kind if it says nothing."""
    return next(iter(str(error).strip().splitlines()), "")[:longest] or type(error).__name__


def need(library: str, extra: str) -> ModuleType:
    """Import a library of an optional extra, or raise an error with the pip command that installs it."""
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as missing:
        # A broken installation of the library must not be reported as a missing one.
        if missing.name and library.split(".")[0] != missing.name.split(".")[0]:
            raise
        raise MissingExtra(library, extra) from None
