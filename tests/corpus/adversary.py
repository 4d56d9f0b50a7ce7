"""Adversarial dumps: all white space, cycles, orphans, duplicates, months out of order, broken lines."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

MONTHS = (1262304000, 1264982400, 1267401600, 1270080000)  # 2010-01 to 2010-04
SPACES = ("\t", "\n", "\v", "\f", "\r", " ", "\x85", "\xa0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029",
          "\u202f", "\u205f", "\u3000")  # fmt: skip
NOT_SPACES = ("\u180e", "\u200b", "\ufeff", "\x1c", "\x1f", "\x00", "\u2060")
WORDS = [
    "oh",
    "sure",
    "what",
    "a",
    "great",
    "idea",
    "that",
    "is",
    "not",
    "how",
    "it",
    "works",
    "you",
    "know",
    "we",
    "love",
    "this",
    "so",
    "much",
    "never",
    "again",
    "fine",
]
MARKS = (" /s", "/s", " /s\n", " /s \t ", "\n\n/s", "./s", '"/s', "(/s", " /s /s", "é/s", " /s\u2028", " /s\x85",
         " /s\u3000", " /s\u180e", " /s\x00", " /s\u200b", "_/s")  # fmt: skip
NOT_MARKS = (" 5 m/s", " and/s", " </s", "//s", " /S", " /s.", " /s ok", " / s", " Z/s", " 9/s")
BODIES = ("[deleted]", "[removed]", "", " ", "/s", " /s", "\u00a0", "&gt;", "&amp;lt;", "&amp;gt; a &amp;amp; b", "!!!",
          "www.x.org", "see http://x", "HTTPS://X", "[a](b)", "a\nb\r\nc", '"quoted", yes', "5 5", "é", "tab\there",
          "nul\x00in", "back\\slash", "  two  spaces  ", "x" * 300, " ".join(["w"] * 60))  # fmt: skip
METAS = ({"retrieved_2nd_on": 2}, {"retrieved_2nd_on": "1", "was_deleted_later": True}, {"removal_type": "deleted"},
         {"was_deleted_later": False}, {"removal_type": "moderator", "was_deleted_later": True}, {"note": "was_deleted_later"},
         {"is_edited": True}, {"removal_type": None}, "text", [], None, 3)  # fmt: skip
AUTHORS = ("ann", "Bob", "cy", "dee", "eve_5", "[deleted]", "f g", "han\u00a0", "[removed]")
BROKEN = (b"{", b"not json", b"[1, 2]", b"null", b'"text"', b"{}", b'{"id": "a"}', b"\xff\xfe", b"", b"   ", b"\r",
          b'{"id":"x y","body":"b","created_utc":1262304000}', b'{"id":"q","body":"b","created_utc":"soon"}',
          b'{"id":"q2","body":"b","created_utc":-5}', b'{"id":"q3","body":null,"created_utc":1262304000}',
          b'{"id":"q4","body":"\\ud800 half","created_utc":1262304000}', b'{"id":"q5","body":"cut')  # fmt: skip


@dataclass
class Dumps:
    """Plain bytes of dumps, by file name."""

    comments: dict[str, bytes] = field(default_factory=dict)
    posts: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> list[str]:
        """As files; their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in {**self.comments, **self.posts}.items():
            (folder / name).write_bytes(text)
        return [str(folder / name) for name in (*self.comments, *self.posts)]


