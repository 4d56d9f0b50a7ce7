"""deadpan reproduce: the tables and figures of the four papers, measured again."""

from pathlib import Path
from typing import Any

import click

from deadpan.cli.options import PATH, base_url_option, data_dir_option, out_option
from deadpan.cli.terminal import json_option, progress_bar, seed_option, show


@click.command()
@click.argument("papers", nargs=-1, required=True, metavar="sarc|isarcasm|kocosa|sarcbench|all...")
@data_dir_option
@out_option
@click.option("--quick", is_flag=True, help="One fold, samples and one seed: minutes instead of hours.")
@click.option("--only", multiple=True, metavar="ID", help="Only this table or figure, such as table-2.")
@click.option("--seeds", default=3, show_default=True, type=click.IntRange(1), help="Number of seeds per network.")
@click.option("--vectors", type=PATH, help="SARC: a file of GloVe vectors for the sentence embeddings.")
@click.option("--encoder", type=PATH, help="KoCoSa: folder with KLUE-RoBERTa's weights in base/ and large/.")
@click.option("--set", "items", type=PATH, help="SarcBench: a file of items instead of the shipped set.")
@click.option("--run", "runs", type=PATH, help="SarcBench: folder of runs written by bench run.")
@click.option("--people", type=PATH, help="Folder of studies that people answered: NAME/study, NAME/export.")
@click.option("--llm", default="", help="KoCoSa: a language model to ask with 0, 4 and 8 examples.")
@base_url_option
@seed_option
@json_option
def reproduce(papers: tuple[str, ...], out: Path, as_json: bool, **options: Any) -> None:
    """Reproduce the tables and figures of the four papers: published beside ours, a verdict per cell."""
    from deadpan.reproduce.reproduction import reproduce as run

    with progress_bar() as progress:
        say = None if as_json else (lambda line: click.echo(line, err=True))
        show(run(list(papers), out, progress=progress, on_estimate=say, **options), as_json)
