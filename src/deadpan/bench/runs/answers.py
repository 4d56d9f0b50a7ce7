"""Reading the letter out of a reply, as a person would. An ambiguous reply is unread, never guessed.

A reply is read by the first rule that applies:

1. Reasoning between <think> and </think> is skipped.
2. A JSON object with an answer field is read by that field.
3. The last `Final Answer:` decides.
4. Otherwise every statement of an answer is collected: "the answer is B", "정답은 B입니다", a line that is a
   single letter, a letter with its option's text, or an option's text. If all name one letter, it is read.

Two different letters, hedges ("B or C"), refusals and negations leave a reply unread.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence

from deadpan.bench.items.item import LETTERS
from deadpan.bench.runs import phrases
from deadpan.llm.messages import unwrap

FIELDS = ("answer", "finalanswer", "choice", "option", "letter", "정답", "답", "최종답", "최종정답", "답변")
"""Names of the field of a JSON object that holds the answer, without spaces and underscores."""
SHORTEST_TEXT = 8
"""Characters of an option's text that a reply must at least repeat to name it in part."""
LONGEST_ANSWER = 400
"""Characters after "the answer is" in which the letter or the option's text is looked for."""


def read_letter(text: str, options: Sequence[str] = (), prompt: str = "") -> str | None:
    """Return the letter that a reply names, or None.

    - `options`: the texts of the options in the order shown, for replies that repeat one.
    - `prompt`: the prompt as sent; lines of it that the reply repeats are not its answer.
    """
    text = _own_words(_without_reasoning(_tidy(text)), options, prompt)
    if not text.strip():
        return None
    known = [_plain(option) for option in options]
    given = _from_json(text, known)
    if given is not None:
        return given or None
    marks = list(phrases.FINAL.finditer(text))
    if marks:
        return _after_mark(text[marks[-1].end() :], known)
    if phrases.REFUSAL.search(text):
        return None
    letters = {*_stated(text, known), *_lines(text, known)}
    return _single(letters, text)


def kept_form(text: str, constrained: bool = False, reasoned: bool = False) -> bool:
    """Return whether a reply has exactly the form that was asked for.

    That is one line `Final Answer: X`, the last of several if the model was asked to reason first, or a
    single letter if the decoding was constrained to letters and nothing else.
    """
    if constrained and not reasoned:
        return unwrap(text, LETTERS) in tuple(LETTERS)
    said = _without_reasoning(text).strip()
    return bool(phrases.ASKED_FORM.fullmatch(said.rpartition("\n")[2] if reasoned else said))


def place_of(letter: str | None, order: tuple[int, ...]) -> int | None:
    """Return the index of the item's own option behind a letter, given the order that was shown."""
    return None if letter is None else order[LETTERS.index(letter)]


# ---------------------------------------------------------------- text


def _tidy(text: str) -> str:
    """Return a text with full-width letters as plain ones, without long runs of white space and answer tags.

    What stands in an answer tag becomes a line of its own.
    """
    text = phrases.TAG.sub("\n", unicodedata.normalize("NFKC", text))
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"[^\S\n]+", " ", text))


def _without_reasoning(text: str) -> str:
    """Return what follows the reasoning; nothing if the reasoning never ends."""
    if "</think>" in text:
        return text.rpartition("</think>")[2]
    return "" if text.lstrip().startswith("<think>") else text


def _own_words(text: str, options: Sequence[str], prompt: str) -> str:
    """Return a reply without the lines of the prompt that it repeats; lines of options stay."""
    if not prompt:
        return text
    shown = {_plain(line) for line in unicodedata.normalize("NFKC", prompt).splitlines() if len(line) > 1}
    kept = {_plain(option) for option in options}
    kept |= {_plain(f"{letter}. {option}") for letter, option in zip(LETTERS, options, strict=False)}
    lines = text.splitlines()
    return "\n".join(line for line in lines if _plain(line) not in shown or _plain(line) in kept)


