"""The embedded model on SarcBench: seconds per item, with and without constrained answers.

Asks a sample of the public set twice: constrained to six letters (one token beyond the prompt), and freely
(`Final Answer: X`). Beside them, plain decoding in the same session, as llama-bench measures it: a prompt that
is evaluated once, then tokens one by one. Rates are per processor second of the server as well as per second,
because the machine may be shared; the estimate for the whole set uses processor time and divides it by the
cores, which assumes that both are idle.

    python benchmarks/llm.py --items 6
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.asking import PosedItem, posed_items
from deadpan.llm import Client, LLMSettings, Reply, default_model, embedded_server

CORES = 2
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
            "tokens per processor second": round((new + out) / cpu, 1),
        }
        print(json.dumps(found), flush=True)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=6, help="items of the sample, one in six of them Korean")
    parser.add_argument("--model", default=default_model())
    options = parser.parse_args()
    everything = posed_items(open_set("public").items, 1, 0, shuffle=False)
    sample = spread(everything, options.items)
    settings = LLMSettings(model=options.model, temperature=0, max_tokens=24, cache=False, timeout=900)
    server = embedded_server(settings.embedded, settings.threads)
    with Client(settings) as client:
        client.complete("Hello", max_tokens=1)
        meter = Meter(server.process.pid)
        story = "Write a long story about a train."
        client.complete(story, max_tokens=1)
        meter.run("plain decoding", [lambda: client.complete(story, max_tokens=48)])
        free = [lambda p=p: client.complete(p.prompt) for p in sample]
        letters = [lambda p=p: client.complete(p.prompt, choices=tuple(LETTERS)) for p in sample]
        constrained = meter.run("six letters, one token", letters)
        meter.run("the same again, prompts cached", letters)
        meter.run("free answers, prompts cached", free)
    scale = sum(len(p.prompt.encode()) for p in everything) / sum(len(p.prompt.encode()) for p in sample)
    minutes = float(constrained["processor seconds"]) * scale / CORES / 60
    print(
        json.dumps(
            {
                "whole set": len(everything),
                "minutes on two idle cores": round(minutes, 1),
                "bar": BAR_MINUTES,
                "load": os.getloadavg()[0],
            }
        )
    )


def spread(posed: Sequence[PosedItem], count: int) -> list[PosedItem]:
    """Return items spread evenly over the set, so that languages keep their shares."""
    step = len(posed) / count
    return [posed[int(place * step + step / 2)] for place in range(count)]


if __name__ == "__main__":
    main()
