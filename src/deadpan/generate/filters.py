"""What a dialogue must pass before people see it: its language, its words, its politeness, its newness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice

from deadpan.generate.copies import OF_SOURCE, copies_source, find_copies
from deadpan.generate.dialogue import read_dialogue
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.folder import RunFolder, StepWriter
from deadpan.generate.language import Language
from deadpan.generate.ledger import Ledger, Said
from deadpan.generate.moderation import Moderation
from deadpan.generate.plan import FilterPlan, Plan
from deadpan.generate.politeness import Judge, inconsistency, open_judge
from deadpan.generate.script import in_language
from deadpan.generate.toxicity import Check, chosen_checks, open_checks

Finding = tuple[str, str]
"""(reason, detail); empty if there is none."""
NOTHING: Finding = ("", "")
CHUNK = 256


def run_filters(
    plan: Plan, language: Language, run: RunFolder, ledger: Ledger, out: StepWriter, tick: Callable[[], None]
) -> None:
    """Two passes: each dialogue by itself, then all of them for twins. Only texts and reasons are held."""
    findings, texts = _alone(plan, language, run, ledger)
    if plan.filter.duplicates:
        _find_twins(texts, findings, language, plan.filter.similarity)
    for draft, (reason, detail) in zip(run.drafts("dialogue"), findings, strict=True):
        if reason:
            out.drop(Dropped(draft.id, "filter", reason, detail, draft=draft))
        else:
            out.keep(draft)
        tick()


def _alone(plan: Plan, language: Language, run: RunFolder, ledger: Ledger) -> tuple[list[Finding], list[str]]:
    """What is found wrong with each dialogue by itself, and the text of those with which nothing is."""
    names = chosen_checks(plan.filter, language)
    findings: list[Finding] = []
    texts: list[str] = []
    with ExitStack() as held:
        moderate = None
        if "moderation" in names:
            asked = Moderation(plan.settings("dialogue"), plan.filter.moderation_model, ledger)
            moderate = held.enter_context(closing(asked))
        toxicity = open_checks(names, plan.filter, language, moderate)
        alone = AloneChecks(plan.filter, language, toxicity, _judge(plan, language))
        drafts = run.drafts("dialogue")
        while some := list(islice(drafts, CHUNK)):
            found = alone.check(some)
            findings += found
            texts += ["" if reason else draft.text for draft, (reason, _) in zip(some, found, strict=True)]
    return findings, texts


def _judge(plan: Plan, language: Language) -> Judge | None:
    return open_judge(plan.politeness, language) if plan.filter.politeness else None


class AloneChecks:
    """What can be said of one dialogue without the others."""

    def __init__(
        self, plan: FilterPlan, language: Language, toxicity: Sequence[Check], judge: Judge | None
    ) -> None:
        self.plan = plan
        self.language = language
        self.toxicity = toxicity
        self.judge = judge

    def check(self, drafts: Sequence[Draft]) -> list[Finding]:
        """The first thing found wrong with each."""
        texts = [[*(turn.text for turn in draft.turns), draft.explanation] for draft in drafts]
        found = [self._language(each) for each in texts]
        for toxicity in self.toxicity:
            left = [place for place, (reason, _) in enumerate(found) if not reason]
            for place, word in zip(left, toxicity([texts[place] for place in left]), strict=True):
                found[place] = ("toxic", word) if word else NOTHING
        return [each if each[0] else self._rest(draft) for draft, each in zip(drafts, found, strict=True)]

    def _language(self, texts: Sequence[str]) -> Finding:
        facts = self.language.facts
        fits = not self.plan.language or in_language(texts, facts.letters, facts.common_words)
        return NOTHING if fits else ("wrong_language", "")

    def _rest(self, draft: Draft) -> Finding:
        if self.judge and (why := inconsistency(draft.turns, draft.politeness, self.language, self.judge)):
            return "politeness", why
        if self.plan.duplicates and copies_source(draft, self.plan.similarity):
            return OF_SOURCE, ""
        return NOTHING


def _find_twins(texts: list[str], findings: list[Finding], language: Language, similarity: float) -> None:
    """Mark the later of two alike. A dialogue that is already out does not take another with it."""
    places = [place for place, (reason, _) in enumerate(findings) if not reason]
    found = find_copies([texts[place] for place in places], list(_example_texts(language)), similarity)
    for position, (reason, other) in found.items():
        detail = f"dialogue {places[other] + 1} of the step before" if other >= 0 else ""
        findings[places[position]] = (reason, detail)


def _example_texts(language: Language) -> Iterator[str]:
    """The dialogues the prompt shows, which a weak model likes to repeat."""
    for example in language.prompts["dialogue"].examples:
        written = read_dialogue(language, Said(example["answer"], "stop"))
        yield "\n".join(turn.text for turn in (*written.context, written.response))
