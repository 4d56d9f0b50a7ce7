"""Networks trained from scratch: the seven of iSarcasm's tables, one trainer for all of them.

`networks.py`, `training.py` and `optimiser.py` import torch and are imported only after
`need("torch", "neural")`; every other module here can be imported without it.
"""
