"""The public set for others: a task of lm-evaluation-harness, and a dataset folder of Hugging Face."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deadpan.bench.items import CATEGORIES, LETTERS, write_items
from deadpan.bench.prompts import ZERO_SHOT, render_prompt
from deadpan.bench.schema import item_schema
from deadpan.bench.sets import ItemSet
from deadpan.cards import DataFacts, croissant
from deadpan.errors import DataError
from deadpan.records import Item
from deadpan.storage import digest, write_json, write_manifest, write_records, write_text

HARNESS, HUGGING_FACE = "lm-eval", "hf"
LANGUAGES = {"en": "English", "ko": "Korean"}


def export_set(items: ItemSet, out: Path) -> dict[str, int]:
    """Write both folders; how many items of each language. A set that is not public is never exported."""
    if not items.public:
        raise DataError(
            f"{items.label} is {items.visibility}: only public sets are exported; seal it instead"
        )
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty; name another --out")
    by_language: dict[str, list[Item]] = {}
    for item in items.items:
        by_language.setdefault(item.language, []).append(item)
    _write_harness(out / HARNESS, items, by_language)
    _write_hugging_face(out / HUGGING_FACE, items, by_language)
    counts = {language: len(members) for language, members in by_language.items()}
    write_manifest(
        out, command="bench export", config={"set": items.label, "hash": items.hash}, counts=counts
    )
    return counts


# ---------------------------------------------------------------- lm-evaluation-harness


def _write_harness(out: Path, items: ItemSet, by_language: dict[str, list[Item]]) -> None:
    for language, members in by_language.items():
        name = f"sarcbench_{language}"
        rows = [
            {
                "id": item.id,
                "category": item.category,
                "pair_id": item.pair_id,
                "prompt": render_prompt(item, range(len(LETTERS))),
                "answer": LETTERS[item.answer],
                "canary": item.canary,
            }
            for item in members
        ]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_text(out / f"{name}.jsonl", lines)
        write_text(out / f"{name}.yaml", _task_yaml(name, items))
    write_text(out / "README.md", _harness_readme(items, list(by_language)))


def _task_yaml(name: str, items: ItemSet) -> str:
    """A generative task with our prompt: the last `Final Answer: X` counts, as in our own runs."""
    return f"""# SarcBench {items.label}, set hash {items.hash[:16]}, prompt {ZERO_SHOT}
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {name}.jsonl
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: []
  do_sample: true
  temperature: 0.7
  top_p: 0.95
  max_gen_toks: 512
repeats: 1
filter_list:
  - name: final-answer
    filter:
      - function: regex
        regex_pattern: "(?i:final answer)[\\\\s*_`]*:[\\\\s*_`$(]*([A-Fa-f])(?![A-Za-z])"
        group_select: -1
        fallback: unread
      - function: uppercase
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata:
  version: {items.version}
"""


def _harness_readme(items: ItemSet, languages: Sequence[str]) -> str:
    tasks = ",".join(f"sarcbench_{language}" for language in languages)
    return f"""# SarcBench {items.label} for lm-evaluation-harness

Run inside this folder, since the tasks name their data by file:

    lm_eval --include_path . --tasks {tasks} --model local-chat-completions \\
      --model_args model=NAME,base_url=http://HOST/v1/chat/completions --apply_chat_template

