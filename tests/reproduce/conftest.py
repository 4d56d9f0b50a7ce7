"""A data folder in the layouts of the releases, with a few made-up rows, and Table 2 of SARC measured on it."""

from __future__ import annotations

import shutil

import pytest

from deadpan.reproduce import reproduce
from reproduce.releases import isarcasm, sarc


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """The training parts only. Nobody writes to it: a test that adds files has `own_data`."""
    folder = tmp_path_factory.mktemp("releases") / "data"
    sarc(folder / "sarc_pol", "train", "balanced", 60)
    isarcasm(folder / "isarcasm", "train", 40)
    return folder


@pytest.fixture
def own_data(data, tmp_path):
    """A copy of the data to change."""
    return shutil.copytree(data, tmp_path / "data")


@pytest.fixture(scope="session")
def table_2(data, tmp_path_factory):
    """The quick reproduction of SARC's Table 2, and its folder: measured once."""
    out = tmp_path_factory.mktemp("table-2") / "out"
    return reproduce("sarc", out, data_dir=data, only=["table-2"], quick=True), out
