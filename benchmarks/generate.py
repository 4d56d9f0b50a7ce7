"""A whole run against a server without latency, beside the bare openai SDK making the same calls.

Prints calls per second of both and their ratio (at least 0.7), and the peak memory of runs of growing size.
Both take turns, several times, so that a busy machine slows them alike.
"""

from __future__ import annotations

import asyncio
import os
import resource
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
    """Run the dialogue server in a process of its own."""
    script = ROOT / "tests" / "dialogue_server.py"
    process = subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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


def run_pipeline(plan_path: Path) -> tuple[Path, int, float, float]:
    """Return the folder, calls, seconds and CPU seconds of a run with an empty cache of answers.

    Every run has a new folder beside the plan, for its cache too: nothing is removed here.
    """
    from deadpan.generate.generation import open_run
    from deadpan.generate.plan import open_plan

    fresh = Path(tempfile.mkdtemp(dir=plan_path.parent))
    os.environ["DEADPAN_CACHE"] = str(fresh / "cache")
    plan = open_plan(plan_path, fresh / "run")
    began, cpu = time.perf_counter(), time.process_time()
    with open_run(plan) as pipeline:
        pipeline.run_all()
        calls = len(pipeline.journal)
    return plan.out, calls, time.perf_counter() - began, time.process_time() - cpu


def requests_of(plan_path: Path, out: Path) -> list[dict[str, Any]]:
    """Return the requests a run made, for the bare SDK."""
    from deadpan.generate.folder import GenerationFolder
    from deadpan.generate.plan import open_plan, step_before
    from deadpan.generate.questions import ASKED_STEPS

    plan = open_plan(plan_path, out)
    run, language = GenerationFolder(plan.out), plan.open_language()
    requests = []
    for step in plan.asking:
        sampling = plan.settings(step).sampling()
        drafts = run.drafts(step_before(step))
        requests += [{"messages": ASKED_STEPS[step].messages(language, draft), **sampling} for draft in drafts]
    return requests


def run_bare(url: str, requests: list[dict[str, Any]]) -> tuple[int, float, float]:
    """Make the same calls with the SDK alone, as many at a time."""
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
    out, *_ = run_pipeline(plan)  # imports and connections, not counted
    requests = requests_of(plan, out)
    run_bare(url, requests[:50])
    ratios, cpus = [], []
    for number in range(ROUNDS):
        _, calls, seconds, cpu = run_pipeline(plan)
        made, bare_seconds, bare_cpu = run_bare(url, requests)
        ratios.append((calls / seconds) / (made / bare_seconds))
        cpus.append((bare_cpu / made) / (cpu / calls))
        print(
            f"round {number + 1}: run {calls / seconds:6.0f} calls/s ({1000 * cpu / calls:.2f} ms CPU per call), "
            f"bare SDK {made / bare_seconds:6.0f} calls/s ({1000 * bare_cpu / made:.2f} ms), ratio {ratios[-1]:.2f}"
        )
    print(f"throughput: {median(ratios):.2f} of the bare SDK (median of {ROUNDS}; by CPU time {median(cpus):.2f})")
    return median(ratios)


def memory(folder: Path, url: str) -> float:
    """Measure the peak memory of runs in their own processes; return the growth from the smallest to the largest."""
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
