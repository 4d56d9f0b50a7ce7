"""The corpus engine compared with decompression alone, at several sizes, and without each of its tricks.

    python benchmarks/corpus.py                                # speed and sizes, 2.5 million comments
    python benchmarks/corpus.py --comments 400000 --runs 3     # the same, smaller
    python benchmarks/corpus.py --parts tricks --runs 3        # what each trick saves
    python benchmarks/corpus.py --parts driver                 # memory of the driver of a Spark cluster
    python benchmarks/corpus.py --parts steps peer             # bytes per core second; a plain Python script

Only compare numbers of the same run: the ratio is what counts. Dumps are synthetic, and made when missing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SOURCE))

from deadpan.corpus.settings import BUILD_STEPS  # noqa: E402
from deadpan.corpus.synthesize import synthesize_dumps  # noqa: E402

PARTS = ("speed", "curve", "steps", "tricks", "peer", "driver")
CHILD = """
import json, resource, sys, time
exec(sys.argv[6])
from deadpan.corpus import build_until
began = time.perf_counter()
build_until(sys.argv[3], sys.argv[1], sys.argv[2], memory=sys.argv[4], workers=int(sys.argv[5]))
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({
    "seconds": time.perf_counter() - began,
    "cpu": own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime,
    "mib": own.ru_maxrss / 1024,
}))
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


