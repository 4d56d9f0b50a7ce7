"""The server process of the embedded model, run as a script by `embedded`; it imports nothing of deadpan.

It reads its settings as one line of JSON from standard input and prints its address as one line. It ends when
standard input closes, which the kernel does however the parent ends, kill -9 included.
"""

from __future__ import annotations

import json
import os
import signal
import sys

_LOOPBACK = "127.0.0.1"
_IF_KNOWN = {
    "hostname": _LOOPBACK,
    "hostnames": [_LOOPBACK],
    "webui": False,
    "ui": False,
    "fit_params": False,
    "cache_ram_mib": 256,  # for evaluated prompts; by default it grows to 8 GB in a long run
}
"""Settings that some versions of xllamacpp lack or call by another name."""


def serve() -> None:
    """Load the weights, serve on loopback, end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which may continue
    order = json.loads(sys.stdin.buffer.readline())
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # llama.cpp may write to standard output, which is only for the address
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["weights"]
    params.model_alias = {order["name"]}
    params.cpuparams.n_threads = order["threads"]
    params.cpuparams_batch.n_threads = order["threads"]
    params.n_ctx = order["context"]
    params.n_parallel = 1  # requests computed together change each other's last digits
    params.api_keys = [order["key"]]
    params.port = 0
    params.warmup = False
    params.verbosity = 1
    for name, value in _IF_KNOWN.items():
        if hasattr(params, name):
            setattr(params, name, value)
    server = xllamacpp.Server(params)
    answer.write(json.dumps({"url": f"{server.listening_address}/v1"}) + "\n")
    answer.close()
    while sys.stdin.buffer.read(4_096):
        pass
    os._exit(0)  # without joining native threads, which may take seconds


if __name__ == "__main__":
    serve()
