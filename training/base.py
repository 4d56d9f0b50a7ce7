"""Build the detector `base`: `python training/base.py --data-dir DIR [--out FOLDER]`.

A mixture of linear models for English, Korean and Arabic: one of posts, from every corpus that is in DIR, and one of
written lines (data/everyday, the starter sets). An eighth of everything is held out: calibration and bands come from
a quarter of it, the numbers in the card from the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from corpora import CORPORA, WRITTEN, parts, read_corpora
from deadpan.detect.detector import BASE, SHIPPED, Detector
from deadpan.detect.inputs import SeenTexts
from deadpan.detect.systems.mixture import Mixture
from deadpan.storage import write_json
from held_out import Scored, bands, is_dev, report, six_sets, unknown_origin
from long_runs import clocked

LANGUAGES = ("en", "ko", "ar")
SETTINGS = {
    "lines": [*WRITTEN, "kocosa"], "turns": 2, "keep": 90_000,
    "sorts": {
        sort: [each.name for each in CORPORA if each.texts == texts]
        for sort, texts in (("replies", "Reddit replies"), ("tweets", "tweets"))
    },
}  # fmt: skip
CARD = "card.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=SHIPPED[BASE])
    options = parser.parse_args()
    corpora = read_corpora(options.data_dir)
    train, held_out = parts(corpora)
    model = Mixture(**SETTINGS)
    model.progress = clocked(BASE)
    model.fit(train)
    model.calibrate([example for example in held_out if is_dev(example)])
    scored = Scored(held_out, np.array([prediction.score for prediction in model.predict(unknown_origin(held_out))]))
    detector = Detector("mixture", **SETTINGS)
    detector.predictor, detector.seen_, detector.rate_ = model, SeenTexts.of(train), 0.5
    detector.bands, risks = bands(scored, LANGUAGES)
    sizes = {name: len(rows) for name, rows in corpora.items()}
    detector.save(options.out, command="training/base.py", about={"data": sizes})
    rows = report(scored, detector.bands)
    write_card(options.out, BASE, detector, rows, risks, sizes)
    sys.stdout.write("".join(f"{json.dumps(row)}\n" for row in rows) + f"six sets: {six_sets(rows)}\n")


def write_card(
    out: Path,
    name: str,
    detector: Detector,
    rows: list[dict[str, object]],
    risks: dict[str, float],
    sizes: dict[str, int],
) -> None:
    """Write what the detector learned from and what it scores beside the model folder, in card.json."""
    path = out.parent / CARD
    card = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    listed = [
        {"name": each.name, "kind": each.kind, "texts": sizes[each.name], "source": each.source, "terms": each.terms}
        for each in CORPORA if each.name in sizes
    ]  # fmt: skip
    assert detector.bands is not None
    posts = [row for row in rows if row["corpus"] in {each.name for each in CORPORA}]
    kinds = {language: list(dict.fromkeys(row["texts"] for row in posts if row["language"] == language))
             for language in detector.bands.languages}  # fmt: skip
    card[name] = {
        "corpora": listed, "held_out": rows, "languages": list(detector.bands.languages), "calibrated_on": kinds,
        "band": {language: list(band) for language, band in detector.bands.languages.items()}, "risk": risks,
        "six_english_sets": six_sets(rows), "note": "Weights contain no texts.",
    }  # fmt: skip
    write_json(path, card)


if __name__ == "__main__":
    main()