The harness keeps no stop reasons, so an answer that was cut off counts as wrong without a word: the limit
here is 512 tokens for that reason. `deadpan bench run` asks again with a larger limit and counts it.
"""


# ---------------------------------------------------------------- Hugging Face


def _write_hugging_face(out: Path, items: ItemSet, by_language: dict[str, list[Item]]) -> None:
    for language, members in by_language.items():
        write_records(out / "data" / f"{language}.parquet", members, Item)
    write_items(out / f"{items.name}-{items.version}.jsonl", items.items)
    write_json(out / "schema.json", item_schema())
    write_text(out / "README.md", _card(items, by_language))
    write_json(out / "croissant.json", _croissant(items, out, by_language))


def facts_of(items: ItemSet, languages: Sequence[str]) -> DataFacts:
    """What only people know of the set."""
    return DataFacts(
        title=f"SarcBench {items.label}",
        version=items.version,
        language=tuple(languages),
        licence=next((item.licence for item in items.items if item.licence), "not given"),
        citation=f"SarcBench {items.version}, the deadpan authors. After SarcBench v0.1 (Budda).",
        summary="Six-option questions about what a speaker means: sarcastic or sincere, about whom, and why. "
        "Most come as minimal pairs in which one small change of the context flips the answer.",
        how_made="Written for this set, item by item, each with a checklist; audited so that neither the "
        "options nor the remark alone give the answer away. No text was taken from elsewhere.",
        personal_data="None: people and places are invented.",
        known_limits=(
            "No human baseline yet: people's answers are pending.",
            "Written, short and in one culture's manner each: voice, long history and in-jokes are missing.",
            "Public, so it may enter training data; the canary string tells, it does not prevent.",
        ),
        creators=tuple(sorted({item.author for item in items.items if item.author})),
    )


def _card(items: ItemSet, by_language: dict[str, list[Item]]) -> str:
    facts = facts_of(items, list(by_language))
    configs: list[dict[str, Any]] = [
        {"config_name": language, "data_files": [{"split": "test", "path": f"data/{language}.parquet"}]}
        for language in by_language
    ]
    every = {"config_name": "all", "default": True}
    configs.insert(0, {**every, "data_files": [{"split": "test", "path": "data/*.parquet"}]})
    front = {
        "pretty_name": facts.title,
        "language": list(facts.language),
        "license": facts.licence.lower(),
        "task_categories": ["multiple-choice", "question-answering"],
        "size_categories": ["n<1K"],
        "tags": ["sarcasm", "pragmatics", "deadpan"],
        "configs": configs,
    }
    head = "".join(f"{key}: {json.dumps(value, ensure_ascii=True)}\n" for key, value in front.items())
    table = ["| category | " + " | ".join(LANGUAGES.get(each, each) for each in by_language) + " |"]
    table.append("|---|" + "---:|" * len(by_language))
    for category in CATEGORIES:
        counts = [sum(item.category == category for item in members) for members in by_language.values()]
        table.append(f"| {category} | " + " | ".join(str(count) for count in counts) + " |")
    limits = "\n".join(f"- {line}" for line in facts.known_limits)
    canary = next((item.canary for item in items.items if item.canary), "")
    return (
        f"---\n{head}---\n\n# {facts.title}\n\n{facts.summary}\n\nSet hash: `{items.hash}`\n\n"
        f"## Sizes\n\n" + "\n".join(table) + f"\n\n## How it was made\n\n{facts.how_made}\n\n"
        f"## Known limits\n\n{limits}\n\n## Personal data\n\n{facts.personal_data}\n\n"
        f"## Licence\n\n{facts.licence}\n\n## Canary\n\n`{canary}`\n"
    )


def _croissant(items: ItemSet, out: Path, by_language: dict[str, list[Item]]) -> dict[str, Any]:
    """Croissant metadata with the columns of items."""
    described = croissant(facts_of(items, list(by_language)), [])
    for language, members in by_language.items():
        path = f"data/{language}.parquet"
        described["distribution"].append(
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "description": f"{len(members)} items in {LANGUAGES.get(language, language)}.",
                "contentUrl": path,
                "contentSize": f"{(out / path).stat().st_size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": digest(out / path),
            }
        )
        described["recordSet"].append(_record_set(language, path))
    return described


def _record_set(language: str, path: str) -> dict[str, Any]:
    properties = item_schema()["properties"]
    plain = [name for name in properties if name not in ("context", "checks", "options", "tags")]
    return {
        "@type": "cr:RecordSet",
        "@id": language,
        "name": language,
        "description": f"Items in {LANGUAGES.get(language, language)}.",
        "key": {"@id": f"{language}/id"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{language}/{name}",
                "name": name,
                "description": properties[name]["description"],
                "dataType": "sc:Integer" if name == "answer" else "sc:Text",
                "source": {"fileObject": {"@id": path}, "extract": {"column": name}},
            }
            for name in plain
        ],
    }
