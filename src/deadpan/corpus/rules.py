"""The text rules, in one place: SQL that DuckDB runs once over every line of a dump, for every engine.

Everything after this sees only what these columns say. White space is the Unicode property White_Space,
spelled out: \\s means something else in every engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from deadpan.corpus.lines import LONGEST_LINE
from deadpan.corpus.settings import TextRules

# U+0009-000D, 0020, 0085, 00A0, 1680, 2000-200A, 2028, 2029, 202F, 205F, 3000. Not U+180E, 200B, FEFF, 001C.
_WIDE = r"\x{9}-\x{d}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
WHITE = rf"[\x{{20}}{_WIDE}]"
NOT_PLAIN = rf"{WHITE}{WHITE}+|[{_WIDE}]"  # what a single space does not already say

LATEST = 253_402_300_799  # the last second of the year 9999
SOUND_ID = "^[0-9A-Za-z_-]+$"  # anything else would break the layout, which puts spaces and | between ids

COMMENT_FIELDS = (
    "id", "parent_id", "link_id", "author", "subreddit", "body", "score", "ups", "downs", "created_utc",
    "retrieved_on",
)  # fmt: skip
POST_FIELDS = (
    "id", "author", "subreddit", "title", "score", "ups", "downs", "created_utc", "retrieved_on",
)  # fmt: skip

NUMBERS = frozenset({"score", "ups", "downs", "created_utc", "retrieved_on"})


def literal(text: str) -> str:
    """Text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def literals(paths: Iterable[Path]) -> str:
    """Paths as an SQL list."""
    return f"[{', '.join(literal(str(path)) for path in paths)}]"


def any_of(column: str, words: Iterable[str]) -> str:
    """SQL: the column is one of these words."""
    listed = ", ".join(map(literal, words))
    return f"{column} IN ({listed})" if listed else "false"


def has_url(column: str, rules: TextRules) -> str:
    """SQL: one of the signs of a link. The two common ones are looked for once, by what they share."""
    signs = {sign: f"contains({column}, {literal(sign)})" for sign in rules.url_signs}
    addresses = [test for sign, test in signs.items() if sign.endswith("://")]
    others = [test for sign, test in signs.items() if not sign.endswith("://")]
    if addresses:
        others.append(f"contains({column}, '://') AND ({' OR '.join(addresses)})")
    return "(" + (" OR ".join(others) or "false") + ")"


def unescaped(column: str) -> str:
    """Reddit's API escapes three characters; undone in this order, once, `&amp;lt;` stays `&lt;`."""
    text = column
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = f"replace({text}, '{entity}', '{character}')"
    return f"CASE WHEN contains({column}, '&') THEN {text} ELSE {column} END"


def _trimmed(text: str) -> str:
    """SQL: no space at the ends. `trim` on every text would cost as much as reading the JSON."""
    return f"CASE WHEN starts_with({text}, ' ') OR ends_with({text}, ' ') THEN trim({text}) ELSE {text} END"


def number(column: str) -> str:
    """A whole number, whether the dump has 5, 5.0 or "5" (or true, for 1); null for anything else."""
    return f"TRY_CAST(floor({column}) AS BIGINT)"


class MarkerRule:
    """Which texts end in a marker, and what they are without it."""

    def __init__(self, rules: TextRules) -> None:
        self.markers = sorted(rules.markers, key=lambda marker: (-len(marker), marker))
        self.either = "|".join(re.escape(marker) for marker in self.markers)
        self.before = f"(?:^|[^{rules.not_after}])" if rules.not_after else ""

    def marked(self, column: str) -> str:
        """SQL: the text ends in a marker that is a token of its own. RE2's $ is the very end."""
        pattern = f"{self.before}(?:{self.either}){WHITE}*$"
        there = " OR ".join(f"contains({column}, {literal(marker)})" for marker in self.markers)
        return f"({there}) AND regexp_matches({column}, {literal(pattern)})"

    def stripped(self, column: str) -> str:
        """SQL: the text without its last marker and the white space around it."""
        pattern = f"{WHITE}*(?:{self.either}){WHITE}*$"
        return f"regexp_replace({column}, {literal(pattern)}, '')"


def _fields(source: str, names: Iterable[str]) -> str:
    """The JSON lines of a source as columns; a line that cannot be read is a row of nulls.

    Not whole numbers: old dumps have "created_utc":"1134365188", new ones 1706745600.0, broken ones worse.
    """
    types = {name: "DOUBLE" if name in NUMBERS else "VARCHAR" for name in names}
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in types.items())
    return (
        f"read_json({literal(source)}, format='newline_delimited', columns={{{columns}}}, ignore_errors=true,"
        f" maximum_object_size={LONGEST_LINE})"
    )


_MONTH = "year(make_timestamp(moment * 1000000)) * 100 + month(make_timestamp(moment * 1000000))"
_ASCII = "strlen(words) = length(words)"
_RANK = (
    "CASE WHEN gone THEN 0 ELSE 1152921504606846976 END"
    " + greatest(0, least(coalesce(retrieved, 0), 576460752303423488))"
)


