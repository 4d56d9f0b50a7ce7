"""Networks trained from scratch: the seven of iSarcasm's tables, one trainer for all of them.

`layers/` and `networks.py` import torch and are themselves imported only once `need("torch", "neural")`
has had its say; every other module here can be imported without it.
"""
