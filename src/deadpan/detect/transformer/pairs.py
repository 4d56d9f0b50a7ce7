"""Context and response as a pair of texts in the encoder's tokens, truncated to its limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

CHARACTERS_A_TOKEN = 30
"""Characters read per token that may be kept, so that a text of a megabyte costs no more than a page."""


class EncodedPairs:
    """Token ids of every pair; batches are padded to their longest row."""

    def __init__(self, tokenizer: Any, pairs: Sequence[tuple[str, str]], limit: int) -> None:
        self._pad = int(tokenizer.pad_token_id)
        self._left = tokenizer.padding_side == "left"
        self.rows = [_encode(tokenizer, context, response, limit) for context, response in pairs]
        self.lengths: NDArray[np.int64] = np.array([len(r["input_ids"]) for r in self.rows], dtype=np.int64)

    def batch(self, rows: Sequence[int]) -> Mapping[str, Tensor]:
        """Return token ids, mask, and segments for encoders that distinguish the two texts."""
        import torch

        chosen = [self.rows[row] for row in rows]
        width = max(len(row["input_ids"]) for row in chosen)
        inputs = {}
        for name in chosen[0]:
            fill = self._pad if name == "input_ids" else 0
            inputs[name] = torch.tensor([self._padded(row[name], width, fill) for row in chosen])
        return inputs

    def _padded(self, numbers: list[int], width: int, fill: int) -> list[int]:
        room = [fill] * (width - len(numbers))
        return [*room, *numbers] if self._left else [*numbers, *room]


def _encode(tokenizer: Any, context: str, response: str, limit: int) -> dict[str, list[int]]:
    """Encode one pair; if it is too long the oldest context is cut first, then the end of the response."""
    context = _without_surrogates(context[-limit * CHARACTERS_A_TOKEN :])
    response = _without_surrogates(response[: limit * CHARACTERS_A_TOKEN])
    encoded = _call(tokenizer, context, response)
    too_long = len(encoded["input_ids"]) - limit
    if too_long > 0:
        context = _without_first(tokenizer, context, too_long)
        encoded = _call(tokenizer, context, response)
        response = _without_last(tokenizer, response, len(encoded["input_ids"]) - limit)
        encoded = _call(tokenizer, context, response)
        # Cut words may have more pieces than before: truncate what is still too long.
        if len(encoded["input_ids"]) > limit:
            encoded = _call(tokenizer, context, response, truncation="longest_first", max_length=limit)
    return encoded


def _call(tokenizer: Any, context: str, response: str, **more: Any) -> dict[str, list[int]]:
    texts = (context, response) if context else (response,)
    encoded = tokenizer(*texts, verbose=False, **more)
    return {name: list(encoded[name]) for name in encoded}


def _without_first(tokenizer: Any, text: str, count: int) -> str:
    spans = _spans(tokenizer, text)
    return text[spans[count][0] :] if count < len(spans) else ""


def _without_last(tokenizer: Any, text: str, count: int) -> str:
    """Return the text without its last tokens; one is always kept."""
    spans = _spans(tokenizer, text) if count > 0 else []
    return text[: spans[max(len(spans) - count, 1) - 1][1]] if spans else text


def _spans(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return the start and end of each token of a text."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return list(encoded["offset_mapping"])


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates: legal in a Python string and in JSON, but refused by tokenizers."""
    return text.encode("utf-8", "replace").decode("utf-8")
