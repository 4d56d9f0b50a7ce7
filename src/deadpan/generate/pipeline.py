"""A run at work: each step reads the drafts the one before kept, and writes what it keeps and drops.

Small models write several candidates per dialogue; a back-check chooses among them (`CandidateWriter`).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError, ModelError
from deadpan.generate.filters import chosen_checks, level_names, open_judge, run_filters, speaker_levels
from deadpan.generate.folder import SPEAKERS, Draft, Dropped, GenerationFolder, StepWriter, render_dialogue
from deadpan.generate.language import CANDIDATE_PROMPTS, Language
from deadpan.generate.people import apply_review, review_decisions
from deadpan.generate.plan import (
    ASKING_STEPS,
    DIALOGUE_QUESTIONS,
    GENERATION_STEPS,
    STEP_NAMES,
    GenerationPlan,
    step_before,
)
from deadpan.generate.questions import (
    ASKED_STEPS,
    frame_grammar,
    in_order,
    line_grammar,
    prompt_values,
    read_line,
    read_scene,
    scene_grammar,
    structured_messages,
    structured_settings,
)
from deadpan.generate.source import source_drafts, source_files, sources_digest
from deadpan.journal import Journal
from deadpan.llm import CALL_FAILED, Client, LLMSettings, Message, Outcome, Reply, Unreadable, ask
from deadpan.llm import ask as ask_model
from deadpan.progress import Progress, silent
from deadpan.records import Turn
from deadpan.text import fold
from deadpan.validation import encode

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


@dataclass(slots=True)
class Pipeline:
    """A plan, its folder and its models."""

    plan: GenerationPlan
    run: GenerationFolder
    language: Language
    journal: Journal
    client: Client
    progress: Progress = silent
    limit: int | None = None

    def check(self) -> None:
        """Raise what would stop the first call: a missing key, missing weights, an unknown price."""
        if self.plan.candidates > 1 and not self.language.has_candidates:
            files = ", ".join(f"{name}.toml" for name in CANDIDATE_PROMPTS)
            raise ConfigError(
                f"{self.language.folder}: several candidates need {files}: copy them with "
                f"deadpan generate plan NEW.toml --copy-prompts FOLDER, or set candidates = 1 in [dialogue]"
            )
        self.client.check(*(self.plan.settings(name) for name in self.plan.asking))

    def run_all(self, until: str = STEP_NAMES[-1]) -> None:
        """Run every step up to `until` that is not complete with the present plan and input."""
        for name in self.plan.steps:
            if STEP_NAMES.index(name) > STEP_NAMES.index(until):
                break
            if not self.run.is_fresh(name, self.config(name)):
                self.run_step(name)

    def run_step(self, name: str) -> None:
        """Run one step on the output of the step before it."""
        before = step_before(name)
        if before and self.run.manifest(before) is None:
            raise DataError(
                f"{self.run.step(before)}: incomplete: run deadpan generate run PLAN --until {before} first"
            )
        if name in ASKING_STEPS:
            self._ask_each(name)
        else:
            work: dict[str, Callable[[], object]] = {
                "source": self._source,
                "politeness": self._politeness,
                "filter": self._filter,
                "review": lambda: apply_review(self.run, self.plan.seed),
            }
            work[name]()

    def config(self, name: str) -> dict[str, Any]:
        """Return what shapes a step's output; a step is repeated when it changes."""
        plan = self.plan
        if name == "source":
            return {
                "files": sources_digest(source_files(plan, self.language)),
                "form": plan.source.form,
                "columns": dict(plan.source.columns),
                "max_turns": plan.source.max_turns,
                "sample": plan.source.sample,
                "limit": self.limit,
            }
        if name in ASKING_STEPS:
            return self._asking_config(name)
        if name == "review":
            return {"decisions": dict(sorted(review_decisions(self.run).items()))}
        prompts = {"language": self.language.code, "prompts": self.language.fingerprint(["dialogue"])}
        if name == "politeness":
            return {**prompts, **encode(plan.politeness)}
        checks = list(chosen_checks(plan.filter, self.language))
        return {**prompts, **encode(plan.filter), "toxicity": checks, "scene": plan.scene}

    def _asking_config(self, name: str) -> dict[str, Any]:
        settings = self.plan.settings(name)
        asked = self._is_asked(name)
        several = name == "dialogue" and self.plan.candidates > 1
        prompts = list(CANDIDATE_PROMPTS) if several else [GENERATION_STEPS[name].prompt]
        config = {
            "language": self.language.code,
            "prompts": self.language.fingerprint(prompts),
            "model": settings.model if asked else "",
            "sampling": settings.sampling() if asked else {},
            "tries": self.plan.tries(name),
        }
        if name == "dialogue":
            config |= {name: getattr(self.plan, name) for name in ("candidates", "structured", "scene")}
        if several:
            config["sampling"] = {
                part: self.plan.part_settings(part).sampling() for part in (*DIALOGUE_QUESTIONS, "mood")
            }
        return config

    def _is_asked(self, name: str) -> bool:
        """Return whether a step calls the model; contrast does whenever it is run."""
        return name == "contrast" or name in self.plan.asking

    # ------------------------------------------------------------ the steps

    def _source(self) -> None:
        with self._writer("source") as out:
            for draft in source_drafts(self.plan, self.language):
                if isinstance(draft, Dropped):
                    out.drop(draft)
                    continue
                out.keep(draft)
                if out.counts.kept == self.limit:
                    break
            if not out.counts.kept:
                reasons = ", ".join(f"{reason} {count:,}" for reason, count in out.tally.drops.most_common())
                raise DataError(
                    f"no dialogue between two people in the sources ({reasons or 'they are empty'}): "
                    f"give others in source.path, or another source.form"
                )

    def _politeness(self) -> None:
        judge = open_judge(self.plan.politeness, self.language)
        with self._writer("politeness") as out:
            count = self._counter("politeness")
            for draft in self.run.drafts("situation"):
                levels = level_names(speaker_levels(draft.source, judge), self.language) if judge else {}
                out.keep(replace(draft, politeness=levels))
                count()

    def _filter(self) -> None:
        with self._writer("filter") as out:
            run_filters(self.plan, self.language, self.run, self.journal, out, self._counter("filter"))

    def _ask_each(self, name: str) -> None:
        """Ask about every draft, several at a time, and write the results in the order of the drafts."""
        step, settings = ASKED_STEPS[name], self.plan.settings(name)
        workers = 1 if settings.embedded else settings.concurrency
        writer = CandidateWriter(self.plan, self.language, self.client)
        several = name == "dialogue" and self.plan.candidates > 1
        if name == "dialogue":
            settings = structured_settings(settings, self.plan.structured, self.language)

        async def ask(draft: Draft) -> tuple[Draft, Outcome[Draft]]:
            if not self._is_asked(name):
                return draft, Outcome(draft)
            if several:
                return draft, await writer.write(draft)
            messages = step.messages(self.language, draft)
            return draft, await ask_model(
                self.client,
                structured_messages(messages, self.language) if settings.schema else messages,
                lambda reply: step.add(self.language, draft, reply.text),
                self.plan.tries(name),
                settings=settings,
                tag=name,
            )

        with self._writer(name) as out:
            count = self._counter(name)
            for draft, outcome in in_order(ask, self.run.drafts(step_before(name)), workers):
                out.counts.add_calls(outcome.replies)
                out.counts.retried.update(outcome.retried)
                if outcome.value is not None:
                    out.keep(outcome.value)
                    if name == "abnormal" and outcome.value.suspect:
                        out.tally.change("suspect")
                elif step.keeps_unread:
                    out.tally.change(f"{name}_unread.{outcome.reason}")
                    out.keep(draft)
                else:
                    out.drop(Dropped(draft.id, name, outcome.reason, outcome.detail, outcome.raw, draft))
                count()
            if out.tally.drops and out.tally.drops[CALL_FAILED] == out.counts.read:
                # Too few calls for the circuit breaker, but none was answered: nothing to go on with.
                raise ModelError(outcome.detail)

    def _writer(self, name: str) -> StepWriter:
        return StepWriter(self.run, name, self.config(name), self.plan.seed)

    def _counter(self, name: str) -> Callable[[], None]:
        """Return a function that reports one more finished draft of a step."""
        before = self.run.manifest(step_before(name))
        total = before.counts["kept"] if before else 0
        spent = self.client.spent
        description = f"{name}, ${spent:.2f} spent before it" if spent else name
        done = 0

        def count() -> None:
            nonlocal done
            done += 1
            self.progress(description, done, total)

        return count
