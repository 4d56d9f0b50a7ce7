"""The text rules as SQL, which DuckDB runs once over every line of a dump, whatever the engine.

All later steps see only the columns made here. White space is the Unicode property White_Space, spelled out,
since \\s has another meaning in every engine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from deadpan.corpus.checkpoints import key_hash
from deadpan.corpus.engines.duckdb import literal
from deadpan.corpus.lines import OBJECT_SIZE
from deadpan.corpus.settings import TextRules
from deadpan.errors import DataError
from deadpan.storage import read_json

# U+0009-000D, 0020, 0085, 00A0, 1680, 2000-200A, 2028, 2029, 202F, 205F, 3000. Not U+180E, 200B, FEFF, 001C.
_WIDE = r"\x{9}-\x{d}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
WHITE = rf"[\x{{20}}{_WIDE}]"
NOT_PLAIN = rf"{WHITE}{WHITE}+|[{_WIDE}]"  # white space that is not a single space

_MARGIN = 20  # white space around a placeholder
_SIGN = r"[\^\\]"  # formats a marker
LATEST = 253_402_300_799  # the last second of the year 9999
SOUND_ID = "^[0-9A-Za-z_-]+$"  # other characters would break the layout, which separates ids by spaces and |

_COMMENT_FIELDS = (
    "id", "parent_id", "link_id", "author", "subreddit", "body", "score", "ups", "downs", "created_utc",
    "retrieved_on", "_meta",
)  # fmt: skip
_POST_FIELDS = (
    "id", "author", "subreddit", "title", "score", "ups", "downs", "created_utc", "retrieved_on", "_meta",
)  # fmt: skip

_TYPES = {
    **dict.fromkeys(("score", "ups", "downs", "created_utc", "retrieved_on"), "DOUBLE"),
    **dict.fromkeys(("body", "title", "_meta"), "JSON"),
}
GONE = "[deleted]"
DELETED_LATER, REMOVED_LATER = "deleted_later", "removed_later"
# Reasons of comments whose author or a moderator took them back; nothing of them is shown.
WITHDRAWN_REASONS = ("deleted", DELETED_LATER, REMOVED_LATER)

FORGOTTEN = "forgotten.json"
_TOMBSTONE = "deadpan forgotten author: "
_AUTHOR_PREFIX = re.compile(r"^(https?://)?(www\.|old\.)?(reddit\.com)?/?(user|u)/", re.IGNORECASE)


def has_url(column: str, rules: TextRules) -> str:
    """Return the condition that a text has a sign of a link; the two common signs are tested together."""
    signs = {sign: f"contains({column}, {literal(sign)})" for sign in rules.url_signs}
    addresses = [test for sign, test in signs.items() if sign.endswith("://")]
    others = [test for sign, test in signs.items() if not sign.endswith("://")]
    if addresses:
        others.append(f"contains({column}, '://') AND ({' OR '.join(addresses)})")
    return "(" + (" OR ".join(others) or "false") + ")"


def unescaped(column: str) -> str:
    """Return a text without the escapes of Reddit's API; in this order, once, `&amp;lt;` becomes `&lt;`."""
    text = column
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = f"replace({text}, '{entity}', '{character}')"
    return f"CASE WHEN contains({column}, '&') THEN {text} ELSE {column} END"


def _trimmed(text: str) -> str:
    """Return a text without spaces at its ends; `trim` on every text would cost as much as parsing JSON."""
    return f"CASE WHEN starts_with({text}, ' ') OR ends_with({text}, ' ') THEN trim({text}) ELSE {text} END"


def _number(column: str) -> str:
    """Return an integer, whether the dump has 5, 5.0, "5" or true; null for anything else."""
    return f"TRY_CAST(floor({column}) AS BIGINT)"


class MarkerRule:
    """Conditions that a text ends in a marker, and the text without it."""

    def __init__(self, rules: TextRules) -> None:
        self.markers = sorted(rules.markers, key=lambda marker: (-len(marker), marker))
        self.either = "|".join(re.escape(marker) for marker in self.markers)
        self.not_after = rules.not_after
        self.before = f"(?:^|[^{rules.not_after}])" if rules.not_after else ""

    def marked(self, column: str) -> str:
        """Return the condition that a text ends in a marker that is a separate token."""
        pattern = f"{self.before}(?:{self.either}){WHITE}*$"
        there = " OR ".join(f"contains({column}, {literal(marker)})" for marker in self.markers)
        # CASE and not AND, which would search every text with the regular expression.
        return f"CASE WHEN {there} THEN regexp_matches({column}, {literal(pattern)}) ELSE false END"

    def stripped(self, column: str) -> str:
        """Return a text without the markers at its end, what formats them, and the white space around them.

        "^/s" is small print and "\\/s" is escaped; a sign that stays would give the label away. So would the first
        marker of "/s /s"; one that is part of a word, as in "and/s /s", stays.
        """
        again = f"(?:{WHITE}+{_SIGN}*|{_SIGN}+)(?:{self.either})"
        if self.not_after:
            first = f"(?:(^|[^{self.not_after}{_WIDE}\\x{{20}}\\^\\\\])(?:{self.either}))?(?:{again})*"
        else:
            first = f"()(?:{WHITE}*{_SIGN}*(?:{self.either}))+"
        return f"regexp_replace({column}, {literal(first + WHITE + '*$')}, {literal(chr(92) + '1')})"


