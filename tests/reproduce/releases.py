"""Corpora in the layouts of their releases, with made-up rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path


def sarc(folder: Path, part: str, balance: str, count: int, start: int = 0) -> None:
    """Pairs or sequences in which one word tells the label."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "comments.json"
    comments = json.loads(path.read_text()) if path.exists() else {}
    lines = []
    for number in range(start, start + count):
        post = f"p{balance}{number}"
        comments[post] = {"text": f"post number {number}"}
        others = 1 if balance == "balanced" else 3
        ids = [f"{post}r{place}" for place in range(others + 1)]
        for place, id in enumerate(ids):
            word = "obviously" if place == 0 else "today"
            comments[id] = {"text": f"{word} it is {number} {number * 7919} of {place} {number * 104729} things"}
        lines.append(f"{post}|{' '.join(ids)}|{' '.join(['1'] + ['0'] * others)}")
    (folder / f"{part}-{balance}.csv").write_text("\n".join(lines) + "\n")
    path.write_text(json.dumps(comments))


def isarcasm(folder: Path, part: str, count: int) -> None:
    """Tweets, one in four sarcastic."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{part}_text.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "sarcasm_label"])
        for number in range(count):
            label = number % 4 == 0
            word = "great" if label else "plain"
            rows.writerow([f"{word} {part} {number} {number * 7919} words", "sarcastic" if label else "not_sarcastic"])
    with (folder / f"isarcasm_{part}.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["tweet_id", "sarcasm_label", "sarcasm_type"])
        for number in range(count):
            label = number % 4 == 0
            rows.writerow([1000 + number, "sarcastic" if label else "not_sarcastic", "irony" if label else ""])


def kocosa(folder: Path, count: int, part: str = "dev") -> None:
    """Dialogues in which one word of the response tells the label."""
    folder.mkdir(parents=True, exist_ok=True)
    columns: dict[str, dict[str, str]] = {
        name: {} for name in ("Context", "Response", "Sarcasm_Label", "Sarcasm_Explanation")
    }
    for number in range(count):
        sarcastic = number % 2 == 0
        row = (f"A: 날씨 {number}\nB: 비", f"A: {'대단하네' if sarcastic else '그래요'} {number}",
               "Sarcasm" if sarcastic else "Non-Sarcasm", "반어" if sarcastic else "")  # fmt: skip
        for name, value in zip(columns, row, strict=True):
            columns[name][str(number)] = value
    (folder / f"KoCoSa_{part}.json").write_text(json.dumps(columns, ensure_ascii=False))
