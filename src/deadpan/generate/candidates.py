"""Several candidates per dialogue, for small models: scene, responses, and a back-check that chooses.

A small model is asked one short question at a time. It writes a scene in which something goes wrong (or takes
the source's own turns), then responses, most of them in a frame that praises or thanks. Asked back, it says
whether the scene goes badly, and whether each response sounds friendly when taken literally. The friendliest
response to a bad scene is kept (sarcasm as contrast: Riloff et al. 2013), one that names a detail of it
before any other, and explained. Without a contrast the dialogue is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import TypeVar

from deadpan.draws import draw
from deadpan.generate.dialogue import frame_grammar, line_grammar, prompt_values, read_line, read_scene, scene_grammar
from deadpan.generate.folder import SPEAKERS, Draft, render_dialogue
from deadpan.generate.language import Language
from deadpan.generate.plan import GenerationPlan
from deadpan.llm import Client, LLMSettings, Message, Outcome, Reply, Unreadable, ask
from deadpan.records import Turn
from deadpan.text import fold

_T = TypeVar("_T")
MIN_BAD = 0.2
"""Smallest probability that a scene goes badly. Small models think too well of scenes: of 16 bad ones of the
starter set qwen2.5-coder-1.5b gave 13 this much."""
MIN_FRIENDLY = 0.5
"""Smallest probability that a response sounds friendly."""
# Probability of a friendly response that fits at which no other candidate is written.
_ENOUGH = 0.95
# One candidate in this many has no frame.
_FRAMELESS = 4
# Letters of a word that two texts must share to share the word; words in a row that make a copy.
_LATIN_START, _OTHER_START, _COPIED_WORDS = 5, 2, 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A response, how likely it sounds friendly when taken literally, and whether it names a detail."""

    response: Turn
    friendly: float
    fits: bool

    @property
    def rank(self) -> tuple[bool, float]:
        """A friendly response that names a detail of the scene comes first, then the friendliest."""
        return (self.fits and self.friendly >= MIN_FRIENDLY, self.friendly)


