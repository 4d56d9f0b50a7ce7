"""Names that stand for classes: name -> "module:Class", resolved only when asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from deadpan.errors import ConfigError


class Registry(Mapping[str, str]):
    """A table of names. Listing it imports nothing; `load` imports one module."""

    def __init__(self, noun: str, targets: Mapping[str, str]) -> None:
        self.noun = noun
        self._targets = dict(targets)

    def __getitem__(self, name: str) -> str:
        return self._targets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets)

    def __len__(self) -> int:
        return len(self._targets)

    def load(self, name: str) -> Any:
        """The class behind a name."""
        module, _, attribute = self._targets[self.check(name)].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def check(self, name: str) -> str:
        """The name itself if it is known, else an error that lists the choices."""
        if name not in self._targets:
            raise ConfigError(unknown(self.noun, name, self._targets))
        return name


def unknown(noun: str, name: str, choices: Mapping[str, object] | list[str]) -> str:
    """One line that says a name is unknown, what was probably meant and what there is."""
    names = list(choices)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown {noun} {name!r}: {hint}choose from {', '.join(names)}"
