"""A folder with outputs of most kinds, and the site about it: made once for all tests of the report."""

from __future__ import annotations

import pytest

from deadpan.report import build_report
from report.making import comparison, outputs


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return outputs(tmp_path_factory.mktemp("made") / "outputs")


@pytest.fixture(scope="session")
def site(made, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "site"
    build_report([made], out, title="Pilot")
    return out


@pytest.fixture(scope="session")
def noise(tmp_path_factory):
    """A comparison in which nobody is best. Copy it before writing to it."""
    return comparison(tmp_path_factory.mktemp("noise") / "noise", noise=True)
