"""The filter step: language, toxicity, politeness and duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice

from deadpan.generate.checks.copies import OF_SOURCE, copies_source, find_copies
from deadpan.generate.checks.moderation import Moderation
from deadpan.generate.checks.politeness import Judge, inconsistency, open_judge
from deadpan.generate.checks.script import in_language
from deadpan.generate.checks.toxicity import Check, chosen_checks, open_checks
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.folder import GenerationFolder, StepWriter
from deadpan.generate.language import Language
from deadpan.generate.plan import FilterPlan, GenerationPlan
from deadpan.generate.steps.dialogue import read_dialogue
from deadpan.journal import Journal

Finding = tuple[str, str]
"""(reason, detail) of a drop; both empty if there is none."""
NOTHING: Finding = ("", "")
CHUNK = 256


def run_filters(
    plan: GenerationPlan,
    language: Language,
    run: GenerationFolder,
    journal: Journal,
    out: StepWriter,
    tick: Callable[[], None],
) -> None:
    """Filter in two passes: each dialogue by itself, then all for duplicates."""
    findings, texts = _findings(plan, language, run, journal)
    if plan.filter.duplicates:
        _find_duplicates(texts, findings, language, plan.filter.similarity)
    for draft, (reason, detail) in zip(run.drafts("dialogue"), findings, strict=True):
        if reason:
            out.drop(Dropped(draft.id, "filter", reason, detail, draft=draft))
        else:
            out.keep(draft)
        tick()


def _findings(
    plan: GenerationPlan, language: Language, run: GenerationFolder, journal: Journal
) -> tuple[list[Finding], list[str]]:
    """Return the finding on each dialogue by itself, and the texts of those without one."""
    names = chosen_checks(plan.filter, language)
    findings: list[Finding] = []
    texts: list[str] = []
    with ExitStack() as held:
        moderate = None
        if "moderation" in names:
            asked = Moderation(plan.settings("dialogue"), plan.filter.moderation_model, journal)
            moderate = held.enter_context(closing(asked))
        toxicity = open_checks(names, plan.filter, language, moderate)
        new_scene = plan.scene == "new"
        alone = AloneChecks(plan.filter, language, toxicity, _judge(plan, language), new_scene=new_scene)
        drafts = run.drafts("dialogue")
        while some := list(islice(drafts, CHUNK)):
            new = alone.check(some)
            findings += new
            texts += ["" if reason else draft.text for draft, (reason, _) in zip(some, new, strict=True)]
    return findings, texts


def _judge(plan: GenerationPlan, language: Language) -> Judge | None:
    return open_judge(plan.politeness, language) if plan.filter.politeness else None


class AloneChecks:
    """The checks of one dialogue without the others. Without `new_scene` the context is the source."""

    def __init__(
        self,
        plan: FilterPlan,
        language: Language,
        toxicity: Sequence[Check],
        judge: Judge | None,
        *,
        new_scene: bool = True,
    ) -> None:
        self.new_scene = new_scene
        self.plan = plan
        self.language = language
        self.toxicity = toxicity
        self.judge = judge

    def check(self, drafts: Sequence[Draft]) -> list[Finding]:
        """Return the first finding on each dialogue."""
        texts = [[*(turn.text for turn in draft.turns), draft.explanation] for draft in drafts]
        findings = [self._language(dialogue) for dialogue in texts]
        for toxicity in self.toxicity:
            left = [place for place, (reason, _) in enumerate(findings) if not reason]
            for place, word in zip(left, toxicity([texts[place] for place in left]), strict=True):
                findings[place] = ("toxic", word) if word else NOTHING
        return [
            finding if finding[0] else self._rest(draft)
            for draft, finding in zip(drafts, findings, strict=True)
        ]

    def _language(self, texts: Sequence[str]) -> Finding:
        facts = self.language.facts
        fits = not self.plan.language or in_language(texts, facts.letters, facts.common_words)
        return NOTHING if fits else ("wrong_language", "")

    def _rest(self, draft: Draft) -> Finding:
        if self.judge and (why := inconsistency(draft.turns, draft.politeness, self.language, self.judge)):
            return "politeness", why
        if self.new_scene and self.plan.duplicates and copies_source(draft, self.plan.similarity):
            return OF_SOURCE, ""
        return NOTHING


def _find_duplicates(
    texts: list[str], findings: list[Finding], language: Language, similarity: float
) -> None:
    """Mark the later of two near-duplicates. A dialogue that is already dropped does not count as one."""
    places = [place for place, (reason, _) in enumerate(findings) if not reason]
    copies = find_copies([texts[place] for place in places], list(_example_texts(language)), similarity)
    for position, (reason, other) in copies.items():
        detail = f"dialogue {places[other] + 1} of the step before" if other >= 0 else ""
        findings[places[position]] = (reason, detail)


def _example_texts(language: Language) -> Iterator[str]:
    """Yield the dialogues in the prompt, which weak models tend to repeat."""
    for example in language.prompts["dialogue"].examples:
        written = read_dialogue(language, example["answer"])
        yield "\n".join(turn.text for turn in (*written.context, written.response))
