"""Word and sentence vectors: from a GloVe or word2vec text file, or the embedded ones."""

from __future__ import annotations

import bz2
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError, need
from deadpan.models import path as model_path
from deadpan.text import sarc_tokens

Array = NDArray[np.float32]
Pool = Literal["mean", "sum"]

_EMBEDDED = "wordllama-256"
_LOOKED_AT = 100  # lines that determine the number of dimensions
_BATCH = 4_096
SENTENCES = 256


class Vectors:
    """Words and their vectors. An unknown word is a row of zeros, so it adds nothing to a sum."""

    def __init__(
        self, index: Mapping[str, int], matrix: Array, tokens: Callable[[str], list[str]] = sarc_tokens
    ) -> None:
        self.index = index
        self.matrix = matrix
        self.tokens = tokens

    @classmethod
    def read(
        cls,
        path: Path,
        words: Iterable[str] | None = None,
        tally: Tally | None = None,
        tokens: Callable[[str], list[str]] = sarc_tokens,
    ) -> Vectors:
        """Read a text file of vectors, also .gz or .bz2; only `words` (and their lower case), if given.

        A line that cannot be read is skipped and counted in `tally`.
        """
        index, matrix = _read_table(Path(path), words, tally if tally is not None else Tally())
        return cls(index, matrix, tokens)

    @classmethod
    def embedded(cls) -> Vectors:
        """Return the static vectors of `deadpan models pull wordllama-256`, which cover any text."""
        return TokenVectors()

    @property
    def dimension(self) -> int:
        """Size of a vector."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, word: str) -> bool:
        return self._row(word) is not None

    def words(self, tokens: Sequence[str]) -> Array:
        """Return one row per token, in order; zeros where neither the token nor its lower case is known."""
        return _pool(self.matrix, [[] if (row := self._row(token)) is None else [row] for token in tokens])

    def sentences(self, texts: Sequence[str], pool: Pool = "mean", normalise: bool = True) -> Array:
        """Return one row per text: the mean or sum of its tokens' vectors, scaled to length 1."""
        if pool not in ("mean", "sum"):
            raise ConfigError(f"unknown pool {pool!r}: choose from mean, sum")
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), SENTENCES):
            batch = self._rows(texts[start : start + SENTENCES])
            out[start : start + len(batch)] = _pool(self.matrix, batch, mean=pool == "mean")
        return unit(out) if normalise else out

    def _rows(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the table rows of each text."""
        per_text = ([self._row(token) for token in self.tokens(text)] for text in texts)
        return [[row for row in rows if row is not None] for rows in per_text]

    def _row(self, word: str) -> int | None:
        row = self.index.get(word)
        return self.index.get(word.lower()) if row is None else row


def find_embedded() -> tuple[ModuleType, Path]:
    """Return the tokenizer library and the folder of the embedded vectors, without loading them."""
    return need("tokenizers", "llm"), model_path(_EMBEDDED)


class TokenVectors(Vectors):
    """The embedded vectors: a table of word pieces, so that every word has some."""

    def __init__(self) -> None:
        library, folder = find_embedded()
        self._tokenizer: Any = library.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        matrix = read_tensor(folder / "l2_supercat_256.safetensors", "embedding.weight")
        vocabulary = self._tokenizer.get_vocab()
        if max(vocabulary.values()) >= len(matrix):
            raise DataError(f"{folder}: its tokenizer has pieces that its table lacks: pull the model again")
        super().__init__(vocabulary, matrix, self._pieces)

    def __contains__(self, word: str) -> bool:
        return bool(word)

    def words(self, tokens: Sequence[str]) -> Array:
        """Return one row per token: the mean of its pieces."""
        return self.sentences(tokens, normalise=False)

    def _pieces(self, text: str) -> list[str]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).tokens)

    def _rows(self, texts: Sequence[str]) -> list[list[int]]:
        # Lone surrogates are legal in a Python string and in JSON, but tokenizers refuse them.
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [one.ids for one in self._tokenizer.encode_batch_fast(valid, add_special_tokens=False)]


# ---------------------------------------------------------------- arithmetic


def unit(rows: Array) -> Array:
    """Return rows of length 1; rows of zeros stay zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    out = np.zeros_like(rows)
    np.divide(rows, lengths, out=out, where=lengths > 0)
    return out


def cosine(left: Array, right: Array) -> Array:
    """Return the cosine of every row of `left` with every row of `right`; 0 for rows of zeros."""
    product: Array = unit(np.atleast_2d(left)) @ unit(np.atleast_2d(right)).T
    return product


def _pool(matrix: Array, rows: Sequence[Sequence[int]], mean: bool = True) -> Array:
    """Return the mean or sum of the rows in each list; zeros for an empty list."""
    out = np.zeros((len(rows), matrix.shape[1]), dtype=np.float32)
    for place, row in enumerate(rows):  # faster than one large gather, which does not fit the cache
        if row:
            np.add.reduce(matrix.take(row, axis=0), axis=0, out=out[place])
            if mean:
                out[place] /= len(row)
    return out


# ---------------------------------------------------------------- text files


def _read_table(path: Path, words: Iterable[str] | None, tally: Tally) -> tuple[dict[str, int], Array]:
    wanted = None if words is None else {form.encode() for word in words for form in (word, word.lower())}
    lines = _lines(path)
    head = list(islice(lines, _LOOKED_AT))
    size, header = _dimension(path, head)
    index: dict[str, int] = {}
    blocks: list[Array] = []
    batch: list[tuple[int, bytes, bytes]] = []
    for number, line in enumerate(chain(head[header:], lines), header + 1):
        cut = _cut(line, size)
        if cut is None:
            if line.strip():
                tally.drop("bad_vector", f"{path}:{number}", line[:60].decode("utf-8", "replace"))
        elif wanted is None or cut[0] in wanted:
            batch.append((number, *cut))
            if len(batch) >= _BATCH:
                blocks.append(_keep(path, batch, size, index, tally))
                batch = []
    blocks.append(_keep(path, batch, size, index, tally))
    if wanted is None and not index:
        raise DataError(f"{path}: no word vectors in it; expected lines of a word and its numbers")
    return index, np.concatenate(blocks)


def _cut(line: bytes, size: int) -> tuple[bytes, bytes] | None:
    """Return a line's word and its numbers, as bytes. A word may contain spaces."""
    line = line.rstrip()
    if line.count(b" ") == size:
        word, _, numbers = line.partition(b" ")
    else:
        parts = line.rsplit(b" ", size)
        if len(parts) <= size:
            return None
        word, numbers = parts[0], b" ".join(parts[1:])
    return (word, numbers) if word.strip() else None


def _keep(path: Path, batch: list[tuple[int, bytes, bytes]], size: int, index: dict[str, int], tally: Tally) -> Array:
    """Parse a batch, add its words to the index, and return the rows that were kept."""
    rows = _numbers(b" ".join(numbers for _, _, numbers in batch), len(batch) * size)
    if rows is None:  # something is not a number: find the line
        one_by_one = [_numbers(numbers, size) for _, _, numbers in batch]
    else:
        one_by_one = list(rows.reshape(len(batch), size))
    kept = []
    for (number, raw, _), row in zip(batch, one_by_one, strict=True):
        try:
            word = raw.decode("utf-8")
        except UnicodeDecodeError:
            tally.drop("not_utf8", f"{path}:{number}")
            continue
        if row is None or not np.isfinite(row).all():
            tally.drop("bad_vector", f"{path}:{number}", word)
        elif word in index:
            tally.drop("duplicate_word", f"{path}:{number}", word)
        else:
            index[word] = len(index)
            kept.append(row)
    return np.array(kept, dtype=np.float32).reshape(len(kept), size)


def _numbers(text: bytes, count: int) -> Array | None:
    """Return exactly `count` numbers, or None. Arrow parses five times faster than numpy or `float`."""
    pa, csv = need("pyarrow", "parquet"), need("pyarrow.csv", "parquet")
    if not text:
        return np.zeros(0, dtype=np.float32) if count == 0 else None
    try:
        table = csv.read_csv(
            pa.py_buffer(text.replace(b" ", b"\n")),
            csv.ReadOptions(column_names=["number"], use_threads=False),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types={"number": pa.float32()}),
        )
    except pa.ArrowInvalid:
        return None
    values: Array = table.column(0).to_numpy()
    return values if len(values) == count else None


