"""A new plan.toml to edit, and copies of the prompts to change."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deadpan.errors import ConfigError
from deadpan.generate.language import languages, load_language, presets
from deadpan.generate.plan import EXAMPLES
from deadpan.llm import EMBEDDED_PREFIX, default_model
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.results import Result
from deadpan.storage import write_text

_PLAN = """\
# A plan for deadpan generate. Paths are relative to this file. Keys that are absent have their default.
language = "{language}"
out = "{out}"
seed = 0{preset}
# prompts = "mine"               # your own prompts: deadpan generate prompts --copy {language} --out mine
with_contrast = {contrast}            # also a sincere response that shares the words of the sarcastic one

[source]
path = {source}                # "examples", or files and folders: NIKL JSON, JSON lines, KoCoSa, CSV
max_turns = 6

[model]                          # used by every step that asks
model = "{model}"
{endpoint}
# [dialogue]                     # a step may have its own model and sampling
# model = "gpt-4o"
# tries = 3
# candidates = 4                 # responses per dialogue, chosen by a back-check; small models: 4, others: 1
# structured = "json"            # enforce the form by a JSON schema; the embedded model has a grammar

[filter]
abnormal = true                  # ask the model whether a dialogue makes sense; a person confirms it

[release]
title = ""
licence = "not stated"
"""

_ENDPOINT = """\
base_url = "{url}"               # any OpenAI-compatible server; empty: the SDK's own
key_env = "OPENAI_API_KEY"       # the environment variable with the key; "" for a server that needs none
concurrency = 8
# max_cost = 5.0                 # US dollars
# price = [2.5, 10.0]            # US dollars per million tokens in and out, for a model without a known price
"""


@dataclass(frozen=True, slots=True)
class PlanFile(Result):
    """A plan that was written."""

    path: Path

    def summary(self) -> Summary:
        return Summary(notes=(f"{self.path}: edit it, then run: deadpan generate run {self.path}",))

    def as_dict(self) -> dict[str, object]:
        return {"plan": str(self.path)}


def write_plan(
    path: Path | str,
    sources: Sequence[str] = (EXAMPLES,),
    *,
    language: str = "en",
    model: str = "",
    base_url: str = "",
    with_contrast: bool = False,
    preset: str = "",
) -> PlanFile:
    """Write a plan to start from; a file that exists is not overwritten."""
    path = Path(path)
    if path.exists():
        raise ConfigError(f"{path}: exists already; choose another name")
    if preset:
        language = presets()[preset].language if preset in presets() else language
    if language in languages():
        load_language(language, preset=preset)
    model = model or default_model()
    names = [f'"{name}"' for name in sources or (EXAMPLES,)]
    text = _PLAN.format(
        language=language,
        source=names[0] if len(names) == 1 else f"[{', '.join(names)}]",
        model=model,
        endpoint="" if model.startswith(EMBEDDED_PREFIX) else _ENDPOINT.format(url=base_url),
        out=path.stem,
        contrast=str(with_contrast).lower(),
        preset=f'\npreset = "{preset}"' if preset else "",
    )
    write_text(path, text)
    return PlanFile(path)


@dataclass(frozen=True, slots=True)
class PromptFolders(Result):
    """The languages with prompts: (code, name, folder) of each, and the copy that was made, if any."""

    languages: tuple[tuple[str, str, Path], ...]
    copy: Path | None = None
    presets: tuple[tuple[str, str], ...] = ()
    """Other prompts by name, and what they are."""

    def summary(self) -> Summary:
        rows = tuple((code, name, str(folder)) for code, name, folder in self.languages)
        notes = () if self.copy is None else (
            f'copied to {self.copy}: change it, then write prompts = "{self.copy}" in the plan',
        )  # fmt: skip
        shown = Table(("language", "name", "folder"), rows)
        return Summary((shown, Table(("preset", "what it is"), self.presets)), notes)

    def as_dict(self) -> dict[str, object]:
        return {code: {"name": name, "folder": str(folder)} for code, name, folder in self.languages}


def list_prompts(copy: str = "", out: Path | str | None = None) -> PromptFolders:
    """Return the languages deadpan has prompts for; with `copy`, copy that language's folder to `out`."""
    loaded = [load_language(code) for code in languages()]
    target = None
    if copy:
        target = None if out is None else Path(out)
        if target is None or target.exists():
            raise ConfigError(f"--out {target or ''}: name a folder that does not exist yet")
        shutil.copytree(load_language(copy).folder, target)
    found = tuple((name, preset.about) for name, preset in presets().items())
    return PromptFolders(tuple((one.code, one.facts.name, one.folder) for one in loaded), target, found)
