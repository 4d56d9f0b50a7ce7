"""The corpus stop: made-up dumps of two months become a SARC corpus, every comment accounted for."""

from __future__ import annotations

import shutil

from deadpan.cli.tour import Guide
from deadpan.corpus.build import Build, BuildOptions
from deadpan.corpus.conversations import BuiltCorpus
from deadpan.corpus.settings import Settings
from deadpan.corpus.synthesize import synthesize
from deadpan.corpus.verify import verify
from deadpan.errors import MissingExtra, ModelError
from deadpan.storage import read_json

COMMENTS = 20_000
SHOWN = 2


def stop(guide: Guide) -> None:
    """Dumps in, corpus and benchmarks out, in a folder of the tour's."""
    guide.page.heading("A corpus from Reddit dumps")
    guide.page.text(
        f"Two months of dumps with {COMMENTS:,} comments, made up by a generator, not written by people, "
        "go the way real ones would: comments are read, filtered and labelled by their own /s, threads put "
        "together, pairs drawn. The same command reads every month there is."
    )
    dumps, out = guide.out / "dumps", guide.out / "corpus"
    for folder in (dumps, out):
        shutil.rmtree(folder, ignore_errors=True)
    guide.step("making up dumps")
    synthesize(dumps, months=2, comments=COMMENTS, seed=guide.seed, form="gz")
    guide.step("building the corpus")
    try:
        Build(out, Settings(seed=guide.seed), BuildOptions(memory="1GB")).run([str(dumps)])
    except (ModelError, MissingExtra) as absent:
        guide.page.note(f"Left out: {absent}")
        guide.result("a corpus from made-up dumps", f"left out: {absent}")
        return
    _tell(guide, BuiltCorpus(out))


def _tell(guide: Guide, built: BuiltCorpus) -> None:
    counts = built.manifest.counts
    left_out = {
        **read_json(built.folder / "stats.json")["drops"],
        "unreadable": built.manifest.drops.get("unreadable", 0),
    }
    guide.page.table(
        ("what", "comments"),
        [
            ("lines read", f"{counts['lines']:,}"),
            *((f"left out: {reason}", f"{n:,}") for reason, n in sorted(left_out.items())),
            ("kept", f"{counts['comments']:,}"),
            ("of these sarcastic", f"{counts['sarcastic']:,}"),
        ],
        caption="Where every line went",
        numeric=("comments",),
    )
    for example in built.conversations("main", SHOWN, guide.seed):
        guide.page.conversation(example)
    report = verify(built)
    held = (
        f"{len(report.checked) - len(report.wrong)} of {len(report.checked)} rules hold on what was written"
    )
    guide.page.note(f"Rechecked on the files themselves: {held}.")
    guide.result(
        "comments kept of made-up dumps, each labelled by its author",
        f"{counts['comments']:,}; {held}",
        counts["lines"],
    )