def _dimension(path: Path, head: Sequence[bytes]) -> tuple[int, int]:
    """Return the number of dimensions, and of header lines (0 or 1)."""
    if not head:
        raise DataError(f"{path}: empty; expected lines of a word and its numbers")
    first = head[0].split()
    if len(first) == 2 and all(field.isdigit() for field in first):
        return int(first[1]), 1
    fields = {number: line.split() for number, line in enumerate(head, 1) if line.strip()}
    if not any(_is_number(field) for line in fields.values() for field in line[1:]):
        raise DataError(f"{path}: not word vectors; expected lines of a word and its numbers")
    size = Counter(len(line) - 1 for line in fields.values()).most_common(1)[0][0]
    for number, line in fields.items():
        extra = line[1 : len(line) - size]
        if len(line) - 1 < size or (extra and all(_is_number(field) for field in extra)):
            problem = f"{len(line) - 1} numbers where other lines have {size}"
            raise DataError(f"{path}:{number}: {problem}; is this a file of word vectors?")
    return size, 0


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a plain or compressed file; a truncated file is an error."""
    try:
        with _open(path) as file:
            yield from file
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; give a GloVe or word2vec text file") from None
    except (EOFError, OSError, zlib.error) as bad:
        raise DataError(f"{path}: cannot be read to its end ({bad}); fetch it again") from None


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    if path.suffix == ".bz2":
        return bz2.open(path, "rb")
    return path.open("rb")


# ---------------------------------------------------------------- tensors

_DTYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64}


def read_tensor(path: Path, name: str) -> Array:
    """Return one tensor of a safetensors file, as 32-bit floats."""
    try:
        with Path(path).open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            start = file.tell()
            entry = header[name]
            dtype = np.dtype(_DTYPES[entry["dtype"]]).newbyteorder("<")
            low, high = entry["data_offsets"]
            if not 0 <= low <= high:
                raise ValueError("its place is outside of the file")
            file.seek(start + low)
            values = np.frombuffer(file.read(high - low), dtype=dtype).reshape(entry["shape"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as bad:
        raise DataError(f"{path}: no readable tensor {name!r} in it ({type(bad).__name__}: {bad})") from None
    return values.astype(np.float32)
