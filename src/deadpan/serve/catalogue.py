"""The detectors and the language model that are served: loaded once, described, asked in batches."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from deadpan import models
from deadpan.detect.card import listed
from deadpan.detect.detector import (
    AUTO,
    BASE,
    ENCODER,
    NOT_CALIBRATED,
    SHIPPED,
    Detector,
    auto_detector,
    encoder_is_ready,
)
from deadpan.detect.explanation import Influence, explain
from deadpan.detect.verdicts import MARKED, NAMES, NO_WORDS, guess_language
from deadpan.errors import ConfigError, ModelError
from deadpan.formats.labels import label_word
from deadpan.llm import EMBEDDED_PREFIX, LLMSettings, Message, default_model, embedded_server, system, user
from deadpan.llm.transport import Endpoint, find_endpoint, open_connection, request_body
from deadpan.records import Example, Prediction
from deadpan.serve.bodies import DetectResult, ModelAbout, Push
from deadpan.serve.gate import ApiError
from deadpan.serve.server import ServeSettings
from deadpan.text import render_turn

_GUESS = "The score is a statistical guess, not a fact about the speaker."
_UNSEEN = "A detector knows neither the speaker, nor the tone of voice, nor the facts of the situation."
# Who said that the texts of a corpus are sarcastic, in words for somebody who has not read about label kinds.
_TAUGHT = {
    "marker": "marked by their authors (/s or a hashtag)",
    "readers": "judged by readers",
    "author": "whose authors were asked",
    "generated": "written for the purpose",
}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A detector under a name, with what can be said about it."""

    name: str
    detector: Detector
    batches: Batches

    @property
    def reads_context(self) -> bool:
        """True if turns before the response can change the score."""
        return self.detector.predictor.context.turns != 0

    def limits(self) -> list[str]:
        """Return what the detector cannot know, one sentence each."""
        lines = [_GUESS, _UNSEEN]
        if kind := self.detector.category:
            lines.insert(0, f"It judges one kind only: sarcastic means {kind}, sincere means not {kind}.")
        if not self.reads_context:
            lines.insert(0, "It reads the last turn only: what was said before changes nothing.")
        if bands := self.detector.bands:
            lines += [taught] if (taught := self.taught_by()) else []
            lines.append(f"It knows {listed([NAMES[language] for language in bands.languages])} only.")
        return lines

    def taught_by(self) -> str:
        """Return the corpora that taught a detector in the package, by kind."""
        corpora = self.detector.card.facts.get("corpora", ()) if self.detector.card else ()
        kinds = Counter({str(row.get("kind", "other")): 0 for row in corpora})
        for row in corpora:
            kinds[str(row.get("kind", "other"))] += int(row.get("texts") or 0)
        told = [f"{count:,} {_TAUGHT.get(kind, kind)}" for kind, count in kinds.most_common()]
        return f"The detector was taught by texts of {len(corpora)} corpora: {listed(told)}." if told else ""

    def about(self) -> ModelAbout:
        """Return the description that /v1/models gives."""
        seen, bands = self.detector.seen_, self.detector.bands
        return ModelAbout(
            id=self.name,
            system=self.detector.system,
            kind=self.detector.category or None,
            threshold=self.detector.threshold_,
            cannot_tell={name: self._band(name) for name in bands.languages} if bands else None,
            prevalence=bands.prevalence if bands else None,
            reads_context=self.reads_context,
            trained_on_texts=None if seen is None else len(seen),
            limits=self.limits(),
        )

    def _band(self, language: str) -> list[float]:
        bands = self.detector.bands
        return [round(score, 6) for score in (bands and bands.undecided(language)) or ()]

    def at(self, prevalence: float | None) -> ServedModel:
        """Return the detector with scores for another share of sarcastic texts."""
        if prevalence is None:
            return self
        if self.detector.bands is None:
            raise ApiError(422, "not_calibrated", f"{self.name}: {NOT_CALIBRATED}", field="prevalence")
        return replace(self, detector=self.detector.at(prevalence))

    async def predict(self, examples: list[Example]) -> list[Prediction]:
        """Return one prediction per example, computed together with those of other requests."""
        return await self.batches.predict(self.detector, examples)

    def explained(self, example: Example, prediction: Prediction) -> DetectResult:
        """Return an answer with its meaning, where it cannot tell, and the phrases that it depends on."""
        result = answer(prediction)
        said = explain(self.detector, example, prediction=prediction, model=self.name)
        first, *others = said.in_words()
        told = first.removeprefix(f"{said.answer}: ") if len(said.words) or not others else others.pop(0)
        result.meaning, result.why = f"{told[0].upper()}{told[1:]}", others
        unexplained = prediction.raw in (MARKED, NO_WORDS)
        result.cannot_tell = None if unexplained else self._band(guess_language(example.response.text)) or None
        result.phrases, result.words, result.context = (
            _pushes(pieces) if said.words else None for pieces in (said.phrases, said.words, said.context)
        )
        return result


def answer(prediction: Prediction) -> DetectResult:
    """Return an answer: the label in words, the score, and the id it is for."""
    score = None if prediction.score is None else round(prediction.score, 6)
    return DetectResult(prediction.example_id, label_word(prediction) or None, score)  # type: ignore[arg-type]


def _pushes(pieces: Sequence[Influence]) -> list[Push]:
    return [Push(piece.text, round(piece.push, 3), round(piece.without, 6)) for piece in pieces]