def adversary(seed: int, comments: int = 200, files: int = 3, honest: bool = False) -> Dumps:
    """Dumps in which nothing can be relied upon; but for link_id, if `honest`."""
    random = Random(seed)
    ids = [f"c{number:x}" for number in range(comments)]
    posts = [f"p{number}" for number in range(max(3, comments // 20))] + ["c3"]
    lines: list[bytes] = []
    threads: dict[str, str] = {}
    for at, id in enumerate(ids):
        row = _comment(random, id, ids, posts, at)
        if honest:
            _tell_the_truth(random, row, posts, threads)
        lines.append(_line(random, row))
        for _ in range(2 if random.random() < 0.06 else 0):
            copy = _copy(random, row, ids, posts, at)
            if honest:
                copy |= {key: row.get(key) for key in ("parent_id", "link_id")}
            lines.append(_line(random, copy))
    lines += [random.choice(BROKEN) for _ in range(comments // 20)]
    random.shuffle(lines)
    titles = [_line(random, _post(random, id)) for id in posts if random.random() < 0.7]
    titles += [_line(random, _post(random, id)) for id in posts if random.random() < 0.2]
    return Dumps(
        {f"RC_part{number}.ndjson": b"\n".join(lines[number::files]) + b"\n" for number in range(files)},
        {"RS_part.ndjson": b"\n".join([*titles, b"oops"]) + b"\n"},
    )


def _tell_the_truth(random: Random, row: dict[str, Any], posts: list[str], threads: dict[str, str]) -> None:
    """A link_id that is the parent's; circles only within a thread."""
    parent = row.get("parent_id")
    above = parent[3:] if isinstance(parent, str) and parent.startswith("t1_") else ""
    if isinstance(parent, str) and parent.startswith("t3_") and len(parent) > 3:
        thread = parent[3:]
    elif above in threads or above == "missing":
        thread = threads.get(above, random.choice(posts))
    else:
        thread = random.choice(posts)
        row["parent_id"] = random.choice([f"t3_{thread}", f"t1_{row.get('id')}", "t1_missing", f"t3_{thread}"])
    row["link_id"] = f"t3_{thread}"
    if isinstance(row.get("id"), str):
        threads[row["id"]] = thread


def _comment(random: Random, id: str, ids: list[str], posts: list[str], at: int) -> dict[str, Any]:
    post = random.choice(posts)
    chance = random.random()
    if chance < 0.45:
        parent: Any = f"t3_{post}"
    elif chance < 0.9:
        near = max(0, at - 12) if random.random() < 0.8 else 0
        parent = f"t1_{random.choice(ids[near : at + 1])}"
    else:
        parent = random.choice(
            ["t1_missing", f"t1_{random.choice(ids)}", f"t1_{id}", None, "", "t1_", "t3_", post, random.choice(ids), 7]
        )
    row: dict[str, Any] = {
        "id": id,
        "parent_id": parent,
        # Mostly right threads are unlikely with random parents: link_id is wrong most of the time, on purpose.
        "link_id": random.choice([f"t3_{post}", f"t3_{posts[at % len(posts)]}", post, None, ""]),
        "author": random.choice(AUTHORS),
        "subreddit": random.choice(["politics", "Politics", "funny", "a b", None]),
        "body": _body(random),
        "score": random.choice([1, -5, "12", 3.0, None, "x"]),
        "created_utc": _moment(random),
        "retrieved_on": random.choice([0, 1, 2, None, "3"]),
    }
    if random.random() < 0.2:
        row["_meta"] = random.choice(METAS)
    if random.random() < 0.02:
        row["body"] = random.choice([5, 5.5, True, [1], {"a": "b"}, ["[deleted]"]])
    if random.random() < 0.5:
        row |= {"ups": random.choice([1, "2", None]), "downs": random.choice([0, None])}
    if random.random() < 0.1:
        del row[random.choice(list(row))]
    return row


def _copy(random: Random, row: dict[str, Any], ids: list[str], posts: list[str], at: int) -> dict[str, Any]:
    """Another version: the same, or changed in a way that only its raw line decides."""
    chance = random.random()
    if chance < 0.3:
        return dict(row)
    if chance < 0.6:
        return {**row, "score": random.randrange(99), "edited": True}
    return {**_comment(random, row.get("id", "c0"), ids, posts, at), "retrieved_on": row.get("retrieved_on")}


def _post(random: Random, id: str) -> dict[str, Any]:
    return {
        "id": id,
        "title": _body(random),
        "author": random.choice(AUTHORS),
        "subreddit": random.choice(["politics", "funny"]),
        "score": random.randrange(9),
        "created_utc": _moment(random),
        "retrieved_on": random.randrange(3),
    }


def _moment(random: Random) -> Any:
    moment = random.choice(MONTHS) + random.choice([0, 0, 1, 86_399, random.randrange(2_000_000)])
    return random.choice([moment, str(moment), float(moment), f"{moment}.0"])


def _body(random: Random) -> str:
    if random.random() < 0.15:
        return random.choice(BODIES)
    words = [random.choice(WORDS) for _ in range(random.randrange(1, 12))]
    text = "".join(word + random.choice([" ", " ", " ", " ", random.choice(SPACES), "  "]) for word in words).strip(" ")
    chance = random.random()
    if chance < 0.22:
        return text.rstrip() + random.choice(MARKS)
    if chance < 0.3:
        return text.rstrip() + random.choice(NOT_MARKS)
    if chance < 0.34:
        return text + random.choice(NOT_SPACES)
    return text


def _line(random: Random, row: dict[str, Any]) -> bytes:
    items = list(row.items())
    random.shuffle(items)
    text = json.dumps(dict(items), ensure_ascii=random.random() < 0.5)
    return text.encode() + (b"\r" if random.random() < 0.05 else b"")
