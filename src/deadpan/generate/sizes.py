"""Sizes of models: a small one needs a lower temperature, shorter questions and several candidates."""

from __future__ import annotations

import re
from typing import Literal

Size = Literal["small", "large"]

SMALL = 14.0
"""Billions of parameters up to which a model counts as small."""
_PARAMETERS = re.compile(r"(?<![\w.])(?:\d+x)?(\d+(?:\.\d+)?)([bm])(?![a-z])", re.IGNORECASE)


def model_size(model: str) -> Size:
    """Return the size of a model by the parameters in its name (`llama3.2:3b`); large where it has none."""
    found = _PARAMETERS.findall(model)
    if not found:
        return "large"
    number, unit = found[-1]
    billions = float(number) / (1 if unit in "bB" else 1000)
    return "small" if billions <= SMALL else "large"
