"""Every story starts in an empty folder; stories about one corpus share it."""

from __future__ import annotations

import pytest

from story.visitor import Program


@pytest.fixture
def program(tmp_path) -> Program:
    return Program(tmp_path)


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Program:
    """A folder with dumps and the corpus built from them; stories add files beside it and change none."""
    program = Program(tmp_path_factory.mktemp("built"))
    program("corpus", "synthesize", "--out", "dumps", "--months", "2", "--comments", "6000", "--compression", "gz")
    program("corpus", "build", "dumps", "--out", "corpus", "--memory", "500MB")
    return program
