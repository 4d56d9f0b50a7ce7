"""The text rules in SQL compared with plain Python, on any text."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus import oracle
from corpus.adversary import BODIES, MARKS, NOT_MARKS, NOT_SPACES, SPACES
from deadpan.corpus.rules import comments_query
from deadpan.corpus.settings import TextRules
from deadpan.errors import ConfigError

pieces = st.one_of(
    st.sampled_from([*SPACES, *NOT_SPACES, *MARKS, *NOT_MARKS, *BODIES, "/s", "/", "s", "&lt;", "&amp;", "<", "a"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
bodies = st.lists(st.lists(pieces, max_size=6).map("".join), min_size=1, max_size=60)


def rows(folder: Path, texts: list[str], rules: TextRules | None = None) -> list[tuple[object, ...]]:
    path = folder / "dump.ndjson"
    lines = [
        json.dumps({"id": f"c{n}", "body": text, "created_utc": 1262304000, "author": "ann"})
        for n, text in enumerate(texts)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    query = comments_query(str(path), rules or TextRules())
    found = duckdb.connect().execute(f"SELECT id, marked, reason, text, original FROM ({query})").fetchall()
    return [row[1:] for row in sorted(found, key=lambda row: int(row[0][1:]))]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies)
def test_rules_equal_the_reference_on_any_text(tmp_path: Path, texts: list[str]) -> None:
    expected = []
    for text in texts:
        body, rules = oracle.unescape(text.replace("\0", "")), TextRules()
        marked = bool(oracle.marker_of(body, rules))
        reason = "deleted" if oracle.is_placeholder(body, rules) else oracle.text_reason(body, rules)
        said = oracle.squeeze(oracle.without_marker(body, rules))
        expected.append((marked, reason, said, body if marked else None))
    assert rows(tmp_path, texts) == expected


@pytest.mark.parametrize(
    ("body", "marked", "text"),
    [
        ("so great /s", True, "so great"),
        ("so great /s\n", True, "so great"),
        ("so great\u2028/s\u3000\x85", True, "so great"),
        ("so great /s\u180e", False, "so great /s\u180e"),
        ("5 m/s", False, "5 m/s"),
        ("and/s", False, "and/s"),
        ("</s", False, "</s"),
        ("&lt;/s", False, "</s"),
        ("//s", False, "//s"),
        ("great /S", False, "great /S"),
        ("great./s", True, "great."),
        ("/s", True, ""),
        ("a /s /s", True, "a"),
        ("&amp;lt; b", False, "&lt; b"),
        ("&nbsp; &quot;", False, "&nbsp; &quot;"),
        (" a \t\n b ", False, "a b"),
    ],
)
def test_markers_and_white_space(tmp_path: Path, body: str, marked: bool, text: str) -> None:
    assert rows(tmp_path, [body])[0][0] is marked
    assert rows(tmp_path, [body])[0][2] == text


def test_reasons_come_in_their_order(tmp_path: Path) -> None:
    texts = ["[deleted]", "http://é", "é", "\u00a0/s", " /s", "WWW. HTTP://", "fine"]
    found = [row[1] for row in rows(tmp_path, texts)]
    assert found == ["deleted", "url", "non_ascii", "non_ascii", "empty", "", ""]


def test_other_markers_and_rules_can_be_chosen(tmp_path: Path) -> None:
    rules = TextRules(markers=("#sarcasm", "/sarc"), not_after="", url_signs=(), ascii_only=False)
    found = rows(tmp_path, ["what fun#sarcasm", "é http://x /sarc", "plain /s"], rules)
    assert [row[:3] for row in found] == [(True, "", "what fun"), (True, "", "é http://x"), (False, "", "plain /s")]


def test_a_wrong_rule_is_an_error() -> None:
    with pytest.raises(ConfigError, match="at least one marker"):
        TextRules(markers=())
    with pytest.raises(ConfigError, match="not a character class"):
        TextRules(not_after="z-a")


def test_times_are_of_the_years_1970_to_9999(tmp_path: Path) -> None:
    path = tmp_path / "dump.ndjson"
    times = [-1, 0, 253402300799, 253402300800]  # the third is 9999-12-31 23:59:59
    lines = [json.dumps({"id": "c", "body": "x", "created_utc": time}) for time in times]
    path.write_text("\n".join(lines) + "\n")
    query = comments_query(str(path), TextRules())
    found = duckdb.connect().execute(f"SELECT id, month FROM ({query})").fetchall()
    assert [id for id, _ in found] == [None, "c", "c", None]
    assert [month for _, month in found[1:3]] == [197001, 999912]