def _fields(source: str, names: Iterable[str]) -> str:
    """Return the table function that reads JSON lines as columns; an unreadable line is a row of nulls.

    Numbers are read as DOUBLE: old dumps have "created_utc":"1134365188", new ones 1706745600.0. Texts are
    read as JSON, because only that tells the text "5" from the number 5.
    """
    columns = ", ".join(f"{name}: '{_TYPES.get(name, 'VARCHAR')}'" for name in names)
    return (
        f"read_json({literal(source)}, format='newline_delimited', columns={{{columns}}}, ignore_errors=true,"
        f" maximum_object_size={OBJECT_SIZE})"
    )


_MONTH = "year(make_timestamp(moment * 1000000)) * 100 + month(make_timestamp(moment * 1000000))"
_ASCII = "strlen(words) = length(words)"
# Copies are compared by time of retrieval, then by what they say: a comment that was deleted after it was
# first retrieved stays deleted, and a copy that says so is better than one that does not know.
_SAYS = "CASE WHEN gone AND later <> '' THEN 3 WHEN later <> '' THEN 2 WHEN gone THEN 0 ELSE 1 END"
_RANK = f"4 * greatest(0, least(coalesce(retrieved, 0), 576460752303423488)) + {_SAYS}"
# Conditions that a copy has lost its text, or still has it.
RANK_GONE, RANK_HAS_TEXT = "rank % 4 IN (0, 3)", "rank % 4 IN (1, 2)"


def comments_query(source: str, rules: TextRules, forget: str = "") -> str:
    """Return the SELECT that turns a dump of comments into rows; `id` is null if a line is not a comment.

    `up` is the parent comment; `thread` is the post; `on_post` is true if the comment answers the post;
    `link` is null unless the dump names another post; `rank` orders copies of a comment. `forget` is a table
    of tombstones of authors whose texts are removed.
    """
    marker = MarkerRule(rules)
    not_ascii = "NOT ascii" if rules.ascii_only else "false"
    return f"""
    WITH fields AS (
      SELECT *, {_text("body")} AS said FROM {_fields(source, _COMMENT_FIELDS)}
    ), named AS (
      SELECT CASE WHEN {_sound("said")} THEN id END AS id, {_common(forget)}, {unescaped("said")} AS words,
        CASE WHEN starts_with(parent_id, 't1_') THEN nullif(substr(parent_id, 4), '')
             WHEN starts_with(parent_id, 't3_') OR parent_id IN ('', {_bare("link_id")}) THEN NULL
             ELSE parent_id END AS up,
        CASE WHEN starts_with(parent_id, 't1_') THEN NULL
             WHEN NOT regexp_matches({_bare("parent_id")}, {literal(SOUND_ID)}) THEN NULL
             WHEN starts_with(parent_id, 't3_') THEN substr(parent_id, 4)
             WHEN parent_id = {_bare("link_id")} THEN parent_id END AS top,
        coalesce({_bare("link_id")}, '') AS link
      FROM fields
    ), tested AS (
      SELECT *, {marker.marked("words")} AS marked, {_ASCII} AS ascii, {_gone(rules)} AS gone FROM named
    ), stripped AS (
      SELECT *, CASE WHEN marked THEN {marker.stripped("words")} ELSE words END AS bare FROM tested
    ), spaced AS (
      SELECT *, {_spaced("bare")} AS spaced FROM stripped
    ), finished AS (
      SELECT *, {_trimmed("spaced")} AS clean, tombstone IS NOT NULL AS forgotten FROM spaced
    )
    SELECT id, up, coalesce(top, link) AS thread, top IS NOT NULL AS on_post,
      CASE WHEN link <> coalesce(top, link) THEN link END AS link, {_shown_author("finished")} AS author,
      subreddit, score, ups, downs, moment AS created_utc, CAST({_MONTH} AS INTEGER) AS month,
      {_RANK} AS rank, marked,
      CASE WHEN forgotten THEN 'forgotten' WHEN gone THEN 'deleted' WHEN later <> '' THEN later
           WHEN {has_url("words", rules)} THEN 'url' WHEN {not_ascii} THEN 'non_ascii'
           WHEN clean = '' THEN 'empty' ELSE '' END AS reason,
      {_shown_text()} AS text,
      CASE WHEN marked AND NOT forgotten AND later = '' THEN words END AS original, tombstone
    FROM finished
    """


