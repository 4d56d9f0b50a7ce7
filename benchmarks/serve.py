"""The service against the same detector in process: texts a second in batches, and latency under load.

Prints throughput / in-process throughput (the bar is 0.8), then requests a second, p50 and p99 of single texts
from one keep-alive client and from sixteen, and the memory of the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from deadpan import Detector, read_dataset

BATCH, BATCHES, CLIENTS, SINGLE = 1000, 12, 3, 1600


def texts() -> list[str]:
    rows = [example.response.text for name in ("starter-en", "starter-ko") for example in read_dataset(name)]
    return [f"{rows[n % len(rows)]} {n}" for n in range(BATCH * BATCHES)]


def start() -> tuple[subprocess.Popen[str], str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src"), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "deadpan", "serve", "--port", "0", "--rate", "0", "--json"],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while lines[-1].strip() != "}":
        lines.append(process.stdout.readline())
    return process, json.loads("".join(lines))["url"]


def post(connection: HTTPConnection, body: bytes) -> None:
    connection.request("POST", "/v1/detect", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    told = answer.read()
    assert answer.status == 200, told[:200]


def share(url: str, bodies: list[bytes], clients: int) -> tuple[float, list[float]]:
    """Seconds for all bodies, sent by several clients at once, and the seconds of each request."""
    left, seconds, lock = list(bodies), [], threading.Lock()

    def work() -> None:
        connection = HTTPConnection(urlsplit(url).netloc)
        while True:
            with lock:
                if not left:
                    return
                body = left.pop()
            started = time.perf_counter()
            post(connection, body)
            with lock:
                seconds.append(time.perf_counter() - started)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started, seconds


def main() -> None:
    rows = texts()
    batches = [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
    detector = Detector.load("base")
    detector.predict_proba(batches[0])
    process, url = start()
    bodies = [json.dumps({"texts": batch, "model": "default"}).encode() for batch in batches]
    alone, served = [], []
    try:
        share(url, bodies[:2], 1)
        for _ in range(3):  # in turn, since other jobs share the machine
            started = time.perf_counter()
            for batch in batches:
                detector.predict_proba(batch)
            alone.append(len(rows) / (time.perf_counter() - started))
            served.append(len(rows) / share(url, bodies, CLIENTS)[0])
        one = [json.dumps({"text": row, "model": "default"}).encode() for row in rows[:SINGLE]]
        single = {clients: share(url, one, clients) for clients in (1, 16)}
        memory = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    finally:
        process.terminate()
        process.wait()
    ratio = float(np.median(np.array(served) / np.array(alone)))
    print(f"in process {max(alone):,.0f} texts/s, served {max(served):,.0f} texts/s: ratio {ratio:.2f} (bar 0.80)")
    for clients, (taken, seconds) in single.items():
        p50, p99 = (1000 * float(np.quantile(seconds, q)) for q in (0.5, 0.99))
        print(f"{clients} keep-alive: {SINGLE / taken:,.0f} requests/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    print(f"memory of the server: {memory / 1e6:,.0f} MB")
    sys.exit(ratio < 0.8)


if __name__ == "__main__":
    main()
