"""A corpus on disk, written by the test that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from deadpan.datasets.reader import Reader
from deadpan.datasets.reading import Reading
from deadpan.drops import Tally
from deadpan.records import Example

Read = Callable[..., tuple[list[Example], Tally]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write files, read them with a reader, give examples and tally."""

    def go(
        kind: type[Reader], files: Mapping[str, str | bytes], name: str = "corpus", **options: Any
    ) -> tuple[list[Example], Tally]:
        for path, content in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        reader = kind(name, tmp_path, Reading.of(data_dir=tmp_path, **options))
        return list(reader), reader.tally

    return go
