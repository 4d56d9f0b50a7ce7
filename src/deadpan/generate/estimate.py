"""What a run will cost: prompts as they will be sent, answers as long as the prompts' examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.generate.abnormal import abnormal_messages
from deadpan.generate.contrast import contrast_messages
from deadpan.generate.dialogue import dialogue_messages, read_dialogue
from deadpan.generate.draft import Draft
from deadpan.generate.language import Language
from deadpan.generate.ledger import Said
from deadpan.generate.plan import Plan
from deadpan.generate.situation import read_situation, situation_messages
from deadpan.llm import Message, Usage, find_price

PROMPT_OF = {"situation": "situation", "dialogue": "dialogue", "abnormal": "abnormal", "contrast": "sincere"}
AROUND = 4  # tokens a message's role takes


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """One stage: calls, tokens, and dollars if each is answered at the first try; at most, if none is."""

    stage: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    most: float | None


def tokens_of(text: str) -> int:
    """About how many tokens: four ASCII characters, or five quarters of another, make one."""
    other = sum(not character.isascii() for character in text)
    return round((len(text) - other) / 4 + other * 0.8) + 1


def estimate(plan: Plan, language: Language, dialogues: int, shown: Sequence[Draft]) -> list[StageEstimate]:
    """Every stage of a plan over so many dialogues; `shown` are some of them, to see how long they are."""
    rows = []
    for stage in plan.stages:
        settings = plan.settings(stage)
        prompts = [_messages(stage, language, draft) for draft in shown]
        taken = sum(sum(tokens_of(m["content"]) + AROUND for m in messages) for messages in prompts)
        taken = round(taken / max(1, len(prompts)))
        given = _answer_tokens(language, stage)
        price = find_price(settings)
        most = settings.max_tokens or 4_096
        rows.append(
            StageEstimate(
                stage,
                settings.model,
                dialogues,
                taken * dialogues,
                given * dialogues,
                price.cost(Usage(taken, given)) * dialogues if price else None,
                price.cost(Usage(taken, most)) * dialogues * plan.tries(stage) if price else None,
            )
        )
    return rows


def _answer_tokens(language: Language, stage: str) -> int:
    answers = [tokens_of(example["answer"]) for example in language.prompts[PROMPT_OF[stage]].examples]
    return round(sum(answers) / max(1, len(answers)))


def _messages(stage: str, language: Language, draft: Draft) -> list[Message]:
    """The prompt of a stage; for what a model has yet to write, the prompt's own example stands in."""
    if stage == "situation":
        return situation_messages(language, draft)
    like = language.prompts["situation"].examples[0]["answer"]
    theme, summary = read_situation(language, Said(like, "stop"))
    written = read_dialogue(language, Said(language.prompts["dialogue"].examples[0]["answer"], "stop"))
    filled = Draft(
        draft.id, draft.source, draft.topic, draft.intimacy, theme, summary, {}, written.context,
        written.response, written.explanation,
    )  # fmt: skip
    ask = {"dialogue": dialogue_messages, "abnormal": abnormal_messages, "contrast": contrast_messages}[stage]
    return ask(language, filled)