def posts_query(source: str, rules: TextRules, forget: str = "") -> str:
    """Return the SELECT that turns a dump of submissions into rows; `id` is null if a line is not one."""
    return f"""
    WITH fields AS (
      SELECT *, {_text("title")} AS said FROM {_fields(source, _POST_FIELDS)}
    ), named AS (
      SELECT CASE WHEN {_sound("said")} THEN id END AS id, {_common(forget)}, {unescaped("said")} AS words
      FROM fields
    ), tested AS (
      SELECT *, {_ASCII} AS ascii, {_gone(rules)} AS gone FROM named
    ), spaced AS (
      SELECT *, {_spaced("words")} AS spaced FROM tested
    ), finished AS (
      SELECT *, {_trimmed("spaced")} AS clean, tombstone IS NOT NULL AS forgotten FROM spaced
    )
    SELECT id, {_shown_author("finished")} AS author, subreddit, score, ups, downs, moment AS created_utc,
      CAST({_MONTH} AS INTEGER) AS month, {_RANK} AS rank, {_shown_text()} AS text, tombstone
    FROM finished
    """


def _common(forget: str) -> str:
    """Return the columns that comments and submissions share."""
    stone = tombstone_sql("author")
    # The name in a withdrawn comment is left out in any case, so such a comment does not count as forgotten:
    # a unit that was read before the name was given can then be used as it is.
    known = f"{stone} IN (SELECT name FROM {forget}) AND {_later()} = ''"
    tombstone = f"CASE WHEN {known} THEN {stone} END" if forget else "NULL"
    return f"""coalesce(nullif(author, ''), {literal(GONE)}) AS author, coalesce(subreddit, '') AS subreddit,
        {_number("score")} AS score, {_number("ups")} AS ups, {_number("downs")} AS downs, {_moment()} AS moment,
        greatest({_number("retrieved_on")}, {_second()}) AS retrieved,
        CAST({tombstone} AS VARCHAR) AS tombstone, {_later()} AS later"""


def tombstone_sql(author: str) -> str:
    """Return the hash under which an author is remembered as forgotten; `tombstone` is the same."""
    return f"sha256({literal(_TOMBSTONE)} || lower({author}))"


def _text(column: str) -> str:
    """Return a JSON value as text without NUL, which no text file may have, if it is a string; else null."""
    text = f"json_extract_string({column}, '$')"
    clean = f"CASE WHEN contains({column}, '\\u0000') THEN replace({text}, chr(0), '') ELSE {text} END"
    return f"CASE WHEN starts_with({column}, '\"') THEN {clean} END"


def _moment() -> str:
    """Return the time of a comment, null where no calendar has it: a larger number would stop the query."""
    return f"CASE WHEN created_utc BETWEEN 0 AND {LATEST + 1} THEN nullif({_number('created_utc')}, {LATEST + 1}) END"


def _second() -> str:
    """Return the time of the second retrieval, if there was one."""
    moment = _number("TRY_CAST(json_extract_string(_meta, '$.retrieved_2nd_on') AS DOUBLE)")
    return f"CASE WHEN contains(_meta, 'retrieved_2nd_on') THEN {moment} END"


def _later() -> str:
    """Return why a comment was gone at the second retrieval (dumps since 2023-11); mostly empty."""
    known = "contains(_meta, 'was_deleted_later') OR contains(_meta, 'removal_type')"
    kind = "json_extract_string(_meta, '$.removal_type')"
    return f"""CASE WHEN _meta IS NULL OR NOT ({known}) THEN ''
          WHEN {kind} NOT IN ('', 'deleted') THEN {literal(REMOVED_LATER)}
          WHEN {kind} = 'deleted' OR json_extract_string(_meta, '$.was_deleted_later') = 'true'
          THEN {literal(DELETED_LATER)} ELSE '' END"""


