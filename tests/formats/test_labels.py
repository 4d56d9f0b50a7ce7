from __future__ import annotations

import pytest

from deadpan.formats.labels import BINARY, EVERYDAY, read_label


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", "1.0", " TRUE ", "Sarcastic", "yes"])
def test_sarcastic(value: object) -> None:
    assert read_label(value, EVERYDAY) is True


@pytest.mark.parametrize("value", [False, 0, "0", "false", "Non-Sarcasm", "not sarcastic", "notsarc", "no"])
def test_not_sarcastic(value: object) -> None:
    assert read_label(value, EVERYDAY) is False


@pytest.mark.parametrize("value", [None, "", "2", "maybe", "yes", []])
def test_neither(value: object) -> None:
    assert read_label(value, BINARY) is None
