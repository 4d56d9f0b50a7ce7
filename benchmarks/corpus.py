"""The corpus engine against decompression alone, against a plain Python reader, at several sizes, and killed.

    python benchmarks/corpus.py                     # everything, on 2.5 M synthesized comments
    python benchmarks/corpus.py --parts ingest build --comments 1000000

Compare the rows of one run with each other only: what counts is the ratio.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SOURCE))

from deadpan.corpus.synthesize import synthesize  # noqa: E402

PARTS = ("ingest", "build", "peer", "curve", "kill")
CHILD = """
import json, resource, sys, time
from pathlib import Path
from deadpan.corpus.build import Build, BuildOptions
from deadpan.corpus.settings import Settings
began = time.perf_counter()
Build(Path(sys.argv[2]), Settings(), BuildOptions(memory=sys.argv[4])).run([sys.argv[1]], until=sys.argv[3])
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({
    "seconds": time.perf_counter() - began,
    "cpu": own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime,
    "mib": own.ru_maxrss / 1024,
}))
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


def build(dumps: Path, out: Path, until: str, memory: str) -> dict[str, float]:
    """One build in a process of its own, from nothing."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-c", CHILD, str(dumps), str(out), until, memory]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def decompress(dumps: Path) -> dict[str, float]:
    """zstd alone, one process, file after file."""
    began, cpu, mib = time.perf_counter(), 0.0, 0.0
    for path in sorted(dumps.glob("R*.zst")):
        command = ["zstd", "-dcq", "--long=31", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        cpu, mib = cpu + used.ru_utime + used.ru_stime, max(mib, used.ru_maxrss / 1024)
    return {"seconds": time.perf_counter() - began, "cpu": cpu, "mib": mib}


def against_decompression(dumps: Path, work: Path, until: str, memory: str, runs: int) -> tuple[float, float]:
    """The share of decompression's speed, the two taken in turns; medians, by the clock and by CPU time.

    On a machine that others use too the clock says little: a build wants all cores, zstd only one. By CPU
    time is what the clock would say if the cores were free and the build kept them busy.
    """
    cores = os.cpu_count() or 1
    clock, work_done = [], []
    decompress(dumps)
    for _ in range(runs):
        before = decompress(dumps)
        found = build(dumps, work / "out", until, memory)
        after = decompress(dumps)
        plain = {name: (before[name] + after[name]) / 2 for name in before}
        clock.append(plain["seconds"] / found["seconds"])
        work_done.append(plain["cpu"] / (found["cpu"] / cores))
        print(f"  zstd {plain['seconds']:6.2f} s ({plain['cpu']:5.2f} s of CPU, {plain['mib']:,.0f} MiB), "
              f"{until} {found['seconds']:6.2f} s ({found['cpu']:5.2f} s of CPU, {found['mib']:,.0f} MiB); "
              f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    return sorted(clock)[runs // 2], sorted(work_done)[runs // 2]


# ---------------------------------------------------------------- a plain reader

_MARK = re.compile(r"(?:^|[^A-Za-z0-9/<])/s\s*\Z")
_URL = re.compile(r"https?://|www\.|\]\(")
_SPACE = re.compile(r"\s+")


def read_plainly(path: str) -> tuple[int, int]:
    """The same filters with orjson, line by line; it need not even write what it found."""
    import orjson

    decoder = subprocess.Popen(["zstd", "-dcq", "--long=31", path], stdout=subprocess.PIPE)
    kept = marked = 0
    assert decoder.stdout
    for line in decoder.stdout:
        try:
            row = orjson.loads(line)
        except ValueError:
            continue
        body = row.get("body")
        if body is None:
            continue
        if "&" in body:
            body = body.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        mark = "/s" in body and _MARK.search(body) is not None
        text = _SPACE.sub(" ", _MARK.sub("", body) if mark else body).strip()
        gone = row["author"] in ("[deleted]", "[removed]") or body in ("[deleted]", "[removed]")
        moment = time.gmtime(int(row["created_utc"]))
        month = moment.tm_year * 100 + moment.tm_mon
        kept += bool(month and text and not gone and body.isascii() and not _URL.search(body))
        marked += mark
    decoder.wait()
    return kept, marked


def peer(dumps: Path) -> dict[str, float]:
    """The plain reader, as many processes as cores."""
    paths = [str(path) for path in sorted(dumps.glob("R*.zst"))]
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with multiprocessing.get_context("spawn").Pool(min(len(paths), os.cpu_count() or 1)) as pool:
        pool.map(read_plainly, paths, chunksize=1)
        pool.close()
        pool.join()
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return {"seconds": time.perf_counter() - began, "cpu": cpu}


# ---------------------------------------------------------------- sizes


def curve(work: Path, comments: int, memory: str) -> None:
    """Memory and time at 1x, 4x and 16x, and the exponent of time."""
    points = []
    for times in (1, 4, 16):
        dumps = work / f"dumps-{times}x"
        if not dumps.is_dir():
            synthesize(dumps, months=2, comments=comments * times)
        found = build(dumps, work / "out", "benchmark", memory)
        points.append((comments * times, found))
        print(f"  {comments * times:>11,} comments: {found['seconds']:7.1f} s, {found['cpu']:7.1f} s of CPU, "
              f"{found['mib']:6,.0f} MiB")  # fmt: skip
    for name in ("seconds", "cpu"):
        (small, one), (large, other) = points[1], points[2]
        exponent = math.log(other[name] / one[name]) / math.log(large / small)
        print(f"  {name} grow with comments to the power of {exponent:.2f} (4x to 16x)")


# ---------------------------------------------------------------- kill -9


def hashes(out: Path) -> dict[str, str]:
    from deadpan.storage import digest

    return {
        p.relative_to(out).as_posix(): digest(p)
        for p in sorted(out.rglob("*"))
        if p.is_file() and ".work" not in p.parts
    }


def kill(work: Path, times: int, memory: str) -> None:
    """Killed at random moments; each time the next run must end with the bytes of an unbroken one."""
    dumps = work / "dumps-kill"
    if not dumps.is_dir():
        synthesize(dumps, months=2, comments=200_000)
    seconds = build(dumps, work / "whole", "benchmark", memory)["seconds"]
    expected = hashes(work / "whole")
    listing = {p.relative_to(work / "whole").as_posix() for p in (work / "whole").rglob("*")}
    chance, steps = random.Random(0), list[str]()
    while len(steps) < times:
        shutil.rmtree(work / "killed", ignore_errors=True)
        command = [sys.executable, "-c", CHILD, str(dumps), str(work / "killed"), "benchmark", memory]
        run = subprocess.Popen(
            command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            run.wait(timeout=seconds * chance.uniform(0.1, 1.0))
            continue  # it was done before its time came
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            steps.append(where(work / "killed"))
        again = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        assert again.returncode == 0, again.stderr
        assert hashes(work / "killed") == expected, "other bytes than an unbroken run"
        found = {p.relative_to(work / "killed").as_posix() for p in (work / "killed").rglob("*")}
        assert found == listing, f"files left over or missing: {sorted(found ^ listing)[:5]}"
    print(
        f"  killed {times} times ({', '.join(f'{s} {steps.count(s)}' for s in sorted(set(steps)))}): same bytes, nothing left"
    )


def where(out: Path) -> str:
    """The step a run was in when it was killed, from what it left."""
    work = out / ".work"
    if (out / "raw").is_dir() and not (out / "manifest.json").is_file():
        return "rename"
    if (out / "manifest.json").is_file():
        return "after the manifest"
    for name, step in (
        (".fresh", "benchmark"),
        ("threads-*", "threads"),
        (".threads-*", "threads"),
        ("authors-*", "label"),
    ):
        if list(work.glob(name)):
            return step
    return "ingest"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--comments", type=int, default=2_500_000)
    parser.add_argument("--curve-comments", type=int, default=250_000, help="the size called 1x")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--work", type=Path, default=Path("benchmarks") / ".corpus")
    options: Any = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    dumps = options.work / f"dumps-{options.comments}"
    if {"ingest", "build", "peer"} & set(options.parts) and not dumps.is_dir():
        synthesize(dumps, months=2, comments=options.comments, level=9)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the start")
    for part in options.parts:
        print(part)
        if part in ("ingest", "build"):
            until = "ingest" if part == "ingest" else "benchmark"
            clock, cpu = against_decompression(dumps, options.work, until, options.memory, options.runs)
            wanted = "0.40" if part == "ingest" else "0.25"
            print(f"  {part}: {clock:.2f}x of zstd by the clock, {cpu:.2f}x by CPU time (wanted: {wanted})")
        elif part == "peer":
            plain, found = peer(dumps), build(dumps, options.work / "out", "ingest", options.memory)
            print(f"  orjson {plain['seconds']:.1f} s ({plain['cpu']:.1f} s of CPU), ingest {found['seconds']:.1f} s "
                  f"({found['cpu']:.1f} s of CPU): {plain['seconds'] / found['seconds']:.1f}x by the clock, "
                  f"{plain['cpu'] / found['cpu']:.1f}x by CPU time (wanted: 2)")  # fmt: skip
        elif part == "curve":
            curve(options.work, options.curve_comments, options.memory)
        else:
            kill(options.work, options.kills, options.memory)


if __name__ == "__main__":
    main()
