"""The process of the embedded model: run as a script by `embedded`, with nothing of deadpan imported.

Its settings come as one line of JSON on standard input, its address goes out as one line. It ends when
standard input does, which the kernel sees to however the parent ends, kill -9 included.
"""

from __future__ import annotations

import json
import os
import sys


def serve() -> None:
    """Load the weights, answer on loopback, end with the parent."""
    order = json.loads(sys.stdin.buffer.readline())
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # llama.cpp may write to standard output, which is for the address alone
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["weights"]
    params.model_alias = {order["name"]}
    params.cpuparams.n_threads = order["threads"]
    params.cpuparams_batch.n_threads = order["threads"]
    params.n_ctx = order["context"]
    params.n_parallel = 1  # requests computed together change each other's last digits
    params.api_keys = [order["key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.warmup = False
    params.verbosity = 1
    server = xllamacpp.Server(params)
    answer.write(json.dumps({"url": f"{server.listening_address}/v1"}) + "\n")
    answer.close()
    while sys.stdin.buffer.read(4_096):
        pass
    os._exit(0)  # no farewell of the native threads: nobody is left to wait for it


if __name__ == "__main__":
    serve()
