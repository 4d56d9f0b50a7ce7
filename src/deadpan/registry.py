"""Registered names: name -> "module:Class", imported only when the class is asked for.

Other packages add names through entry points. In the `pyproject.toml` of such a package:

    [project.entry-points."deadpan.detectors"]
    my-detector = "my_package.detector:MyDetector"

The groups are `deadpan.detectors`, `deadpan.readers`, `deadpan.protocols` and `deadpan.engines`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from operator import attrgetter
from typing import Any

from deadpan.errors import ConfigError


class PluginWarning(UserWarning):
    """An installed package registers a name that is already taken, so it is ignored."""


class Registry(Mapping[str, str]):
    """A table of names: ours first, then those of installed packages.

    Listing names imports none of the classes, and the entry points of installed packages are read only
    when the names are listed or a name is not ours.
    """

    def __init__(self, noun: str, targets: Mapping[str, str], group: str = "") -> None:
        self.noun = noun
        self.group = group
        self._own = dict(targets)

    def __getitem__(self, name: str) -> str:
        return self._own[name] if name in self._own else self._plugins[name][0]

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._plugins

    def __len__(self) -> int:
        return len(self._own) + len(self._plugins)

    def load(self, name: str) -> Any:
        """Import and return the class behind a name."""
        module, _, attribute = self[self.check(name)].partition(":")
        try:
            return attrgetter(attribute)(importlib.import_module(module))
        except (ImportError, AttributeError) as broken:
            if name in self._own:
                raise
            package = self.package(name)
            raise ConfigError(
                f"{self.noun} {name!r} of package {package!r} cannot be loaded ({broken}): "
                f"update {package}, or uninstall it"
            ) from broken

    def check(self, name: str) -> str:
        """Return the name if it is registered; otherwise raise an error that lists the choices."""
        if not isinstance(name, str) or name not in self:
            raise ConfigError(unknown(self.noun, name, self))
        return name

    def package(self, name: str) -> str:
        """Return the package that registers a name, "deadpan" for our own."""
        return "deadpan" if self.check(name) in self._own else self._plugins[name][1]

    @cached_property
    def _plugins(self) -> dict[str, tuple[str, str]]:
        """Targets and package names from the entry points of installed packages."""
        plugins: dict[str, tuple[str, str]] = {}
        for name, target, package in sorted(_entry_points(self.group)) if self.group else ():
            if name not in self._own and name not in plugins:
                plugins[name] = (target, package)
                continue
            owner = "deadpan" if name in self._own else plugins[name][1]
            if owner != package:
                warnings.warn(
                    f"{self.noun} {name!r} of package {package!r} is ignored: {owner} registers that name; "
                    f"rename the entry point of {package}",
                    PluginWarning,
                    stacklevel=3,
                )
        return plugins


def _entry_points(group: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name, target and package of every installed entry point of a group."""
    # Imported here: it takes longer than everything else `deadpan --help` does.
    from importlib.metadata import entry_points

    for point in entry_points(group=group):
        target = point.module + (f":{point.attr}" if point.attr else "")
        yield point.name, target, point.dist.name if point.dist else "unknown"


def unknown(noun: str, name: str, choices: Iterable[str]) -> str:
    """Return one line that says a name is unknown, the nearest name, and the choices."""
    names = list(choices)
    near = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown {noun} {name!r}: {hint}choose from {', '.join(names)}"
