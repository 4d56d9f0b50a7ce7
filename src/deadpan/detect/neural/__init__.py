"""Networks trained from scratch, the seven of iSarcasm's tables, and encoders that are trained further; one trainer.

`networks.py`, `training.py` and `optimiser.py` import torch and are imported only after
`need("torch", "neural")`; every other module here can be imported without it.
"""

from __future__ import annotations

from typing import Literal

StopOn = Literal["auto", "auc", "f1", "macro_f1", "balanced_accuracy", "pair_accuracy", "loss"]
"""Score of the held-out part. "auto" is pair accuracy where that part is all pairs, and otherwise AUC, which
is less noisy on a small part than scores that depend on a threshold. On a tie the smaller loss wins."""
Device = Literal["auto", "cpu", "cuda", "mps"]
Method = Literal["full", "lora"]