def build(
    dumps: Path, out: Path, until: str, memory: str, workers: int = 0, change: str = "", fresh: bool = True
) -> dict[str, float]:
    """Run one build in its own process: from scratch, or from the steps that are done."""
    if fresh:
        shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-c", CHILD, str(dumps), str(out), until, memory, str(workers), change]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def decompress(dumps: Path) -> dict[str, float]:
    """Run zstd alone, in one process, file after file."""
    began, cpu, mib = time.perf_counter(), 0.0, 0.0
    for path in sorted(dumps.glob("R*.zst")):
        command = ["zstd", "-dcq", "--long=31", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        cpu, mib = cpu + used.ru_utime + used.ru_stime, max(mib, used.ru_maxrss / 1024)
    return {"seconds": time.perf_counter() - began, "cpu": cpu, "mib": mib}


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


RATIOS = {"ingest": "ingest against zstd", "build": "whole build against zstd",
          "one": "two ingest workers against one, one thread each"}  # fmt: skip
ONE_THREAD = "import deadpan.corpus.engines.duckdb as duck; duck.cores_here = lambda: 1"
"""One worker alone uses all cores, so only then do two workers have twice the cores of one."""


def speed(dumps: Path, work: Path, memory: str, runs: int) -> dict[str, float]:
    """Print the three ratios of speed, measured in turns, medians by the clock and by processor time.

    The ratio by processor time is the processor seconds of zstd over those of the build, decoder included,
    not divided by the number of cores. On a busy machine the clock says little.
    """
    rounds = []
    decompress(dumps)
    for number in range(runs):
        found = {
            "zstd": decompress(dumps),
            "ingest": build(dumps, work / "out", "ingest", memory),
            "one": build(dumps, work / "out", "ingest", memory, workers=1, change=ONE_THREAD),
            "two": build(dumps, work / "out", "ingest", memory, workers=2, change=ONE_THREAD),
            "build": build(dumps, work / "out", "benchmark", memory),
            "again": decompress(dumps),
        }
        rounds.append(found)
        shown = "; ".join(
            f"{name} {one['seconds']:.2f} s ({one['cpu']:.2f} s of CPU, {one['mib']:,.0f} MiB)"
            for name, one in found.items()
        )
        print(f"  round {number + 1}, load {os.getloadavg()[0]:.1f}: {shown}", flush=True)

    def ratios(name: str, unit: str) -> list[float]:
        if name == "one":
            return [one["one"][unit] / one["two"][unit] for one in rounds]
        return [(one["zstd"][unit] + one["again"][unit]) / 2 / one[name][unit] for one in rounds]

    for name, what in RATIOS.items():
        clock, cpu = (ratios(name, unit) for unit in ("seconds", "cpu"))
        print(f"  {what}: {median(clock):.2f} by the clock [{min(clock):.2f}, {max(clock):.2f}], "
              f"{median(cpu):.2f} by CPU time")  # fmt: skip
    return {unit: median([one["build"][unit] for one in rounds]) for unit in ("seconds", "cpu", "mib")}


# ---------------------------------------------------------------- steps and tricks


def raw_sizes(dumps: Path) -> list[int]:
    """Return the decompressed size of each dump."""
    sizes = []
    for path in sorted(dumps.glob("R*.zst")):
        process = subprocess.Popen(["zstd", "-dcq", "--long=31", str(path)], stdout=subprocess.PIPE)
        assert process.stdout
        sizes.append(0)
        while block := process.stdout.read(1 << 20):
            sizes[-1] += len(block)
        process.wait()
    return sizes


def steps(dumps: Path, work: Path, memory: str) -> None:
    """Print the processor seconds of each step, and the raw bytes of dumps per core second."""
    size = sum(raw_sizes(dumps))
    shutil.rmtree(work / "out", ignore_errors=True)
    idle = 0.0
    for step in BUILD_STEPS:
        cpu = build(dumps, work / "out", step, memory, fresh=False)["cpu"]
        own = cpu - idle
        # The start of a process and the look at finished steps, which the next step pays again.
        idle = build(dumps, work / "out", step, memory, fresh=False)["cpu"] if step != BUILD_STEPS[-1] else 0.0
        print(f"  {step:10} {own:7.1f} s of CPU: {size / own / 1e6:7.1f} MB of raw dumps per core second")
    print(f"  raw dumps: {size / 1e6:,.0f} MB")


PLAIN_OPTIONS = (
    "import deadpan.corpus.engines.duckdb as sql; sql.PARQUET_OPTIONS = sql.PARQUET_OPTIONS.replace({!r}, {!r})"
)
TRICKS = {
    "tests before regular expressions": """
import deadpan.corpus.rules as rules
from deadpan.corpus.engines.duckdb import literal
rules._spaced = lambda c: f"regexp_replace({c}, {literal(rules.NOT_PLAIN)}, ' ', 'g')"
rules._trimmed = lambda t: f"trim({t})"
rules.unescaped = lambda c: f"replace(replace(replace({c}, '&lt;', '<'), '&gt;', '>'), '&amp;', '&')"
""",
    "small limit for dictionaries": PLAIN_OPTIONS.format(", DICTIONARY_SIZE_LIMIT 1000", ""),
    "working tables without compression": PLAIN_OPTIONS.format("uncompressed", "snappy"),
    "allocator that keeps its memory": "import os; os.environ['DUCKDB_JE_MALLOC_CONF'] = ''",
    "jobs run two at once": "import deadpan.corpus.engines.duckdb as d; d.DuckDBEngine.share = (lambda whole: lambda engine, jobs, *, extra=0, at_once=0: whole(engine, jobs if extra else 1, extra=extra, at_once=at_once))(d.DuckDBEngine.share)",
}


def tricks(dumps: Path, work: Path, memory: str, runs: int, until: str) -> None:
    """Print what a build takes without each trick, over one with all of them, measured in random order."""
    clock: dict[str, list[float]] = {name: [] for name in TRICKS}
    cpu: dict[str, list[float]] = {name: [] for name in TRICKS}
    for _ in range(runs):
        changes = {"": "", **TRICKS}
        order = random.sample(list(changes), len(changes))
        found = {name: build(dumps, work / "out", until, memory, change=changes[name]) for name in order}
        for name in TRICKS:
            clock[name].append(found[name]["seconds"] / found[""]["seconds"] - 1)
            cpu[name].append(found[name]["cpu"] / found[""]["cpu"] - 1)
    for name in TRICKS:
        gain = max(median(clock[name]), median(cpu[name]))
        print(f"  {name}: without it {median(cpu[name]):+.1%} of CPU, {median(clock[name]):+.1%} by the clock: "
              f"{'keep' if gain >= 0.05 else 'REMOVE (below 5 %)'}", flush=True)  # fmt: skip


# ---------------------------------------------------------------- a plain script

PEER = r"""
import csv, io, re, sys, time
from pathlib import Path
import orjson, zstandard
mark = re.compile(r"(?:(?:^|(?<=[^A-Za-z0-9/<]))[\^\\\s]*/s)+\s*\Z")
url, space = re.compile(r"https?://|www\.|\]\("), re.compile(r"\s+")
aware, below, kept, sarcastic = set(), set(), 0, 0
with open(sys.argv[2], "w", newline="") as file:
    out = csv.writer(file)
    for path in sorted(Path(sys.argv[1]).glob("RC_*.zst")):
        month = {}
        with path.open("rb") as packed:
            stream = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed)
            for line in io.BufferedReader(stream, 1 << 20):
                try: row = orjson.loads(line)
                except ValueError: continue
                body = row["body"].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
                said = mark.search(body) if "/s" in body else None
                text = space.sub(" ", body[:said.start()] if said else body).strip()
                if said: aware.add(row["author"])
                if row["parent_id"][3:] in below or said: below.add(row["id"])
                gone = "[deleted]" in (row["author"], body) or body == "[removed]" or url.search(body)
                if not gone and text and body.isascii() and row["parent_id"][3:] not in below:
                    date = time.strftime("%Y-%m", time.gmtime(int(row["created_utc"])))
                    month[row["id"]] = (int(bool(said)), text, row["author"], row["subreddit"], row["score"], date)
        rows = [(id, *row) for id, row in month.items() if row[2] in aware]
        out.writerows(rows)
        kept, sarcastic = kept + len(rows), sarcastic + sum(row[1] for row in rows)
print(kept, sarcastic)
"""
"""What a person would write instead: the rules for comments without conversations and benchmarks, in one process."""


def script(dumps: Path, work: Path) -> dict[str, float]:
    """Run the plain script; also return how many comments it keeps, and how many of them are sarcastic."""
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", PEER, str(dumps), str(work / "peer.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    kept, sarcastic = map(int, done.stdout.split())
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return {"seconds": time.perf_counter() - began, "cpu": cpu, "comments": kept, "sarcastic": sarcastic}


def peer(dumps: Path, work: Path, memory: str, runs: int) -> None:
    """Print the processor time of `ingest` and of a whole build over that of the plain script, in turns."""
    ratios: dict[str, list[float]] = {"ingest": [], "benchmark": []}
    for number in range(runs):
        plain = script(dumps, work)
        found = {step: build(dumps, work / "out", step, memory) for step in ratios}
        for step, one in found.items():
            ratios[step].append(one["cpu"] / plain["cpu"])
        shown = ", ".join(f"{step} {one['cpu']:.2f} s" for step, one in found.items())
        print(f"  round {number + 1}: script {plain['cpu']:.2f} s of CPU, {shown}", flush=True)
        counts = json.loads((work / "out" / "manifest.json").read_text())["counts"]
        assert all(counts[name] == plain[name] for name in ("comments", "sarcastic")), (counts, plain)
    for step, what in (("ingest", "ingest"), ("benchmark", "whole build")):
        values = ratios[step]
        print(f"  {what} over the script, by CPU time: {median(values):.2f} [{min(values):.2f}, {max(values):.2f}]")
    print(f"  both keep {plain['comments']:,.0f} comments, {plain['sarcastic']:,.0f} of them sarcastic")


# ---------------------------------------------------------------- sizes


def synthetic(work: Path, comments: int) -> Path:
    dumps = work / f"dumps-{comments}"
    if not dumps.is_dir():
        made = dumps.with_name(f".{dumps.name}")
        shutil.rmtree(made, ignore_errors=True)
        synthesize_dumps(made, months=2, comments=comments, level=9)
        made.rename(dumps)
    return dumps


def windows(dumps: Path) -> float:
    """Return the MiB of the windows of two decoders at once: as large as the dumps, and 2 GiB at most."""
    return sum(sorted(min(size, 1 << 31) for size in raw_sizes(dumps))[-2:]) / 2**20


def curve(work: Path, comments: int, memory: str, largest: dict[str, float] | None) -> None:
    """Print time and memory at 1x, 4x and 16x; `comments` is 16x, which `speed` may have measured."""
    points = []
    for share in (16, 4, 1):
        measured = largest if share == 1 else None
        measured = measured or build(synthetic(work, comments // share), work / "out", "benchmark", memory)
        window = windows(synthetic(work, comments // share))
        measured = {**measured, "rest": measured["mib"] - window}
        points.append((comments // share, measured))
        print(f"  {comments // share:>11,} comments: {measured['seconds']:7.1f} s, {measured['cpu']:7.1f} s of CPU, "
              f"{measured['mib']:6,.0f} MiB, of which windows {window:,.0f}, the rest {measured['rest']:,.0f}",
              flush=True)  # fmt: skip
    for name in ("seconds", "cpu", "rest"):
        (small, one), (large, other) = points[1], points[2]
        exponent = math.log(other[name] / one[name]) / math.log(large / small)
        print(f"  {name}: grows with comments to the power of {exponent:.2f} (4x to 16x)")


# ---------------------------------------------------------------- the driver of a cluster

DRIVER = """
import json, re, sys
from pathlib import Path
from deadpan.corpus import build_corpus
from deadpan.corpus.engines.spark import SparkEngine

def peak(pid):
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024

found, rows = {}, [0]
close, collect = SparkEngine.close, SparkEngine.collect

def counted(engine, frame):
    table = collect(engine, frame)
    rows.append(len(table))
    return table

def closing(engine):
    context = engine.session.sparkContext
    beans = context._jvm.java.lang.management.ManagementFactory
    context._jvm.java.lang.System.gc()
    heap = beans.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 2**20
    found.update(heap=heap, java=peak(context._gateway.proc.pid), python=peak("self"), rows=max(rows))
    close(engine)

SparkEngine.close, SparkEngine.collect = closing, counted
build_corpus(sys.argv[1], sys.argv[2], memory="600MB", engine="spark", spark_master=sys.argv[3])
print(json.dumps(found))
"""


def driver(work: Path, comments: int) -> None:
    """Print the memory of the driver of a standalone cluster at 1x, 4x and 16x; its heap may grow to 1 GiB."""
    sys.path.insert(0, str(SOURCE.parent / "tests"))
    from contracts.spark_cluster import cluster, quick_java

    os.environ.update(quick_java(work / "conf"))
    for times in (1, 4, 16):
        dumps, out = synthetic(work, comments * times), work / "driver"
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(work / "cluster", ignore_errors=True)
        with cluster(work / "cluster", workers=2) as made:
            command = [sys.executable, "-c", DRIVER, str(dumps), str(out), made.url]
            done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        one = json.loads(done.stdout.splitlines()[-1])
        print(f"  {comments * times:>9,} comments: heap in use at the end {one['heap']:,.0f} MiB, peak of Java "
              f"{one['java']:,.0f} MiB, of Python {one['python']:,.0f} MiB; largest table collected {one['rows']} rows",
              flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["speed", "curve"])
    parser.add_argument("--comments", type=int, default=2_500_000, help="comments of the dumps, and of 16x")
    parser.add_argument("--driver-comments", type=int, default=5_000, help="comments at 1x, for the driver")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--until", choices=BUILD_STEPS, default=BUILD_STEPS[-1], help="last step, for the tricks")
    parser.add_argument("--work", type=Path, default=Path("benchmarks") / ".corpus")
    options: Any = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    (options.work / ".gitignore").write_text("*\n")
    whole = None
    for part in PARTS:
        if part not in options.parts:
            continue
        if part == "driver":
            print(f"driver, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
            driver(options.work, options.driver_comments)
            continue
        dumps = synthetic(options.work, options.comments)
        print(
            f"{part}, {options.comments:,} comments, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
            flush=True,
        )
        if part == "speed":
            whole = speed(dumps, options.work, options.memory, options.runs)
        elif part == "curve":
            curve(options.work, options.comments, options.memory, whole)
        elif part == "steps":
            steps(dumps, options.work, options.memory)
        elif part == "tricks":
            tricks(dumps, options.work, options.memory, options.runs, options.until)
        else:
            peer(dumps, options.work, options.memory, options.runs)


if __name__ == "__main__":
    main()
