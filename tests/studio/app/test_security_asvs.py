"""docs/security-asvs.md walks through OWASP ASVS 5.0: no requirement is left out, and the tests it names exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
LEVEL_1 = {
    "1.2": (1, 2, 3, 4, 5), "1.3": (1, 2), "1.5": (1,), "2.1": (1,), "2.2": (1, 2), "2.3": (1,), "3.2": (1, 2),
    "3.3": (1,), "3.4": (1, 2), "3.5": (1, 2, 3), "4.1": (1,), "4.4": (1,), "5.2": (1, 2), "5.3": (1, 2), "6.1": (1,),
    "6.2": (1, 2, 3, 4, 5, 6, 7, 8), "6.3": (1, 2), "6.4": (1, 2), "7.2": (1, 2, 3, 4), "7.4": (1, 2), "8.1": (1,),
    "8.2": (1, 2), "8.3": (1,), "9.1": (1, 2, 3), "9.2": (1,), "10.4": (1, 2, 3, 4, 5), "11.3": (1, 2), "11.4": (1,),
    "12.1": (1,), "12.2": (1, 2), "13.4": (1,), "14.2": (1,), "14.3": (1,), "15.1": (1,), "15.2": (1,), "15.3": (1,),
}  # fmt: skip
"""Requirements of level 1 by section."""
AUTHENTICATION_2 = ("6.1.2", "6.1.3", "6.2.9", "6.2.10", "6.2.11", "6.2.12", "6.3.3", "6.3.4", "6.4.3", "6.4.4")
PAGE = (ROOT / "docs" / "security-asvs.md").read_text("utf-8")


def rows() -> list[list[str]]:
    """The cells of every row of the walk."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]


def test_every_requirement_of_level_1_is_walked():
    wanted = {f"{section}.{n}" for section, numbers in LEVEL_1.items() for n in numbers}
    assert len(wanted) == 70
    walked = [number for first, *_ in rows() for number in re.findall(r"\b\d+\.\d+\.\d+\b", first)]
    assert wanted | set(AUTHENTICATION_2) <= set(walked)
    assert len(walked) == len(set(walked)), "a requirement is walked twice"


def test_the_tests_it_names_exist():
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    known = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(named) > 30 and named <= known, named - known
