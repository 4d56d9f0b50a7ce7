"""Context and response as a pair of texts, in the encoder's own tokens, never longer than it can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

CHARACTERS_A_TOKEN = 30
"""Characters looked at for every token that may be kept: a text of a megabyte costs no more than a page."""


class EncodedPairs:
    """Token numbers of every pair; batches are padded to their longest row."""

    def __init__(self, tokenizer: Any, pairs: Sequence[tuple[str, str]], limit: int) -> None:
        self._pad = int(tokenizer.pad_token_id)
        self._left = tokenizer.padding_side == "left"
        self._rows = [_encode(tokenizer, context, response, limit) for context, response in pairs]
        self.lengths: NDArray[np.int64] = np.array([len(r["input_ids"]) for r in self._rows], dtype=np.int64)

    def batch(self, rows: Sequence[int]) -> Mapping[str, Tensor]:
        """Token numbers, mask, and segments for encoders that tell the two texts apart."""
        import torch

        chosen = [self._rows[row] for row in rows]
        width = max(len(row["input_ids"]) for row in chosen)
        given = {}
        for name in chosen[0]:
            fill = self._pad if name == "input_ids" else 0
            given[name] = torch.tensor([self._padded(row[name], width, fill) for row in chosen])
        return given

    def _padded(self, numbers: list[int], width: int, fill: int) -> list[int]:
        room = [fill] * (width - len(numbers))
        return [*room, *numbers] if self._left else [*numbers, *room]


def _encode(tokenizer: Any, context: str, response: str, limit: int) -> dict[str, list[int]]:
    """One pair; where it is too long the oldest context goes first, then the end of the response."""
    context = _sound(context[-limit * CHARACTERS_A_TOKEN :])
    response = _sound(response[: limit * CHARACTERS_A_TOKEN])
    encoded = _call(tokenizer, context, response)
    too_long = len(encoded["input_ids"]) - limit
    if too_long > 0:
        context = _without_first(tokenizer, context, too_long)
        encoded = _call(tokenizer, context, response)
        response = _without_last(tokenizer, response, len(encoded["input_ids"]) - limit)
        encoded = _call(tokenizer, context, response)
        # Cut words may fall into more pieces than before: what is still too much goes at the end.
        if len(encoded["input_ids"]) > limit:
            encoded = _call(tokenizer, context, response, truncation="longest_first", max_length=limit)
    return encoded


def _call(tokenizer: Any, context: str, response: str, **more: Any) -> dict[str, list[int]]:
    texts = (context, response) if context else (response,)
    found = tokenizer(*texts, verbose=False, **more)
    return {name: list(found[name]) for name in found}


def _without_first(tokenizer: Any, text: str, count: int) -> str:
    spans = _spans(tokenizer, text)
    return text[spans[count][0] :] if count < len(spans) else ""


def _without_last(tokenizer: Any, text: str, count: int) -> str:
    """The text less its last tokens, one of them always kept."""
    spans = _spans(tokenizer, text) if count > 0 else []
    return text[: spans[max(len(spans) - count, 1) - 1][1]] if spans else text


def _spans(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Where each token of a text begins and ends."""
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return list(found["offset_mapping"])


def _sound(text: str) -> str:
    """Half of a surrogate pair is legal in a Python string and in JSON, but no tokenizer takes it."""
    return text.encode("utf-8", "replace").decode("utf-8")