@dataclass(slots=True)
class CandidateWriter:
    """Writes the dialogue of one draft after the other; `write` may run for several at a time."""

    plan: GenerationPlan
    language: Language
    client: Client

    async def write(self, draft: Draft) -> Outcome[Draft]:
        """Return the draft with its dialogue, or the reason why it has none; every call is in `replies`."""
        made: Outcome[Draft] = Outcome()
        scene, bad = await self._scene(draft, made)
        if not scene:
            return made
        best = await self._best_response(draft, scene, made)
        if best is None:
            return made
        explanation = await self._explanation(draft, scene, best.response, made)
        if explanation is None:
            return made
        made.reason = made.detail = ""
        made.value = replace(
            draft,
            context=scene,
            response=best.response,
            explanation=explanation,
            contrast=round(bad * best.friendly, 3),
        )
        return made

    async def _scene(self, draft: Draft, made: Outcome[Draft]) -> tuple[tuple[Turn, ...], float]:
        """Ask for scenes until one goes badly enough, or take the source's own turns."""
        if self.plan.scene == "source":
            bad = await self._likely("mood", made, dialogue=render_dialogue(draft.source))
            if bad is not None and bad < MIN_BAD:
                _fail(made, "pleasant_scene", f"{bad:.2f} bad", render_dialogue(draft.source))
            return (draft.source, bad) if bad is not None and bad >= MIN_BAD else ((), 0.0)
        prompt = self.language.prompts["scene"]
        messages = prompt.messages(**prompt_values(self.language, draft))
        for replicate in range(self.plan.tries("dialogue")):
            scene = await self._once(
                messages,
                replicate,
                lambda reply: read_scene(self.language, reply.text),
                self._settings("scene", scene_grammar(self.language, draft.source[0].speaker)),
                "scene",
                made,
            )
            if scene is None:
                continue
            bad = await self._likely("mood", made, dialogue=render_dialogue(scene))
            if bad is not None and bad >= MIN_BAD:
                return scene, bad
            if bad is not None:
                _fail(made, "pleasant_scene", f"{bad:.2f} bad", render_dialogue(scene))
        return (), 0.0

    async def _best_response(self, draft: Draft, scene: tuple[Turn, ...], made: Outcome[Draft]) -> Candidate | None:
        """Ask for responses, one by one, and return the friendliest, if it is friendly enough."""
        best: Candidate | None = None
        seen: set[str] = set()
        messages = self._response_messages(draft, scene)
        for replicate in range(self.plan.candidates):
            frame = self._frame(draft, replicate)
            grammar = frame_grammar(self.language, frame) if frame else line_grammar(self.language)
            settings = self._settings("response", grammar)
            text = await self._once(messages, replicate, self._read_response, settings, "response", made)
            if text is None or fold(text) in seen:
                continue
            seen.add(fold(text))
            friendly = await self._likely("tone", made, response=text)
            if friendly is None:
                continue
            found = Candidate(Turn(_other(scene[-1].speaker), text), friendly, self._fits(text, scene))
            best = found if best is None or found.rank > best.rank else best
            if best.fits and best.friendly >= _ENOUGH:
                break
        if best is not None and best.friendly < MIN_FRIENDLY:
            _fail(made, "no_contrast", f"{best.friendly:.2f}: {best.response.text[:100]}", render_dialogue(scene))
            return None
        return best

    def _frame(self, draft: Draft, replicate: int) -> str:
        """Return the frame of three in four candidates, drawn by the seed without repetition."""
        frames = self.language.prompts["response"].openers
        if not frames or replicate % _FRAMELESS == _FRAMELESS - 1:
            return ""
        start = draw(self.plan.seed, f"frame {draft.id}")[0]
        return frames[(start + replicate) % len(frames)]

    def _fits(self, text: str, scene: tuple[Turn, ...]) -> bool:
        """Return whether a response shares a content word with the scene."""
        common = set(self.language.facts.common_words)
        starts = [word_starts(turn.text, common) for turn in scene]
        return bool(word_starts(text, common) & set().union(*starts))

    async def _explanation(
        self, draft: Draft, scene: tuple[Turn, ...], response: Turn, made: Outcome[Draft]
    ) -> str | None:
        prompt = self.language.prompts["response"]
        messages = prompt.second(self._response_messages(draft, scene), response.text, speaker=response.speaker)
        settings = self._settings("explanation", "")
        for replicate in range(self.plan.tries("dialogue")):
            text = await self._once(messages, replicate, self._read_line, settings, "explanation", made)
            if text is not None:
                return text
        return None

    def _response_messages(self, draft: Draft, scene: tuple[Turn, ...]) -> list[Message]:
        speaker = _other(scene[-1].speaker)
        level = draft.politeness.get(speaker) or self.language.facts.politeness.unknown
        prompt = self.language.prompts["response"]
        return prompt.messages(dialogue=render_dialogue(scene), speaker=speaker, politeness=level)

    def _read_line(self, reply: Reply) -> str:
        text = read_line(reply.text)
        if not self.language.matches([text]):
            raise Unreadable("wrong_language", text[:80])
        return text

    def _read_response(self, reply: Reply) -> str:
        text = self._read_line(reply)
        examples = (example["answer"] for example in self.language.prompts["response"].examples)
        if any(word_sequences(text) & word_sequences(example) for example in examples):
            raise Unreadable("copies_example", text[:80])
        return text

    async def _likely(self, name: str, made: Outcome[Draft], **values: str) -> float | None:
        """Return the probability of the first choice of a back-check; 0 or 1 where the server gives none."""
        prompt = self.language.prompts[name]
        settings = self.plan.part_settings(name).changed(choices=prompt.choices, probabilities=True)

        def read(reply: Reply) -> float:
            if reply.probabilities:
                return reply.probabilities[prompt.choices[0]]
            answer = reply.text.strip().strip(".").casefold()
            if answer not in prompt.choices:
                raise Unreadable("no_choice", reply.text[:80])
            return float(answer == prompt.choices[0])

        return await self._once(prompt.messages(**values), 0, read, settings, name, made)

    async def _once(
        self,
        messages: list[Message],
        replicate: int,
        read: Callable[[Reply], _T],
        settings: LLMSettings,
        tag: str,
        made: Outcome[Draft],
    ) -> _T | None:
        """Ask once; a failure is noted in `made`."""
        asked = await ask(self.client, messages, read, 1, first=replicate, settings=settings, tag=tag)
        made.replies += asked.replies
        if asked.value is None:
            _fail(made, asked.reason, asked.detail, asked.raw)
        return asked.value

    def _settings(self, part: str, grammar: str) -> LLMSettings:
        settings = self.plan.part_settings(part)
        if not (grammar and settings.embedded and self.plan.structured == "auto"):
            return settings
        return settings.changed(extra={**settings.extra, "grammar": grammar})


def _fail(made: Outcome[Draft], reason: str, detail: str = "", raw: str = "") -> None:
    """Note the latest reason; the ones before it are answers that were asked for again."""
    if made.reason:
        made.retried.append(made.reason)
    made.reason, made.detail, made.raw = reason, detail, raw


def word_starts(text: str, common: Container[str] = ()) -> set[str]:
    """Return the beginnings of a text's longer words: inflection changes their ends."""
    words = [word for word in fold(text).split() if word not in common]
    latin = {word[:_LATIN_START] for word in words if word.isascii() and len(word) >= _LATIN_START - 1}
    return latin | {word[:_OTHER_START] for word in words if not word.isascii() and len(word) >= _OTHER_START}


def word_sequences(text: str) -> set[tuple[str, ...]]:
    """Return every run of a few words of a text."""
    words = fold(text).split()
    return {tuple(words[at : at + _COPIED_WORDS]) for at in range(len(words) - _COPIED_WORDS + 1)}


def _other(speaker: str) -> str:
    return SPEAKERS[1 - SPEAKERS.index(speaker)]
