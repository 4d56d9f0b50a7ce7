"""KoCoSa's fine-tuned baselines (Kim et al. 2024, Table 8): KLUE-RoBERTa on dialogues with their context.

    python examples/kocosa_recipe.py --data-dir ../shared/data                     klue/roberta-base
    python examples/kocosa_recipe.py --size large --data-dir kocosa --seeds 3       klue/roberta-large
    python examples/kocosa_recipe.py --encoder FOLDER --data-dir kocosa             any encoder you have

The paper's settings: five epochs, batches of 16, a learning rate of 1e-5, the whole context with speakers,
and A and B exchanged in half of the training dialogues, since most of them begin with A. Where the files
have a train, a dev and a test part these are used; where only one part is there, five folds of it.
The KLUE weights are on the Hugging Face hub: fetch them once with a connection, or give a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from deadpan import Detector, Example, Prediction, folds, read_dataset, score_predictions

SIZES = {"base": "klue/roberta-base", "large": "klue/roberta-large"}
SETTINGS: dict[str, Any] = {
    "turns": None,
    "speakers": True,
    "speaker_swap": 0.5,
    "epochs": 5,
    "batch_size": 16,
    "learning_rate": 1e-5,
    "max_tokens": 256,
    "stop_on": "balanced_accuracy",
    "patience": 5,
}
SCORES = (
    "balanced_accuracy",
    "macro_f1",
    "weighted_f1",
    "precision",
    "recall",
    "precision_not",
    "recall_not",
)


def parts(examples: Sequence[Example]) -> list[tuple[list[Example], list[Example]]]:
    """What to train on and what to test on: the published parts if they are there, else five folds."""
    test = [example for example in examples if example.split == "test"]
    rest = [example for example in examples if example.split != "test"]
    if test and any(example.split == "train" for example in rest):
        return [(rest, test)]
    return [(fold.train, fold.test) for fold in folds(examples, 5, seed=0)]


def run(
    examples: Sequence[Example], encoder: str, seed: int, **settings: Any
) -> tuple[list[Example], list[Prediction]]:
    """Train and predict once over all parts; the examples tested, and what was said of them."""
    tested: list[Example] = []
    said: list[Prediction] = []
    for train, test in parts(examples):
        detector = Detector("transformer", encoder=encoder, seed=seed, **{**SETTINGS, **settings})
        said += detector.fit(train).predict(test)
        tested += test
    return tested, said


@click.command(help=(__doc__ or "").splitlines()[0])
@click.option(
    "--data-dir", type=click.Path(path_type=Path), required=True, help="Where the KoCoSa files are."
)
@click.option("--size", type=click.Choice(list(SIZES)), default="base", show_default=True)
@click.option("--encoder", default="", help="A folder or a hub name instead of KLUE-RoBERTa.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Runs to average.")
@click.option("--epochs", type=click.IntRange(1), default=SETTINGS["epochs"], show_default=True)
@click.option("--learning-rate", type=float, default=SETTINGS["learning_rate"], show_default=True)
@click.option(
    "--limit", type=click.IntRange(10), help="Take only the first so many dialogues, to try it out."
)
def main(
    data_dir: Path,
    size: str,
    encoder: str,
    seeds: int,
    epochs: int,
    learning_rate: float,
    limit: int | None,
) -> None:
    examples = read_dataset("kocosa", data_dir).examples[:limit]
    name = encoder or SIZES[size]
    for seed in range(seeds):
        tested, said = run(examples, name, seed, epochs=epochs, learning_rate=learning_rate)
        values = score_predictions(tested, said).values()
        found = "  ".join(f"{score} {values[score]:.3f}" for score in SCORES if score in values)
        click.echo(f"{name}  seed {seed}  {len(tested)} dialogues tested  {found}")


if __name__ == "__main__":
    main()