def _gone(rules: TextRules) -> str:
    """Return the condition that a placeholder stands for the author or the text, in any case and with any margins."""
    listed = [one.strip().lower() for one in rules.deleted]
    longest = max(map(len, listed), default=0)
    # Few texts have one of the first signs, such as [, and few of these are short. Not AND, which tests every text both
    # ways: trimming all of them would cost six times as much as parsing JSON.
    signs = sorted({one[:1] for one in listed})
    sign = " OR ".join(f"contains(words, {literal(sign)})" for sign in signs)
    maybe = "true" if any(sign.isalpha() for sign in signs) else f"({sign or 'false'})"
    # Not IN: for a long list that is a join, which does not keep the order of the lines.
    bare = f"lower(regexp_replace(words, {literal(f'^{WHITE}+|{WHITE}+$')}, '', 'g'))"
    text = " OR ".join(f"{bare} = {literal(one)}" for one in listed) or "false"
    name = " OR ".join(f"author = {literal(one)}" for one in rules.deleted) or "false"
    return f"({name} OR CASE WHEN strlen(words) <= {longest + _MARGIN} AND {maybe} THEN {text} ELSE false END)"


def _shown_author(table: str) -> str:
    return f"CASE WHEN forgotten THEN '' WHEN later <> '' THEN {literal(GONE)} ELSE {table}.author END"


def _shown_text() -> str:
    return f"CASE WHEN forgotten THEN '' WHEN later <> '' THEN {literal(GONE)} ELSE clean END"


def _sound(words: str) -> str:
    """Return the condition that a line has the fields every rule needs."""
    return f"{words} IS NOT NULL AND regexp_matches(id, {literal(SOUND_ID)}) AND {_moment()} IS NOT NULL"


def _bare(column: str) -> str:
    """Return an id without its t1_ or t3_."""
    named = f"starts_with({column}, 't3_') OR starts_with({column}, 't1_')"
    return f"CASE WHEN {named} THEN substr({column}, 4) ELSE {column} END"


def _spaced(column: str) -> str:
    """Return a text with each run of white space as one space.

    The tests before are for speed: most texts have no such run, and the regular expression alone costs half
    as much as parsing JSON. The column `ascii` describes the text before this.
    """
    signs = [f"contains({column}, chr({code}))" for code in range(9, 14)] + [f"contains({column}, '  ')"]
    odd = " OR ".join(["NOT ascii", *signs])
    return f"CASE WHEN {odd} THEN regexp_replace({column}, {literal(NOT_PLAIN)}, ' ', 'g') ELSE {column} END"


# ---------------------------------------------------------------- authors who asked to be forgotten


def tombstone(name: str) -> str:
    """Return the hash under which an author is remembered; case does not matter."""
    return hashlib.sha256((_TOMBSTONE + name.lower()).encode()).hexdigest()


class Forgotten:
    """Tombstones of authors: those a corpus has, and those of a new file of names.

    Names and texts of these authors are removed while dumps are read. A tombstone is the hash of a name, so
    that no later build restores it.
    """

    def __init__(self, tombstones: Iterable[str] = (), names: Mapping[str, str] | None = None) -> None:
        self.names = dict(names or {})
        self.tombstones = frozenset({*tombstones, *self.names})

    @classmethod
    def read(cls, path: Path | None, out: Path | None = None, more: Iterable[str] = ()) -> Forgotten:
        """Read a file with one name per line (with or without u/), and the tombstones of a corpus."""
        file = out / FORGOTTEN if out else None
        kept = read_json(file)["tombstones"] if file and file.is_file() else ()
        return cls([*kept, *more], _names(path))

    def __bool__(self) -> bool:
        return bool(self.tombstones)

    @property
    def key(self) -> str:
        """Hash of the tombstones for a step's key; empty if there are none."""
        return key_hash(sorted(self.tombstones)) if self.tombstones else ""

    def load(self, connection: duckdb.DuckDBPyConnection) -> str:
        """Write the tombstones into a table; return its name, or an empty text if there are none."""
        if not self.tombstones:
            return ""
        connection.execute("CREATE OR REPLACE TABLE forgotten_authors (name VARCHAR)")
        connection.executemany("INSERT INTO forgotten_authors VALUES (?)", [[one] for one in sorted(self.tombstones)])
        return "forgotten_authors"

    def unmatched(self, matched: Iterable[str]) -> list[str]:
        """Return the names of the file that no dump has."""
        found = set(matched)
        return sorted(name for stone, name in self.names.items() if stone not in found)

    def as_dict(self) -> dict[str, list[str]]:
        """Return the contents of the file that a corpus keeps."""
        return {"tombstones": sorted(self.tombstones)}


def _names(path: Path | None) -> dict[str, str]:
    """Return the names in a file by their tombstones."""
    if path is None:
        return {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file: --forget needs a file with one author per line") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text: --forget needs one author per line") from None
    names = (_AUTHOR_PREFIX.sub("", line.strip()).strip("/@") for line in lines)
    return {tombstone(name): name for name in names if name}
