"""Synthetic dumps that look like Reddit's, from a random seed: for tests, benchmarks and the tour.

They have deep trees, replies across months, authors with different marker habits, Unicode, links, deletions,
duplicates and broken lines. The same arguments give the same bytes on every machine.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from json.encoder import encode_basestring_ascii as quote
from pathlib import Path
from random import Random
from typing import IO, Literal, cast

from deadpan.corpus.built.folder import WrittenFiles
from deadpan.corpus.settings import month_name, month_number, month_start, next_month
from deadpan.errors import ConfigError
from deadpan.progress import Progress, silent
from deadpan.storage import atomic, write_manifest

Form = Literal["zst", "bz2", "xz", "gz", "plain"]
PACKERS: dict[str, tuple[str, ...]] = {
    "zst": ("zstd", "-q", "-c", "--long=31"),
    "bz2": ("bzip2", "-c"),
    "xz": ("xz", "-c", "-1"),
}
COMMENTS_PER_POST = 12
ACTIVE_POSTS = 400
_REMEMBERED = 24  # comments of a post that can still be answered

SUBREDDITS = ("AskReddit", "politics", "funny", "pics", "worldnews", "gaming", "science", "asoiaf", "soccer")
_COMMON = tuple(
    re.findall(
        r"\S+",
        """the to a i and of you is that it in for was my on not have this but be with they are so just like
        me if what he at or all about can do no don't as people one out from get up would know
        it's there more we when your who good think how time even really right why some has then
        well because make much way going want still been new see too had their by were will now
        yeah sure thing never say could only""",
    )
)
_SYLLABLES = ("ba", "co", "den", "fi", "gro", "han", "ki", "lo", "mar", "ne", "pol", "ra", "sti", "tu", "ver")
_ENDS = (".", ".", ".", "!", "?", "", "...")
_MARKS = (" /s", " /s", " /s", " /s", "\n\n/s", "./s", " /s ", " /s\n", "\u00a0/s")
_NEAR_MARKS = (" that is 5 m/s", " and/s", " <b>no</s", " /S", " you forgot the /s there", " w/s")
_FOREIGN = ("naïve", "Zürich", "정말", "😀", "¯\\_(ツ)_/¯", "\u2028", "\u3000", "—", "“quoted”")
_LINKS = ("http://i.imgur.com/x.jpg", "https://example.org/a?b=1&amp;c=2", "www.example.com", "[this](/r/pics)")


@dataclass(slots=True)
class SyntheticPost:
    """A submission that can still be answered, with its latest comments."""

    id: str
    subreddit: str
    comments: list[str] = field(default_factory=list)


def synthesize_dumps(
    out: Path,
    *,
    months: int = 2,
    comments: int = 10_000,
    seed: int = 0,
    start: str = "2010-01",
    form: Form = "zst",
    level: int = 3,
    progress: Progress = silent,
) -> WrittenFiles:
    """Write RC_ and RS_ files of some months, with the comments divided evenly among them."""
    if months < 1 or comments < 1:
        raise ConfigError(f"need at least 1 month and 1 comment, got {months} and {comments}")
    writer = _Writer(Random(f"deadpan {seed}"), comments)
    month, done = month_number(start), 0
    paths: list[Path] = []
    for number in range(months):
        share = comments * (number + 1) // months - comments * number // months
        suffix = "" if form == "plain" else f".{form}"
        names = [out / f"{kind}_{month_name(month)}{suffix}" for kind in ("RC", "RS")]
        with _packed(names[0], form, level) as said, _packed(names[1], form, level) as posted:
            for line, post in writer.month(month, share):
                said.write(line)
                if post:
                    posted.write(post)
                done += 1
                if done % 10_000 == 0:
                    progress("writing comments", done, comments)
        paths += names
        month = next_month(month)
    config = {"months": months, "comments": comments, "start": start, "form": form, "level": level}
    write_manifest(out, command="corpus synthesize", config=config, seed=seed, counts={"comments": comments})
    return WrittenFiles(tuple(paths))


@contextmanager
def _packed(path: Path, form: Form, level: int) -> Iterator[IO[bytes]]:
    """Open a file for writing compressed lines; it appears when it is complete."""
    with atomic(path) as temporary:
        if form == "plain":
            with temporary.open("wb") as file:
                yield file
        elif form == "gz":
            # Without name and time in the header, the same lines give the same bytes.
            with temporary.open("wb") as raw, gzip.GzipFile("", "wb", level, raw, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield from _piped(temporary, form, level)


def _piped(path: Path, form: Form, level: int) -> Iterator[IO[bytes]]:
    command = list(PACKERS[form])
    if not shutil.which(command[0]):
        raise ConfigError(f"the program {command[0]} is not installed: install it, or use --compression gz")
    if form == "zst":
        command.append(f"-{level}")
    with path.open("wb") as target:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=target)
        try:
            yield cast("IO[bytes]", process.stdin)
        finally:
            cast("IO[bytes]", process.stdin).close()
            status = process.wait()
    if status:
        raise OSError(f"{command[0]} ended with status {status} while writing {path}")


class _Writer:
    """State across months: ids increase, and old threads get more replies."""

    def __init__(self, random: Random, comments: int) -> None:
        self.random = random
        self.words, self.weights = _vocabulary()
        self.authors = max(40, comments // 25)
        self.comment_id, self.post_id = 36**6 // 3, 36**5 // 2
        self.posts: list[SyntheticPost] = []

    def month(self, month: int, comments: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield (comment line, post line or nothing), sorted by time."""
        first, last = month_start(month), month_start(next_month(month))
        modern = month % 2 == 0
        for number in range(comments):
            moment = first + (last - first) * number // comments
            posted = b""
            if not self.posts or self.random.random() < 1 / COMMENTS_PER_POST:
                posted = self._post(moment, modern)
            yield self._comment(moment, modern), posted

    def _post(self, moment: int, modern: bool) -> bytes:
        random = self.random
        self.post_id += 1
        post = SyntheticPost(_base36(self.post_id), SUBREDDITS[int(len(SUBREDDITS) * random.random() ** 2)])
        self.posts.append(post)
        if len(self.posts) > ACTIVE_POSTS:
            # Any thread but the newest may end, so some live long.
            self.posts.pop(int(random.random() ** 2 * (len(self.posts) - 1)))
        if random.random() < 0.03:
            return b""  # a submission that is in no dump
        title = self._sentence(3 + int(random.random() * 12))
        when = f"{moment}.0" if modern else str(moment)
        return (
            f'{{"archived":true,"author":{quote(self._author())},"created_utc":{when},'
            f'"domain":"self.{post.subreddit}","downs":0,"edited":false,"id":"{post.id}","is_self":true,'
            f'"link_flair_text":null,"media":null,"name":"t3_{post.id}",'
            f'"num_comments":{int(random.random() * 99)},"over_18":false,"retrieved_on":{moment + 9999},'
            f'"score":{self._score()},"selftext":"","subreddit":"{post.subreddit}",'
            f'"subreddit_id":"t5_2qh1i","title":{quote(title)},"ups":{self._score()},'
            f'"url":"http://example.com/{post.id}"}}\n'
        ).encode()

    def _comment(self, moment: int, modern: bool) -> bytes:
        random = self.random
        self.comment_id += 1
        id = _base36(self.comment_id)
        # The newest threads get most comments.
        post = self.posts[-1 - int(len(self.posts) * random.random() ** 3)]
        parent = f"t3_{post.id}"
        if post.comments and random.random() < 0.6:
            parent = f"t1_{post.comments[int(len(post.comments) * random.random() ** 0.5)]}"
        post.comments.append(id)
        if len(post.comments) > _REMEMBERED:
            del post.comments[int(random.random() * _REMEMBERED)]
        author, body = self._author(), self._body()
        chance = random.random()
        if chance < 0.025:
            author, body = "[deleted]", "[deleted]" if chance < 0.02 else "[removed]"
        elif _knows(author) and random.random() < _habit(author):
            mark = _MARKS[int(random.random() * len(_MARKS))]
            # A full stop of the marker's own replaces the sentence's: no sincere comment ends in two.
            body = (body.rstrip(".!?\n") if mark[0] == "." else body) + mark
        line = self._line(id, parent, post, author, body, moment, modern)
        if chance <= 0.9998:
            return line
        return line[: len(line) // 2] + b"\n" if random.random() < 0.5 else line + line  # half of it, or twice

    def _line(
        self, id: str, parent: str, post: SyntheticPost, author: str, body: str, moment: int, modern: bool
    ) -> bytes:
        score = self._score()
        home = f'"subreddit":"{post.subreddit}","subreddit_id":"t5_2q{len(post.subreddit)}"'
        if modern:
            return (
                f'{{"author":{quote(author)},"author_flair_css_class":null,"author_flair_text":null,'
                f'"body":{quote(body)},"can_gild":true,"controversiality":0,"created_utc":{moment},'
                f'"distinguished":null,"edited":false,"gilded":0,"id":"{id}","is_submitter":false,'
                f'"link_id":"t3_{post.id}","parent_id":"{parent}",'
                f'"permalink":"/r/{post.subreddit}/comments/{post.id}/x/{id}/",'
                f'"retrieved_on":{moment + 86400},"score":{score},"stickied":false,{home}}}\n'
            ).encode()
        return (
            f'{{"ups":{max(score, 0)},{home},"link_id":"t3_{post.id}","name":"t1_{id}","score_hidden":false,'
            f'"author_flair_css_class":null,"author_flair_text":null,"id":"{id}","removal_reason":null,'
            f'"gilded":0,"downs":0,"archived":false,"author":{quote(author)},"score":{score},'
            f'"retrieved_on":{moment + 86400},"body":{quote(body)},"distinguished":null,"edited":false,'
            f'"created_utc":"{moment}","controversiality":0,"parent_id":"{parent}"}}\n'
        ).encode()

    def _body(self) -> str:
        random = self.random
        length = 1 + min(400, int(random.lognormvariate(2.9, 0.95)))
        text = self._sentence(length)
        chance = random.random()
        if chance < 0.20:
            for share, change in _CHANGES:
                if chance < share:
                    return change(random, text)
        return text

    def _sentence(self, length: int) -> str:
        random = self.random
        text = " ".join(random.choices(self.words, cum_weights=self.weights, k=length))
        return text[0].upper() + text[1:] + _ENDS[int(random.random() * len(_ENDS))]

    def _author(self) -> str:
        return f"user_{_base36(int(self.authors * self.random.random() ** 2.5) * 7919 + 36**3)}"

    def _score(self) -> int:
        random = self.random
        return int(random.paretovariate(1.1)) if random.random() < 0.93 else -int(random.paretovariate(1.3))


_CHANGES: tuple[tuple[float, Callable[[Random, str], str]], ...] = (
    (0.03, lambda random, text: f"{text} {random.choice(_LINKS)}"),
    (0.05, lambda random, text: f"{random.choice(_FOREIGN)} {text}"),
    (0.08, lambda random, text: f"&gt; {text[: len(text) // 2]}\n\n{text}"),
    (0.09, lambda random, text: text.replace(" and ", " &amp; ")),
    (0.095, lambda random, text: text + random.choice(_NEAR_MARKS)),
    (0.15, lambda random, text: text.replace(". ", ".\n\n") + "\n"),
    (0.20, lambda random, text: text.replace(" ", "  ", 2)),
)


def _vocabulary() -> tuple[list[str], list[float]]:
    """Return words by descending frequency, with cumulative Zipf weights."""
    made = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in ("", *_SYLLABLES)]
    made += [a + b + c + d for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES for d in _SYLLABLES[:4]]
    words = [*_COMMON] + [word for word in made if word not in _COMMON]
    return words, list(accumulate(1 / (rank + 2.7) ** 1.1 for rank in range(len(words))))


def _knows(author: str) -> bool:
    """Return whether an author uses the marker: one in five does."""
    return int(author[5:], 36) // 7919 % 5 == 3


def _habit(author: str) -> float:
    """Return how often an author uses the marker: from one comment in a hundred to one in eight."""
    return (0.01, 0.03, 0.06, 0.125)[int(author[5:], 36) // 7919 // 5 % 4]


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"
