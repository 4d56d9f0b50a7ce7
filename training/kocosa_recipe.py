"""KoCoSa's fine-tuned baselines (Kim et al. 2024, Table 8): KLUE-RoBERTa on dialogues with their context.

    python training/kocosa_recipe.py --data-dir kocosa                          klue/roberta-base
    python training/kocosa_recipe.py --size large --data-dir kocosa --seeds 3       klue/roberta-large
    python training/kocosa_recipe.py --encoder FOLDER --data-dir kocosa             any encoder you have

The paper's settings: five epochs, batches of 16, a learning rate of 1e-5, the whole context with speakers,
and A and B swapped in half of the training dialogues, because most of them begin with A. The published train,
dev and test parts are used if they exist, else five folds. The KLUE weights are on the Hugging Face hub:
download them once, or give a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from deadpan import Detector, Example, Prediction, folds, read_dataset, score

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
SCORES = ("balanced_accuracy", "macro_f1", "weighted_f1", "precision", "recall", "precision_not", "recall_not")


def parts(examples: Sequence[Example]) -> list[tuple[list[Example], list[Example]]]:
    """Return (train, test) parts: the published ones if they exist, else five folds."""
    test = [example for example in examples if example.split == "test"]
    rest = [example for example in examples if example.split != "test"]
    if test and any(example.split == "train" for example in rest):
        return [(rest, test)]
    return [(fold.train, fold.test) for fold in folds(examples, 5, seed=0)]


def run(
    examples: Sequence[Example], encoder: str, seed: int, **settings: Any
) -> tuple[list[Example], list[Prediction]]:
    """Train and predict once over all parts; return the tested examples and their predictions."""
    tested: list[Example] = []
    predictions: list[Prediction] = []
    for train, test in parts(examples):
        detector = Detector("transformer", encoder=encoder, seed=seed, **{**SETTINGS, **settings})
        predictions += detector.fit(train).predict(test)
        tested += test
    return tested, predictions


@click.command(help=(__doc__ or "").splitlines()[0])
@click.option("--data-dir", type=click.Path(path_type=Path), required=True, help="Where the KoCoSa files are.")
@click.option("--size", type=click.Choice(list(SIZES)), default="base", show_default=True)
@click.option("--encoder", default="", help="A folder or a hub name instead of KLUE-RoBERTa.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Runs to average.")
@click.option("--epochs", type=click.IntRange(1), default=SETTINGS["epochs"], show_default=True)
@click.option("--learning-rate", type=float, default=SETTINGS["learning_rate"], show_default=True)
@click.option("--limit", type=click.IntRange(10), help="Take the first N dialogues only, to try it out.")
def main(
    data_dir: Path, size: str, encoder: str, seeds: int, epochs: int, learning_rate: float, limit: int | None
) -> None:
    examples = read_dataset("kocosa", data_dir).examples[:limit]
    name = encoder or SIZES[size]
    for seed in range(seeds):
        tested, predictions = run(examples, name, seed, epochs=epochs, learning_rate=learning_rate)
        table = score(tested, predictions).scores
        scores = "  ".join(f"{score} {table[score].value:.3f}" for score in SCORES if score in table)
        click.echo(f"{name}  seed {seed}  {len(tested)} dialogues tested  {scores}")


if __name__ == "__main__":
    main()