def _plain(text: str) -> str:
    """Return a text for comparison: lower case, letters and digits, single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = re.sub(r"(?<=\w)['’](?=\w)", "", folded)
    return " ".join(re.sub(r"[\W_]+", " ", folded).split())


# ---------------------------------------------------------------- JSON


def _from_json(text: str, known: Sequence[str]) -> str | None:
    """Return the letter of a JSON answer, empty if it has none that can be read; None if there is no JSON."""
    letters: set[str] = set()
    for block in re.findall(r"\{[^{}]*\}", text):
        try:
            value = json.loads(block)
        except (ValueError, RecursionError):
            continue
        for name, answer in value.items():
            if re.sub(r"[\s_-]", "", name).casefold() in FIELDS:
                letters.add(_json_value(answer, known))
    if not letters:
        return None
    return letters.pop() if len(letters) == 1 else ""


def _json_value(value: object, known: Sequence[str]) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return (_whole(value, known) or "") if isinstance(value, str) else ""


# ---------------------------------------------------------------- statements


def _after_mark(rest: str, known: Sequence[str]) -> str | None:
    """Return the letter after `Final Answer:`, or of the option whose text stands there."""
    letter = _leading(rest, known)
    if letter is None:
        return None
    tail = rest.partition("\n")[2]
    others = {*_stated(tail, known), *_lines(tail, known)} if tail.strip() else set()
    others |= {match[1] for match in phrases.CORRECTION.finditer(rest)}
    return letter if others <= {letter} else None


def _leading(rest: str, known: Sequence[str]) -> str | None:
    """Return the letter or the option at the beginning of a text."""
    line = rest.strip().partition("\n")[0]
    match = phrases.LETTER.match(rest)
    by_text = _option(line, known)
    if not match:
        return by_text
    letter, tail = match[1], match[2]
    after = _option(tail.partition("\n")[0], known)
    if after is not None:  # the letter and the text of an option must agree
        return letter.upper() if after == letter.upper() else None
    if by_text is not None:  # the text of an option that begins with the word "a"
        return by_text
    if phrases.ANOTHER.match(tail) or phrases.DENIED.match(tail):
        return None
    # In "a man" and "A man" the letter is an article; "B because" is an answer and its reason.
    article = letter in "aA" and not phrases.REASON.match(tail)
    if phrases.PROSE.match(tail) and (article or letter.islower()):
        return None
    return letter.upper()


def _stated(text: str, known: Sequence[str]) -> Iterator[str]:
    """Yield the letter of every statement such as "the answer is B"; empty for one that is hedged."""
    for match in phrases.STATED.finditer(text):
        if _doubted(text, match):
            continue
        rest = text[match.end() :][:LONGEST_ANSWER]
        letter = _leading(rest, known)
        bare = phrases.LETTER.match(rest)
        if letter == "A" and bare and bare[1] == "a" and not phrases.WRAPPED.match(rest):
            continue  # "the answer is a": the beginning of something else
        if letter:
            yield letter
        elif bare and phrases.ANOTHER.match(bare[2]):
            yield ""
    for pattern in (phrases.CHOSEN, phrases.IS_BEST, phrases.IS_BEST_KOREAN):
        for match in pattern.finditer(text):
            if not _doubted(text, match):
                hedged = phrases.ANOTHER.match(text[match.end(1) :])
                yield "" if hedged else match[1]


def _doubted(text: str, match: re.Match[str]) -> bool:
    """Return whether the clause of a statement negates it, or makes it a condition or a question."""
    before = re.split(r"[.!?;,:\n]", text[max(0, match.start() - 80) : match.start()])[-1]
    after = re.split(r"[.!;\n]", text[match.end() :][:40], maxsplit=1)[0]
    return bool(phrases.NEGATION.search(before) or phrases.DOUBT_AFTER.search(after))


def _lines(text: str, known: Sequence[str]) -> Iterator[str]:
    """Yield the letters of lines that are an answer on their own: the first or the last line must be one."""
    lines = [line for line in text.splitlines() if line.strip()]
    read = [_whole(line, known, alone=len(lines) == 1) for line in lines]
    if read and (read[0] or read[-1]):
        yield from (letter for letter in read if letter)


def _whole(line: str, known: Sequence[str], alone: bool = True) -> str | None:
    """Return the letter of a text that is only a letter, a letter with its option, or an option's text."""
    bare = phrases.BARE.fullmatch(line)
    if bare:
        return bare[1].upper() if alone or bare[1].isupper() or phrases.WRAPPED.match(line) else None
    listed = phrases.LISTED.fullmatch(line)
    if listed:
        after = _option(listed[2], known)
        if after is not None:
            return after if after == listed[1].upper() else None
        own = known[LETTERS.index(listed[1].upper())] if known else ""
        if own and _plain(listed[2]).startswith(f"{own} "):  # its text, then a reason
            return listed[1].upper()
    reasoned = phrases.REASONED.fullmatch(line)
    if reasoned:
        return reasoned[1]
    return _option(line, known)


def _option(text: str, known: Sequence[str]) -> str | None:
    """Return the letter of the option that a text equals or begins; None if there is none."""
    plain = _plain(text)
    if not plain or not known:
        return None
    equal = [at for at, option in enumerate(known) if option == plain]
    if not equal and len(plain) >= SHORTEST_TEXT:
        equal = [at for at, option in enumerate(known) if option.startswith(f"{plain} ")]
        equal = equal if len(plain.split()) > 2 else []
    return LETTERS[equal[0]] if len(equal) == 1 else None


def _single(letters: set[str], text: str) -> str | None:
    """Return the only letter, unless the reply also offers it as one of two."""
    if len(letters) != 1:
        return None
    letter = letters.pop()
    hedged = any(letter in match.groups() for match in phrases.EITHER.finditer(text))
    return None if hedged else letter or None
