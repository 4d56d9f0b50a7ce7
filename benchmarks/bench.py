"""Overhead per request of `deadpan bench run`, plain Inspect and a bare asyncio loop, on a server that answers at once.

    python benchmarks/bench.py [calls]

Each contender runs in its own process against the same server, three times in turn; the best of the three
counts, since the machine may be shared. Processor time is that of the client alone, without imports. The
limit: at most 1.1 times the processor time of plain Inspect per request.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

LIMIT, CONCURRENCY, ROUNDS = 1.1, 16, 3
ANSWER = json.dumps(
    {
        "id": "x", "object": "chat.completion", "created": 0, "model": "echo",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": "Final Answer: C"}}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 5, "total_tokens": 305},
    }
).encode()  # fmt: skip
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER) + ANSWER


async def serve() -> None:
    """Read a request, answer at once, keep the connection."""

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                writer.write(REPLY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


# ---------------------------------------------------------------- contenders


def ours(url: str, calls: int) -> Callable[[], int]:
    from deadpan.bench.items.sets import open_set
    from deadpan.bench.runs.folder import read_run
    from deadpan.bench.runs.run import run_models
    from deadpan.bench.runs.settings import RunSettings, Sampling

    items = open_set("public")
    runs = -(-calls // len(items.items))
    sampling = Sampling(base_url=url, concurrency=CONCURRENCY)
    import openai  # noqa: F401  the import is not what is measured

    def work() -> int:
        with tempfile.TemporaryDirectory() as out:
            [(folder, _)] = run_models(["echo"], RunSettings(items, runs=runs, sampling=sampling), Path(out))
            return sum(row.prediction == "C" for row in read_run(folder).rows)

    return work


def plain_inspect(url: str, calls: int) -> Callable[[], int]:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    from deadpan.bench.items.prompts import render_prompt
    from deadpan.bench.items.sets import open_set

    items = open_set("public").items
    samples = [Sample(input=render_prompt(item, range(6)), target="C", id=item.id) for item in items]
    model = get_model("openai-api/endpoint/echo", base_url=url, api_key="none", memoize=False)
    task = Task(dataset=samples, solver=generate(), scorer=match(), epochs=-(-calls // len(items)))

    def work() -> int:
        with tempfile.TemporaryDirectory() as out:
            [log] = eval(
                task, model=model, log_dir=out, display="none", max_connections=CONCURRENCY, score=True,
                **GenerateConfig(max_tokens=128, temperature=0.7).model_dump(exclude_none=True),
            )  # fmt: skip
            return len(log.samples or [])

    return work


def inspect_model(url: str, calls: int) -> Callable[[], int]:
    """Inspect's model without its evaluation: no samples, no log, no scores. The stricter comparison."""
    from inspect_ai.model import GenerateConfig, get_model

    from deadpan.bench.items.prompts import render_prompt
    from deadpan.bench.items.sets import open_set

    items = open_set("public").items
    prompts = [render_prompt(item, range(6)) for item in items] * -(-calls // len(items))
    config = GenerateConfig(max_tokens=128, temperature=0.7, max_connections=CONCURRENCY)

    model = get_model("openai-api/endpoint/echo", base_url=url, api_key="none", memoize=False, config=config)

    async def everything() -> int:
        gate = asyncio.Semaphore(CONCURRENCY)

        async def one(prompt: str) -> str:
            async with gate:
                return (await model.generate(prompt, cache=False)).completion

        return len(await asyncio.gather(*map(one, prompts)))

    return lambda: asyncio.run(everything())


def bare(url: str, calls: int) -> Callable[[], int]:
    from openai import AsyncOpenAI

    from deadpan.bench.items.prompts import render_prompt
    from deadpan.bench.items.sets import open_set

    items = open_set("public").items
    prompts = [render_prompt(item, range(6)) for item in items] * -(-calls // len(items))

    async def everything() -> int:
        client, gate = (AsyncOpenAI(base_url=url, api_key="none", max_retries=0), asyncio.Semaphore(CONCURRENCY))

        async def one(prompt: str) -> str:
            async with gate:
                said = await client.chat.completions.create(
                    model="echo", messages=[{"role": "user", "content": prompt}], max_tokens=128
                )
            return said.choices[0].message.content or ""

        return len(await asyncio.gather(*map(one, prompts)))

    return lambda: asyncio.run(everything())


CONTENDERS = {
    "deadpan bench run": ours,
    "plain Inspect": plain_inspect,
    "Inspect's model only": inspect_model,
    "bare asyncio loop": bare,
}


def measure(name: str, url: str, calls: int) -> None:
    """One contender, one round: the calls made, processor seconds, wall seconds."""
    work = CONTENDERS[name](url, calls)
    cpu, wall = time.process_time(), time.perf_counter()
    done = work()
    print(json.dumps([done, time.process_time() - cpu, time.perf_counter() - wall]))


def main(calls: int) -> int:
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    best: dict[str, tuple[float, float]] = {}
    try:
        for _ in range(ROUNDS):
            for name in CONTENDERS:
                ran = subprocess.run(
                    [sys.executable, __file__, "--measure", name, url, str(calls)],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                done, cpu, wall = json.loads(ran.stdout.splitlines()[-1])
                found = (1000 * cpu / done, wall / done)
                best[name] = min(found, best.get(name, found))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    print(f"{'':20} {'CPU ms per call':>15} {'calls/s':>9}")
    for name, (cpu, wall) in best.items():
        print(f"{name:20} {cpu:15.2f} {1 / wall:9.0f}")
    ratio = best["deadpan bench run"][0] / best["plain Inspect"][0]
    print(f"ratio: {ratio:.2f} of plain Inspect (limit {LIMIT}), ", end="")
    others = [f"{best['deadpan bench run'][0] / best[name][0]:.2f} of {name}" for name in list(CONTENDERS)[2:]]
    print(", ".join(others))
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve())
    elif sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000))
