"""Saves under load against the bars: 5,000 saves of 50 annotators, p95 at 50 saves/s, on SQLite and PostgreSQL.

python benchmarks/studio.py [--quick]
python benchmarks/studio.py --scale [--quick] [--watched]: the bars of a large study, see studio_scale.py
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

# Not tests/ itself: this file would be taken for the folder of the same name there.
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "studio"))

from crowd import Server, crowd, lost_and_doubled, many, offered, percentile, postgres, prepare

BAR = 0.250


def measure(name: str, url: str, saves: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        server = Server(home, url)
        token = prepare(server, Path(folder) / "study")
        server.start()
        try:
            people = crowd(server, token, 50)
            began = time.monotonic()
            many(people, saves)
            rate = saves / (time.monotonic() - began)
            latencies = offered(people, rate=50.0, seconds=seconds)
            lost, doubled = lost_and_doubled(server, people, Path(folder) / "out")
        finally:
            server.kill()
    p50, p95 = percentile(latencies, 0.5), percentile(latencies, 0.95)
    print(f"{name}: {saves} saves of 50 annotators at {rate:.0f} saves/s; lost {lost}, doubled {doubled}")
    print(f"{name}: at 50 saves/s offered for {seconds:.0f} s: p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms")
    print(f"{name}: ratio of p95 to the bar of 250 ms: {p95 / BAR:.2f}")


def main() -> None:
    if "--scale" in sys.argv:
        import studio_scale

        studio_scale.main()
        return
    quick = "--quick" in sys.argv
    saves, seconds = (500, 5.0) if quick else (5000, 30.0)
    print(f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores (the bar is for two idle ones)")
    measure("SQLite", "", saves, seconds)
    with ExitStack() as stack:
        try:
            url = stack.enter_context(postgres())
        except (LookupError, PermissionError) as missing:
            print(f"PostgreSQL: not measured: {missing}")
            return
        measure("PostgreSQL", url, saves, seconds)


if __name__ == "__main__":
    main()