def comments_query(source: str, rules: TextRules, forget: str = "") -> str:
    """SELECT that turns a dump of comments into rows; `id` is null where a line is not a comment.

    `up` is the parent comment; `thread` is the post, `on_post` says whether it is what is answered, `link` is
    null unless the dump names another post than that; `rank` orders copies of one comment. `forget` is a
    table of lower-case names whose words are left out.
    """
    marker = MarkerRule(rules)
    forgotten = f"lower(author) IN (SELECT name FROM {forget})" if forget else "false"
    not_ascii = "NOT ascii" if rules.ascii_only else "false"
    return f"""
    SELECT id, up, thread, on_post, CASE WHEN link <> thread THEN link END AS link,
      CASE WHEN forgotten THEN '' ELSE author END AS author, subreddit, score, ups, downs,
      moment AS created_utc, CAST({_MONTH} AS INTEGER) AS month, {_RANK} AS rank, marked,
      CASE WHEN forgotten THEN 'forgotten' WHEN gone THEN 'deleted' WHEN {has_url("words", rules)} THEN 'url'
           WHEN {not_ascii} THEN 'non_ascii' WHEN text = '' THEN 'empty' ELSE '' END AS reason,
      CASE WHEN forgotten THEN '' ELSE text END AS text,
      CASE WHEN marked AND NOT forgotten THEN words END AS original
    FROM (SELECT *, {_trimmed("spaced")} AS text FROM (SELECT *, {_spaced("bare")} AS spaced FROM (
      SELECT *, CASE WHEN marked THEN {marker.stripped("words")} ELSE words END AS bare,
        {any_of("author", rules.deleted)} OR {any_of("words", rules.deleted)} AS gone,
        {forgotten} AS forgotten
      FROM (SELECT *, {marker.marked("words")} AS marked, {_ASCII} AS ascii,
          top IS NOT NULL AS on_post, coalesce(top, link) AS thread FROM (
        SELECT CASE WHEN {_sound("body")} THEN id END AS id,
          CASE WHEN starts_with(parent_id, 't1_') THEN nullif(substr(parent_id, 4), '')
               WHEN starts_with(parent_id, 't3_') OR parent_id IN ('', {_bare("link_id")}) THEN NULL
               ELSE parent_id END AS up,
          CASE WHEN starts_with(parent_id, 't1_') THEN NULL
               WHEN NOT regexp_matches({_bare("parent_id")}, {literal(SOUND_ID)}) THEN NULL
               WHEN starts_with(parent_id, 't3_') THEN substr(parent_id, 4)
               WHEN parent_id = {_bare("link_id")} THEN parent_id END AS top,
          coalesce({_bare("link_id")}, '') AS link,
          coalesce(author, '[deleted]') AS author, coalesce(subreddit, '') AS subreddit,
          coalesce({number("score")}, 0) AS score, coalesce({number("ups")}, -1) AS ups,
          coalesce({number("downs")}, -1) AS downs, {number("created_utc")} AS moment,
          {number("retrieved_on")} AS retrieved, {unescaped("body")} AS words
        FROM {_fields(source, COMMENT_FIELDS)})))))
    """


def posts_query(source: str, rules: TextRules, forget: str = "") -> str:
    """SELECT that turns a dump of submissions into rows; `id` is null where a line is not one."""
    forgotten = f"lower(author) IN (SELECT name FROM {forget})" if forget else "false"
    return f"""
    SELECT id, CASE WHEN forgotten THEN '' ELSE author END AS author, subreddit, score, ups, downs,
      moment AS created_utc, CAST({_MONTH} AS INTEGER) AS month, {_RANK} AS rank,
      CASE WHEN forgotten THEN '' ELSE {_trimmed("spaced")} END AS text
    FROM (SELECT *, {_spaced("words")} AS spaced, {forgotten} AS forgotten,
        {any_of("author", rules.deleted)} OR {any_of("words", rules.deleted)} AS gone
      FROM (SELECT *, {_ASCII} AS ascii FROM (SELECT CASE WHEN {_sound("title")} THEN id END AS id,
          coalesce(author, '[deleted]') AS author, coalesce(subreddit, '') AS subreddit,
          coalesce({number("score")}, 0) AS score, coalesce({number("ups")}, -1) AS ups,
          coalesce({number("downs")}, -1) AS downs, {number("created_utc")} AS moment,
          {number("retrieved_on")} AS retrieved, {unescaped("title")} AS words
        FROM {_fields(source, POST_FIELDS)})))
    """


def _sound(words: str) -> str:
    """SQL: the line has what no rule can do without."""
    moment = number("created_utc")
    return (
        f"{words} IS NOT NULL AND regexp_matches(id, {literal(SOUND_ID)}) AND {moment} BETWEEN 0 AND {LATEST}"
    )


def _bare(column: str) -> str:
    """SQL: an id without its t1_ or t3_."""
    named = f"starts_with({column}, 't3_') OR starts_with({column}, 't1_')"
    return f"CASE WHEN {named} THEN substr({column}, 4) ELSE {column} END"


def _spaced(column: str) -> str:
    """SQL: runs of white space as one space. The guards are for speed: most texts have none of these, and
    the expression alone costs half as much as reading the JSON. `ascii` is of the text before that."""
    signs = [f"contains({column}, chr({code}))" for code in range(9, 14)] + [f"contains({column}, '  ')"]
    odd = " OR ".join(["NOT ascii", *signs])
    return f"CASE WHEN {odd} THEN regexp_replace({column}, {literal(NOT_PLAIN)}, ' ', 'g') ELSE {column} END"
