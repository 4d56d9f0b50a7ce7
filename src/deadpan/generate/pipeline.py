"""A run at work: each step reads the drafts the one before kept, and writes what it keeps and drops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from deadpan.errors import ConfigError, DataError, ModelError
from deadpan.generate.candidates import CandidateWriter
from deadpan.generate.dialogue import structured_messages, structured_settings
from deadpan.generate.filters import chosen_checks, run_filters
from deadpan.generate.folder import Draft, Dropped, GenerationFolder, StepWriter
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
from deadpan.generate.politeness import level_names, open_judge, speaker_levels
from deadpan.generate.questions import ASKED_STEPS, in_order
from deadpan.generate.source import source_drafts, source_files, sources_digest
from deadpan.journal import Journal
from deadpan.llm import CALL_FAILED, Client, Outcome
from deadpan.llm import ask as ask_model
from deadpan.progress import Progress, silent
from deadpan.validation import encode


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
                raise DataError(_no_dialogues(out))

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


def _no_dialogues(out: StepWriter) -> str:
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in out.tally.drops.most_common())
    return (
        f"no dialogue between two people in the sources ({reasons or 'they are empty'}): "
        f"give others in source.path, or another source.form"
    )
