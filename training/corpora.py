"""What the shipped detectors learn from: every corpus that is in the data folder, and an eighth held out.

An example belongs to the held-out eighth by a hash of its pair, thread or text, so that it stays there whatever else
is added. Copies of held-out texts, in whichever corpus, are removed from the training part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadpan.datasets import read_dataset
from deadpan.draws import draw
from deadpan.errors import DeadpanError
from deadpan.records import Example
from deadpan.text import fold
from everyday import PAIRS, SOURCE, everyday_lines, everyday_pairs, lines_alone, plain_lines

HELD_OUT = 8
"""One in this many is held out."""
SHORT = 4
"""Words up to which two posts with the same text are a coincidence ("good luck with that"), not a copy."""
WRITTEN = (SOURCE, PAIRS, "starter-en", "starter-ko")
"""Sources of texts that were written for deadpan."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus of real texts: who says that a text is sarcastic, where it is published and under which terms."""

    name: str
    kind: str
    texts: str
    source: str
    terms: str


RESEARCH = "published for research, no licence stated"
CORPORA = (
    Corpus("sarc-pol", "marker", "Reddit replies", "SARC 2.0, r/politics (Khodak et al. 2018)", RESEARCH),
    Corpus("sarc-main", "marker", "Reddit replies", "SARC 2.0 (Khodak et al. 2018)", RESEARCH),
    Corpus("sarc-raw", "marker", "Reddit replies", "SARC, raw form of r/politics (Khodak et al. 2018)", RESEARCH),
    Corpus("figlang2020-reddit", "marker", "Reddit replies", "FigLang 2020 (Ghosh et al. 2020)", RESEARCH),
    Corpus("figlang2020-twitter", "marker", "tweets", "FigLang 2020 (Ghosh et al. 2020)", RESEARCH),
    Corpus("isarcasm", "author", "tweets", "iSarcasm (Oprea and Magdy 2020)", RESEARCH),
    Corpus("isarcasm_eval-en", "author", "tweets", "iSarcasmEval, SemEval-2022 task 6 (Abu Farha et al. 2022)", "MIT"),
    Corpus("isarcasm_eval-en-c", "author", "tweets", "iSarcasmEval, plain rephrases", "MIT"),
    Corpus("semeval2018-a", "readers", "tweets", "SemEval-2018 task 3 (Van Hee et al. 2018)", RESEARCH),
    Corpus("ptacek", "marker", "tweets", "Ptáček et al. 2014", "CC BY-NC-SA 3.0"),
    Corpus("ghosh_veale", "marker", "tweets", "Ghosh and Veale 2016", RESEARCH),
    Corpus("riloff", "readers", "tweets", "Riloff et al. 2013", RESEARCH),
    Corpus("oraby-gen", "readers", "forum posts", "Sarcasm Corpus V2 (Oraby et al. 2016)", RESEARCH),
    Corpus("oraby-hyp", "readers", "forum posts", "Sarcasm Corpus V2 (Oraby et al. 2016)", RESEARCH),
    Corpus("oraby-rq", "readers", "forum posts", "Sarcasm Corpus V2 (Oraby et al. 2016)", RESEARCH),
    Corpus("mustard", "readers", "television lines", "MUStARD (Castro et al. 2019)", "MIT"),
    Corpus("news_headlines", "marker", "headlines", "News Headlines (Misra and Arora 2019)", "CC BY 4.0"),
    Corpus("kocosa", "generated", "Korean dialogues", "KoCoSa (Kim et al. 2024)", RESEARCH),
    Corpus("kocasm", "marker", "Korean tweets", "Kocasm (Kim and Cho 2019)", "MIT"),
    Corpus("arsarcasm_v2", "readers", "Arabic tweets", "ArSarcasm-v2 (Abu Farha et al. 2021)", "MIT"),
    Corpus("isarcasm_eval-ar", "author", "Arabic tweets", "iSarcasmEval, SemEval-2022 task 6", "MIT"),
    Corpus("isarcasm_eval-ar-c", "author", "Arabic tweets", "iSarcasmEval, plain rephrases", "MIT"),
)
KINDS = ("marker", "author", "readers", "generated")


def read_corpora(data_dir: Path) -> dict[str, list[Example]]:
    """Return the labelled examples of every corpus that is there, and of the written lines, by source."""
    found: dict[str, list[Example]] = {}
    for corpus in CORPORA:
        try:
            examples = [example for example in read_dataset(corpus.name, data_dir) if example.label is not None]
        except DeadpanError as missing:
            print(f"{corpus.name}: left out ({missing})", flush=True)
            continue
        found[corpus.name] = [replace(e, id=f"{corpus.name}/{e.id}", source=corpus.name) for e in examples]
    for name in ("starter-en", "starter-ko"):
        found[name] = [replace(e, id=f"{name}/{e.id}", source=name) for e in read_dataset(name, data_dir)]
    found[SOURCE] = [*everyday_lines(more=True), *plain_lines(), *lines_alone()]
    found[PAIRS] = everyday_pairs()
    return found


def parts(corpora: dict[str, list[Example]]) -> tuple[list[Example], list[Example]]:
    """Return the training part and the held-out eighth of all corpora, without texts of the second in the first."""
    everything = [example for each in corpora.values() for example in each]
    held_out = [example for example in everything if is_held_out(example)]
    known = {key for example in held_out for key in _copies(example)}
    kept = [e for e in everything if not is_held_out(e) and not known.intersection(_copies(e))]
    return _distinct(kept), _distinct(held_out)


def is_held_out(example: Example) -> bool:
    """Return True for an eighth of all pairs, threads or texts."""
    unit = example.group or example.sequence or fold(example.response.text) or example.id
    return draw(0, f"held out {unit}")[0] % HELD_OUT == 0


def _copies(example: Example) -> list[str]:
    """Return what two copies of one text share; short texts only count with the turn before."""
    text = fold(example.response.text)
    before = fold(example.context[-1].text) if example.context else ""
    alone = [text] if len(text.split()) > SHORT and example.source not in WRITTEN else []
    return [*alone, f"{before}\t{text}"]


def _distinct(examples: Sequence[Example]) -> list[Example]:
    """Return the examples without copies in the same language that have the same label."""
    seen: set[tuple[str, str, bool]] = set()
    kept = []
    for example in examples:
        before = fold(example.context[-1].text) if example.context else ""
        key = before, fold(example.response.text), bool(example.label)
        if key not in seen:
            seen.add(key)
            kept.append(example)
    return kept