class Catalogue:
    """All served detectors by name; `auto` answers where a request names none."""

    def __init__(self, settings: ServeSettings) -> None:
        self.models: dict[str, ServedModel] = {}
        with_encoder = settings.encoder and encoder_is_ready()
        for word in (*([ENCODER] if with_encoder else []), BASE, *settings.models):
            name, mark, folder = word.partition("=")
            path = folder if mark else word
            name = name if mark else (word if word in SHIPPED else Path(word).name)
            if name == AUTO or (name in self.models and word not in SHIPPED):
                raise ConfigError(f"two models are called {name!r}: write NAME={path}")
            self.models[name] = _served(name, Detector.load(path), settings)
        # Loaded again: a detector is used by one thread at a time.
        self.auto = _served(AUTO, auto_detector(), settings) if with_encoder else self.models[BASE]

    def find(self, name: str) -> ServedModel:
        """Return the model of that name, or refuse."""
        if name == AUTO:
            return self.auto
        if name not in self.models:
            known = ", ".join(self.models)
            raise ApiError(404, "unknown_model", f"no model {name[:60]!r}: choose from {known}", field="model")
        return self.models[name]


def _served(name: str, detector: Detector, settings: ServeSettings) -> ServedModel:
    return ServedModel(name, detector, Batches(settings.waiting))


# Texts of one batch.
_MOST_IN_BATCH = 8_192


class Batches:
    """One detector, used by one thread at a time, whatever the number of requests."""

    def __init__(self, waiting: int) -> None:
        self._limit = waiting
        self._queue: deque[tuple[Detector, list[Example], asyncio.Future[list[Prediction]]]] = deque()
        self._waiting = 0
        self._worker: asyncio.Task[None] | None = None

    async def predict(self, detector: Detector, examples: list[Example]) -> list[Prediction]:
        """Return one prediction per example, computed together with other requests of one prevalence."""
        if self._waiting + len(examples) > self._limit:
            raise ApiError(503, "busy", "too many texts are waiting: try again", retry_after=1)
        answer: asyncio.Future[list[Prediction]] = asyncio.get_running_loop().create_future()
        self._queue.append((detector, examples, answer))
        self._waiting += len(examples)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await answer

    async def _work(self) -> None:
        while self._queue:
            group = [self._queue.popleft()]
            detector, size = group[0][0], len(group[0][1])
            while self._queue and _fits(detector, size, *self._queue[0][:2]):
                group.append(self._queue.popleft())
                size += len(group[-1][1])
            try:
                texts = [example for _, examples, _ in group for example in examples]
                found = await asyncio.to_thread(detector.predict, texts)
            except Exception as bad:  # noqa: BLE001 - every request of the batch must hear of it
                for *_, answer in group:
                    if not answer.done():
                        answer.set_exception(bad)
            else:
                start = 0
                for _, examples, answer in group:
                    if not answer.done():
                        answer.set_result(found[start : start + len(examples)])
                    start += len(examples)
            self._waiting -= size


def _fits(detector: Detector, size: int, other: Detector, more: list[Example]) -> bool:
    """Return whether texts can join a batch: scores of both are for the same prevalence."""
    return size + len(more) <= _MOST_IN_BATCH and detector.bands == other.bands


_TASK = (
    "You read one message of a conversation and say, in at most two short sentences, what its speaker means: "
    "first whether it is meant literally or sarcastically, then what is meant. Use only what is written. If "
    "it cannot be told, say so. Answer in the language of the message."
)
_TOKENS = 120


def reader_settings(settings: ServeSettings) -> LLMSettings | None:
    """Return how to call the language model; None if none is pulled or configured."""
    if find_spec("openai") is None:
        return None
    name = settings.reader or (default_model() if not settings.base_url else "")
    embedded = name.removeprefix(EMBEDDED_PREFIX)
    if not settings.reader and not settings.base_url and embedded not in models.installed():
        return None
    return LLMSettings(model=name or "default", base_url=settings.base_url, temperature=0.0, max_tokens=_TOKENS, seed=0)


def question(example: Example) -> list[Message]:
    """Return the messages that ask for a reading."""
    before = "\n".join(render_turn(turn) for turn in example.context)
    scene = f"Conversation so far:\n{before}\n\n" if before else ""
    return [system(_TASK), user(f"{scene}Message to read:\n{render_turn(example.response)}")]


async def stream_reading(settings: LLMSettings, example: Example) -> AsyncIterator[str]:
    """Yield the answer in pieces; a failure is a DeadpanError."""
    import openai

    endpoint = await _endpoint(settings)
    client = open_connection(endpoint, settings.timeout)
    try:
        body = request_body(endpoint, settings, question(example), 0)
        body.pop("cache_prompt", None)
        async with asyncio.timeout(settings.timeout):
            stream = await client.chat.completions.create(stream=True, **body)
            async for chunk in stream:
                piece = chunk.choices[0].delta.content if chunk.choices else ""
                if piece:
                    yield piece
    except TimeoutError:
        raise ModelError(f"{settings.model} did not finish within {settings.timeout:g} s: try again") from None
    except openai.OpenAIError as bad:
        raise ModelError(f"{settings.model} did not answer ({type(bad).__name__}): try again") from None
    finally:
        await client.close()


async def _endpoint(settings: LLMSettings) -> Endpoint:
    if not settings.model.startswith(EMBEDDED_PREFIX):
        return find_endpoint(settings)
    name = settings.model.removeprefix(EMBEDDED_PREFIX)
    try:
        server = await asyncio.to_thread(embedded_server, name, settings.threads)
    except OSError as bad:
        raise ModelError(f"{name} could not be started ({bad})") from None
    return Endpoint(server.url, server.key, name, embedded=True)
