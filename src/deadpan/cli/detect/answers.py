"""deadpan detect TEXT, deadpan detect predict, deadpan detect systems."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.detect.options import model_option
from deadpan.cli.output import emit, json_option, label_word, table

if TYPE_CHECKING:
    from rich.console import Console

GUESS = "a statistical guess"


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="TEXT")
@click.option("--context", "before", multiple=True, help="What was said before; give it once a turn.")
@model_option
@json_option
def text(words: tuple[str, ...], before: tuple[str, ...], model: str, as_json: bool) -> None:
    """Say whether a text is sarcastic, how sure that is, and which words made it so."""
    from deadpan.detect.detector import Detector
    from deadpan.detect.explanation import explain
    from deadpan.errors import ConfigError
    from deadpan.records import Example, Turn

    said_text = " ".join(words)
    if not said_text.strip():
        raise ConfigError("there is no word to judge: give a text, or lines with deadpan detect predict")
    detector = Detector.load(model)
    example = Example("text", Turn("", said_text), tuple(Turn("", turn) for turn in before))
    (said,) = detector.predict([example])
    if said.score is None or len(example.response.text.split()) > 200:
        moved: list[Any] = []
    else:
        found = explain(detector.predict, example)
        moved = sorted((word for word in found.words if abs(word.push) > 0.05), key=lambda w: -abs(w.push))[
            :5
        ]
    data = {
        "label": said.label, "score": said.score, "model": model, "note": GUESS,
        "moved": [{"text": word.text, "push": round(word.push, 3)} for word in moved],
    }  # fmt: skip

    def show(out: Console) -> None:
        from rich.text import Text

        if said.label is None:
            out.print(Text(f"the model's answer could not be read: {said.raw!r}", style="yellow"))
            return
        sure = "" if said.score is None else f", {said.score:.0%} likely to be sarcastic"
        out.print(Text("").append_text(label_word(said.label)).append(f"{sure} ({GUESS})"))
        if moved:
            line = Text("moved by ", style="dim")
            for place, word in enumerate(moved):
                line.append(", " if place else "").append(word.text).append(f" {word.push:+.1f}")
            out.print(line)
        why = f" --model {model}" if model != "default" else ""
        out.print(Text(f'Word by word: deadpan detect explain{why} "..."', style="dim"))

    emit(as_json, data, show)


@click.command()
@json_option
def systems(as_json: bool) -> None:
    """The systems there are, and whether what they need is installed."""
    from importlib.util import find_spec

    from deadpan.detect import SYSTEMS

    rows = []
    for name, target in SYSTEMS.items():
        module = target.partition(":")[0]
        library, extra = "", ""
        if ".neural" in module or ".transformer" in module:
            library, extra = ("transformers" if ".transformer" in module else "torch"), "neural"
        elif module.endswith(".prompted"):
            library, extra = "openai", "llm"
        here = not library or find_spec(library) is not None
        rows.append((name, ABOUT.get(name, ""), "ready" if here else f"pip install 'deadpan[{extra}]'"))
    data = [{"name": name, "about": about, "state": state} for name, about, state in rows]
    emit(as_json, data, lambda out: out.print(table(("system", "what it is", "state"), rows)))


ABOUT = {
    "random": "chance, at the training rate",
    "majority": "always the commoner label",
    "cues": "a dozen rules of thumb that can be read",
    "bow": "SARC: counts of words",
    "bigrams": "SARC: counts of words and bigrams",
    "embedding": "SARC: summed word vectors",
    "linear": "n-grams of tokens and characters, signals, context; the default",
    "lstm": "iSarcasm: LSTM",
    "att-lstm": "iSarcasm: LSTM with attention",
    "cnn": "iSarcasm: convolution",
    "siarn": "iSarcasm: attention over word pairs, one dimension (Tay et al. 2018)",
    "miarn": "iSarcasm: attention over word pairs, many dimensions (Tay et al. 2018)",
    "3cnn": "iSarcasm: three convolutions",
    "dense-lstm": "iSarcasm: four densely connected LSTM layers",
    "transformer": "KoCoSa: a pretrained encoder, fine-tuned",
    "prompted": "KoCoSa: a language model that is asked",
    "blend": "several systems, weighed",
}


@click.command()
@click.argument("file", default="-", metavar="[FILE|-]")
@model_option
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="A file instead of standard output."
)
@click.option("--format", "form", type=click.Choice(["auto", "json", "plain"]), default="auto",
              show_default=True, help="Of the lines; auto looks at the first.")  # fmt: skip
@click.option("--json", is_flag=True, expose_value=False, help="Changes nothing: it is always JSON lines.")
def predict(file: str, model: str, out: Path | None, form: str) -> None:
    """Judge texts, one a line, as a stream: memory stays bounded however long it is.

    A line is plain text, or JSON: {"text": ..., "context": [...], "id": ...} or an Example deadpan wrote.
    Every line gives a line of JSON, in order: id, label, score; or line and error, and the rest goes on.
    """
    from deadpan.cli.detect.stream import judge
    from deadpan.detect.detector import Detector
    from deadpan.errors import ConfigError, DataError
    from deadpan.storage import atomic

    if file == "-" and sys.stdin.isatty():
        raise ConfigError("nothing to read: name a file, or pipe lines in")
    if file != "-" and not Path(file).is_file():
        raise DataError(f"{file}: no such file; to judge a text itself: deadpan detect {file!r}")
    detector = Detector.load(model)
    source = sys.stdin.buffer if file == "-" else open(file, "rb")  # noqa: SIM115
    with source:
        if out is None:
            tally = judge(detector, source, sys.stdout.buffer, form)
        else:
            with atomic(out) as temporary, temporary.open("wb") as target:
                tally = judge(detector, source, target, form)
    if tally["errors"] and sys.stderr.isatty():
        click.echo(f"{tally['errors']:,} of {tally['lines']:,} lines could not be judged", err=True)
