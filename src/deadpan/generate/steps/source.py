"""The first step: source dialogues between two people, cut to a window of a few turns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from deadpan.draws import sample
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.language import Language
from deadpan.generate.plan import EXAMPLES, GenerationPlan
from deadpan.generate.steps.sources import RawSource, SourceFiles
from deadpan.generate.steps.window import two_people, window
from deadpan.records import Turn
from deadpan.storage import digest


def source_files(plan: GenerationPlan, language: Language) -> SourceFiles:
    """Return the files to read; `examples` stands for those that come with the language."""
    paths = [str(language.sources) if name == EXAMPLES else name for name in plan.source.paths]
    return SourceFiles(paths, plan.source.form, plan.source.columns)


def source_drafts(plan: GenerationPlan, language: Language) -> Iterator[Draft | Dropped]:
    """Yield every source dialogue as a draft, or as a drop with its reason."""
    seen: set[bytes] = set()
    for raw in _chosen(plan, language):
        turns, reason = _usable_turns(raw)
        name = hashlib.blake2b(raw.id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if not reason and name in seen:
            reason = "same_id"
        seen.add(name)
        if reason:
            yield Dropped(raw.id, "source", reason, raw.place)
        else:
            cut = window(turns, plan.source.max_turns, seed=plan.seed, id=raw.id)
            yield Draft(raw.id, cut, raw.topic, raw.intimacy)


def fingerprint(files: SourceFiles) -> str:
    """Return one hash of the names and contents of all source files."""
    total = hashlib.blake2b(digest_size=16)
    for path in files.files():
        total.update(f"{path.name}\x1f{digest(path)}\n".encode())
    return total.hexdigest()


def _chosen(plan: GenerationPlan, language: Language) -> Iterator[RawSource]:
    """Yield all dialogues, or those drawn by the seed, in the order of the draw."""
    files = source_files(plan, language)
    if not plan.source.sample:
        return iter(files)
    usable = (raw for raw in files if not _usable_turns(raw)[1])
    return iter(sample(usable, plan.source.sample, seed=plan.seed, key=lambda raw: raw.id))


def _usable_turns(raw: RawSource) -> tuple[tuple[Turn, ...], str]:
    """Return the turns of A and B, or the reason why the dialogue cannot be used."""
    return ((), raw.wrong) if raw.wrong else two_people(raw.turns)
