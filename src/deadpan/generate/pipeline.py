"""The steps of a run, in order. Each reads what the one before kept, and writes what it keeps and drops."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from deadpan.draws import draw, sample
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.generate.abnormal import abnormal_messages, read_finding
from deadpan.generate.caller import Caller, Outcome
from deadpan.generate.contrast import contrast_messages, read_sincere
from deadpan.generate.dialogue import dialogue_messages, read_dialogue
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.filters import run_filters
from deadpan.generate.flow import in_order
from deadpan.generate.folder import RunFolder, StepWriter
from deadpan.generate.language import Language
from deadpan.generate.ledger import Ledger
from deadpan.generate.plan import EXAMPLES, Plan
from deadpan.generate.politeness import named, open_judge, speaker_levels
from deadpan.generate.review import apply_review, decisions
from deadpan.generate.situation import read_situation, situation_messages
from deadpan.generate.sources import Raw, SourceFiles
from deadpan.generate.toxicity import chosen_checks
from deadpan.generate.window import two_people, window
from deadpan.storage import digest

Watch = Callable[[str, int], AbstractContextManager[Callable[[float], None]]]
"""Called with a step's name and its number of items; gives a function to call with the dollars spent so far
after every item."""
ASKS = {"situation", "dialogue", "abnormal", "contrast"}
BEFORE = {
    "situation": "source",
    "politeness": "situation",
    "dialogue": "politeness",
    "filter": "dialogue",
    "abnormal": "filter",
    "review": "abnormal",
    "contrast": "review",
}


def unwatched(title: str, total: int) -> AbstractContextManager[Callable[[float], None]]:
    return nullcontext(lambda spent: None)


@dataclass(slots=True)
class Pipeline:
    """A plan at work in its folder."""

    plan: Plan
    run: RunFolder
    language: Language
    ledger: Ledger
    caller: Caller
    watch: Watch = unwatched
    limit: int | None = None
    skipped: list[str] = field(default_factory=list)

    def steps(self) -> list[str]:
        """What this plan does, in order."""
        optional = {"contrast": self.plan.with_contrast}
        return [name for name in ("source", *BEFORE) if optional.get(name, True)]

    def run_all(self, resume: bool = True) -> None:
        """Every step; one that is finished and whose input did not change is not done again."""
        for name in self.steps():
            if resume and self.run.is_fresh(name, self.config(name), BEFORE.get(name, "")):
                self.skipped.append(name)
            else:
                self.run_step(name)

    def run_step(self, name: str) -> None:
        """One step, on what the one before it kept."""
        work: dict[str, Callable[[], object]] = {
            "source": self._source,
            "situation": self._situation,
            "politeness": self._politeness,
            "dialogue": self._dialogue,
            "filter": self._filter,
            "abnormal": self._abnormal,
            "review": lambda: apply_review(self.run, self.plan.seed),
            "contrast": self._contrast,
        }
        work[name]()

    def config(self, name: str) -> dict[str, Any]:
        """What shapes a step's result, and so tells whether it must be done again."""
        plan = self.plan
        if name == "source":
            return {
                "files": _fingerprint(self.sources()),
                "form": plan.source.form,
                "columns": dict(plan.source.columns),
                "max_turns": plan.source.max_turns,
                "sample": plan.source.sample,
                "limit": self.limit,
            }
        if name in ASKS:
            settings = plan.settings(name)
            prompt = "sincere" if name == "contrast" else name
            asked = plan.filter.abnormal if name == "abnormal" else True
            return {
                "language": self.language.code,
                "prompts": self.language.fingerprint([prompt]),
                "model": settings.model if asked else "",
                "sampling": settings.sampling() if asked else {},
                "tries": plan.tries(name),
            }
        if name == "review":
            return {"decisions": dict(sorted(decisions(self.run).items()))}
        here = {"language": self.language.code, "prompts": self.language.fingerprint(["dialogue"])}
        if name == "politeness":
            return {**here, **encode(plan.politeness)}
        checks = list(chosen_checks(plan.filter, self.language))
        return {**here, **encode(plan.filter), "toxicity": checks}

    # ------------------------------------------------------------ the steps

    def sources(self) -> SourceFiles:
        """The files to read; `examples` are those that come with the language."""
        names = (
            self.plan.source.path if isinstance(self.plan.source.path, tuple) else (self.plan.source.path,)
        )
        paths = [str(self.language.sources) if name == EXAMPLES else name for name in names]
        return SourceFiles(paths, self.plan.source.form, self.plan.source.columns)

    def _source(self) -> None:
        seen: set[bytes] = set()
        with self._writer("source") as out:
            for raw in self._chosen():
                reason = raw.wrong
                turns, why = two_people(raw.turns) if not reason else ((), "")
                name = hashlib.blake2b(raw.id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                if not (reason := reason or why) and name in seen:
                    reason = "same_id"
                seen.add(name)
                if reason:
                    out.drop(Dropped(raw.id, "source", reason, raw.place))
                    continue
                cut = window(turns, self.plan.source.max_turns, seed=self.plan.seed, id=raw.id)
                out.keep(Draft(raw.id, cut, raw.topic, raw.intimacy))
                if out.counts.kept == self.limit:
                    break
            if not out.counts.kept:
                raise DataError(_nothing(out))

    def _chosen(self) -> Iterator[Raw]:
        """All dialogues, or those drawn by the seed, in the order of the draw."""
        if not self.plan.source.sample:
            return iter(self.sources())
        found = ((place, raw) for place, raw in enumerate(self.sources()))
        usable = ((p, r) for p, r in found if not r.wrong and not two_people(r.turns)[1])
        chosen = sample(usable, self.plan.source.sample, seed=self.plan.seed, key=lambda pair: pair[1].id)
        return (raw for _, raw in sorted(chosen, key=lambda pair: draw(self.plan.seed, pair[1].id)))

    def _situation(self) -> None:
        async def work(draft: Draft) -> tuple[Draft, Outcome[Draft]]:
            messages = situation_messages(self.language, draft)
            found = await self.caller.ask(
                "situation", messages, lambda said: read_situation(self.language, said)
            )
            theme, summary = found.value or ("", "")
            return draft, _with(found, replace(draft, theme=theme, summary=summary))

        self._ask_each("situation", work)

    def _dialogue(self) -> None:
        async def work(draft: Draft) -> tuple[Draft, Outcome[Draft]]:
            messages = dialogue_messages(self.language, draft)
            found = await self.caller.ask(
                "dialogue", messages, lambda said: read_dialogue(self.language, said)
            )
            if found.value is None:
                return draft, _with(found, draft)
            new = found.value
            made = replace(draft, context=new.context, explanation=new.explanation, response=new.response)
            return draft, _with(found, made)

        self._ask_each("dialogue", work)

    def _politeness(self) -> None:
        judge = open_judge(self.plan.politeness, self.language)
        with self._writer("politeness") as out, self._watched("politeness") as tick:
            for draft in self.run.drafts("situation"):
                levels = named(speaker_levels(draft.source, judge), self.language) if judge else {}
                out.keep(replace(draft, politeness=levels))
                tick(self.caller.spent)

    def _filter(self) -> None:
        with self._writer("filter") as out, self._watched("filter") as tick:
            run_filters(self.plan, self.language, self.run, self.ledger, out, lambda: tick(self.caller.spent))

    def _abnormal(self) -> None:
        """A find marks the draft; so does nothing that cannot be read, which is counted."""
        if not self.plan.filter.abnormal:
            with self._writer("abnormal") as out:
                for draft in self.run.drafts("filter"):
                    out.keep(draft)
            return

        async def work(draft: Draft) -> tuple[Draft, Outcome[Draft]]:
            messages = abnormal_messages(self.language, draft)
            found = await self.caller.ask(
                "abnormal", messages, lambda said: read_finding(self.language, said)
            )
            return draft, _with(found, replace(draft, suspect=found.value or ""))

        self._ask_each("abnormal", work, keep_unread=True)

    def _contrast(self) -> None:
        async def work(draft: Draft) -> tuple[Draft, Outcome[Draft]]:
            messages = contrast_messages(self.language, draft)
            read = lambda said: read_sincere(self.language, draft, said)  # noqa: E731
            found = await self.caller.ask("contrast", messages, read)
            return draft, _with(found, replace(draft, sincere=found.value or ""))

        self._ask_each("contrast", work, keep_unread=True)

    def _ask_each(
        self,
        name: str,
        work: Callable[[Draft], Coroutine[Any, Any, tuple[Draft, Outcome[Draft]]]],
        keep_unread: bool = False,
    ) -> None:
        """Ask about every draft, several at a time, and write what came of each in its order."""
        before = BEFORE[name]
        with self._writer(name) as out, self._watched(name) as tick:
            for draft, outcome in in_order(work, self.run.drafts(before), self.caller.workers[name]):
                out.counts.add_calls(outcome.said)
                out.counts.again.update(outcome.again)
                if outcome.value is not None:
                    out.keep(outcome.value)
                elif keep_unread:
                    out.tally.change(f"{name}_unread.{outcome.reason}")
                    out.keep(draft)
                else:
                    out.drop(Dropped(draft.id, name, outcome.reason, outcome.detail, outcome.raw, draft))
                if outcome.value is not None and outcome.value.suspect:
                    out.tally.change("suspect")
                tick(self.caller.spent)

    def _writer(self, name: str) -> StepWriter:
        return StepWriter(self.run, name, self.config(name), self.plan.seed, BEFORE.get(name, ""))

    def _watched(self, name: str) -> AbstractContextManager[Callable[[float], None]]:
        found = self.run.manifest(BEFORE[name])
        if found is None:
            raise DataError(
                f"{self.run.step(BEFORE[name])}: not finished: run deadpan generate {BEFORE[name]} first"
            )
        return self.watch(name, found.counts["kept"])


def _with(outcome: Outcome[Any], made: Draft) -> Outcome[Draft]:
    """The same outcome with the draft as its value, where there was a value."""
    value = None if outcome.reason else made
    return Outcome(value, outcome.reason, outcome.detail, outcome.raw, outcome.again, outcome.said)


def _fingerprint(sources: SourceFiles) -> str:
    """One number for all source files: their names and what is in them."""
    total = hashlib.blake2b(digest_size=16)
    for path in sources.files():
        total.update(f"{path.name}\x1f{digest(path)}\n".encode())
    return total.hexdigest()


def _nothing(out: StepWriter) -> str:
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in out.tally.drops.most_common())
    return (
        f"no dialogue between two people in the sources ({reasons or 'they are empty'}): "
        f"give others in source.path, or another source.form"
    )
