"""The embedded model on SarcBench: seconds per item, with and without constrained answers.

Asks a random sample of a set, in whole pairs and in their order (twins share their beginning), constrained to
six letters: one token beyond the prompt. With `--free` also freely (`Final Answer: X`). Beside them, plain
decoding in the same session, as llama-bench measures it: a prompt that is evaluated once, then tokens one by
one. Rates are per second and per processor second of the server. The whole set is estimated twice: from the
seconds, which needs an idle machine, and from the processor seconds divided by the threads, which assumes one.
`--items 0` asks the whole set.

    python benchmarks/llm.py --items 40 --threads 2
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.sets import limited, open_set
from deadpan.bench.runs.settings import posed_items
from deadpan.llm import Client, LLMSettings, Reply, default_model, embedded_server
from deadpan.llm.embedded import idle_cores

BAR_MINUTES = 20


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Meter:
    """Counts tokens and time of calls."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def run(self, name: str, calls: Sequence[Callable[[], Reply]]) -> dict[str, float | str]:
        """Make the calls and return their rates."""
        wall, cpu = time.perf_counter(), processor_seconds(self.pid)
        usages = [reply.usage for call in calls if (reply := call()).usage is not None]
        wall, cpu = time.perf_counter() - wall, processor_seconds(self.pid) - cpu
        new = sum(usage.input_tokens - usage.cached_tokens for usage in usages)
        out = sum(usage.output_tokens for usage in usages)
        found: dict[str, float | str] = {
            "what": name,
            "calls": len(usages),
            "prompt tokens": sum(usage.input_tokens for usage in usages),
            "of them evaluated": new,
            "written": out,
            "seconds": round(wall, 1),
            "processor seconds": round(cpu, 1),
            "tokens per second": round((new + out) / wall, 1),
            "tokens per processor second": round((new + out) / cpu, 1),
        }
        print(json.dumps(found), flush=True)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default=DEFAULT_SET)
    parser.add_argument("--items", type=int, default=40, help="items of the sample, in whole pairs; 0: all")
    parser.add_argument("--model", default=default_model())
    parser.add_argument("--threads", type=int, default=0, help="0: one per idle core, as elsewhere")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--free", action="store_true", help="also without constraint, prompts cached")
    options = parser.parse_args()
    items = open_set(options.set).items
    everything = posed_items(items, 1, 0, shuffle=False)
    chosen = {item.id for item in limited(items, None, options.items or None, options.seed)}
    sample = [posed for posed in everything if posed.item.id in chosen]
    threads = options.threads or idle_cores()
    settings = LLMSettings(model=options.model, temperature=0, max_tokens=24, cache=False, timeout=900, threads=threads)
    server = embedded_server(settings.embedded, settings.threads)
    with Client(settings) as client:
        client.complete("Hello", max_tokens=1)
        meter = Meter(server.process.pid)
        story = "Write a long story about a train."
        client.complete(story, max_tokens=1)
        meter.run("plain decoding", [lambda: client.complete(story, max_tokens=48)])
        letters = [lambda p=p: client.complete(p.prompt, choices=tuple(LETTERS)) for p in sample]
        asked = meter.run("six letters, one token", letters)
        if options.free:
            meter.run("free answers, prompts cached", [lambda p=p: client.complete(p.prompt) for p in sample])
    scale = sum(len(p.prompt.encode()) for p in everything) / sum(len(p.prompt.encode()) for p in sample)
    found = {
        "set": options.set,
        "items": len(everything),
        "asked": len(sample),
        "threads": threads,
        "minutes for the whole set": round(float(asked["seconds"]) * scale / 60, 1),
        "by processor time": round(float(asked["processor seconds"]) * scale / threads / 60, 1),
        "bar": BAR_MINUTES,
        "load": os.getloadavg()[0],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
