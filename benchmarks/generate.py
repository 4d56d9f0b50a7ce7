"""A whole run against a server without latency, next to the bare openai SDK making the same calls.

Prints calls a second of both and their ratio (at least 0.7), and the peak memory of runs of growing size.
Both take turns, several times, so that a busy machine slows them alike.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from dialogue_server import sources  # noqa: E402

DIALOGUES, ROUNDS, CONCURRENCY = 300, 5, 8
SIZES = (500, 1_500, 4_500)
LEAST_RATIO = 0.7
MOST_GROWTH = 1.25


@contextmanager
def server() -> Iterator[str]:
    """The writing server in a process of its own."""
    script = ROOT / "tests" / "dialogue_server.py"
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


def write_plan(folder: Path, url: str, count: int) -> Path:
    (folder / "sources.jsonl").write_text(sources(count), encoding="utf-8")
    path = folder / "plan.toml"
    path.write_text(
        f'language = "en"\nout = "run"\n[source]\npath = "sources.jsonl"\n[model]\nmodel = "writer-1"\n'
        f'base_url = "{url}"\nkey_env = ""\nprice = [1.0, 2.0]\nconcurrency = {CONCURRENCY}\n',
        encoding="utf-8",
    )
    return path


def run_pipeline(plan_path: Path) -> tuple[int, float, float]:
    """Calls, seconds and CPU seconds of a run from nothing; the answers' cache starts empty too."""
    from deadpan.generate.plan import read_plan
    from deadpan.generate.session import open_run

    plan = read_plan(plan_path)
    for folder in (plan.out, Path(os.environ["DEADPAN_CACHE"])):
        shutil.rmtree(folder, ignore_errors=True)
    began, cpu = time.perf_counter(), time.process_time()
    with open_run(plan) as pipeline:
        pipeline.run_all()
        calls = pipeline.ledger.calls
    return calls, time.perf_counter() - began, time.process_time() - cpu


def requests_of(plan_path: Path) -> list[dict[str, Any]]:
    """The very calls the run made, for the bare SDK."""
    from deadpan.generate.abnormal import abnormal_messages
    from deadpan.generate.dialogue import dialogue_messages
    from deadpan.generate.folder import RunFolder
    from deadpan.generate.plan import read_plan
    from deadpan.generate.situation import situation_messages

    plan = read_plan(plan_path)
    run, language = RunFolder(plan.out), plan.open_language()
    asked = []
    for step, before, ask in (
        ("situation", "source", situation_messages),
        ("dialogue", "politeness", dialogue_messages),
        ("abnormal", "filter", abnormal_messages),
    ):
        sampling = plan.settings(step).sampling()
        asked += [{"messages": ask(language, draft), **sampling} for draft in run.drafts(before)]
    return asked


def run_bare(url: str, requests: list[dict[str, Any]]) -> tuple[int, float, float]:
    """The same calls with the SDK alone, as many at a time."""
    from openai import AsyncOpenAI

    async def all_of_them() -> None:
        waiting = iter(requests)

        async def work(client: AsyncOpenAI) -> None:
            for request in waiting:
                await client.chat.completions.create(model="writer-1", **request)

        bare = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        async with bare as client, asyncio.TaskGroup() as group:
            for _ in range(CONCURRENCY):
                group.create_task(work(client))

    began, cpu = time.perf_counter(), time.process_time()
    asyncio.run(all_of_them())
    return len(requests), time.perf_counter() - began, time.process_time() - cpu


def throughput(folder: Path, url: str) -> float:
    plan = write_plan(folder, url, DIALOGUES)
    run_pipeline(plan)  # imports and connections, not counted
    requests = requests_of(plan)
    run_bare(url, requests[:50])
    ratios, cpus = [], []
    for number in range(ROUNDS):
        calls, seconds, cpu = run_pipeline(plan)
        made, bare_seconds, bare_cpu = run_bare(url, requests)
        ratios.append((calls / seconds) / (made / bare_seconds))
        cpus.append((bare_cpu / made) / (cpu / calls))
        print(
            f"round {number + 1}: run {calls / seconds:6.0f} calls/s ({1000 * cpu / calls:.2f} ms CPU a call), "
            f"bare SDK {made / bare_seconds:6.0f} calls/s ({1000 * bare_cpu / made:.2f} ms), ratio {ratios[-1]:.2f}"
        )
    print(
        f"throughput: {median(ratios):.2f} of the bare SDK (median of {ROUNDS}; by CPU time {median(cpus):.2f})"
    )
    return median(ratios)


def memory(folder: Path, url: str) -> float:
    """Peak memory of a run, each in a process of its own; the growth from the smallest to the largest."""
    peaks = {}
    for size in SIZES:
        plan = write_plan(folder, url, size)
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(plan)], capture_output=True, text=True, check=True
        )
        peaks[size] = int(done.stdout)
        print(f"{size:,} dialogues: {peaks[size] / 1024:.0f} MB at most")
    growth = peaks[SIZES[-1]] / peaks[SIZES[0]]
    print(f"memory: {growth:.2f} times for {SIZES[-1] / SIZES[0]:.0f} times the dialogues")
    return growth


def main() -> None:
    with tempfile.TemporaryDirectory() as name, server() as url:
        folder = Path(name)
        os.environ["DEADPAN_CACHE"] = str(folder / "cache")
        ratio = throughput(folder, url)
        growth = memory(folder, url)
    if ratio < LEAST_RATIO or growth > MOST_GROWTH:
        sys.exit(f"below the bar: {ratio:.2f} (least {LEAST_RATIO}), {growth:.2f} (most {MOST_GROWTH})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_pipeline(Path(sys.argv[2]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    else:
        main()
