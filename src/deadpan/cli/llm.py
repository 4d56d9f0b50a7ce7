"""deadpan llm: one way to call a language model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.output import emit, json_option, table

if TYPE_CHECKING:
    from rich.console import Console


@click.group()
def llm() -> None:
    """Call a language model: any OpenAI-compatible endpoint, or the embedded one (offline, the default).

    An endpoint is named by DEADPAN_LLM_URL (or --url), its key by OPENAI_API_KEY.
    """


@llm.command()
@click.argument("prompt")
@click.option("--model", default="embedded/smollm2-135m", show_default=True)
@click.option("--url", default="", help="Base URL of an OpenAI-compatible endpoint.")
@click.option("--key-env", default="OPENAI_API_KEY", show_default=True, help="Variable that holds the key.")
@click.option("--system", "instruction", default="", help="What the model is told first.")
@click.option("--temperature", type=float)
@click.option("--max-tokens", type=int, default=256, show_default=True)
@click.option("--seed", type=int)
@click.option("--replicate", default=0, show_default=True, help="Another draw of the same call.")
@click.option("--no-cache", is_flag=True, help="Ask again even if the answer is known.")
@json_option
def ask(
    prompt: str, instruction: str, url: str, replicate: int, no_cache: bool, as_json: bool, **settings: Any
) -> None:
    """Ask one question; PROMPT - reads it from standard input."""
    from deadpan.fields import encode
    from deadpan.llm import Settings, complete, system, user

    text = sys.stdin.read() if prompt == "-" else prompt
    messages = [system(instruction)] * bool(instruction) + [user(text)]
    reply = complete(messages, Settings(base_url=url, cache=not no_cache, **settings), replicate)

    def show(out: Console) -> None:
        click.echo(reply.text)
        cost = "unknown" if reply.cost is None else f"${reply.cost:.4f}"
        from_cache = ", from the cache" if reply.cached else ""
        click.echo(
            f"[{reply.model}: {reply.stop_reason}, {reply.seconds:.1f} s, cost {cost}{from_cache}]", err=True
        )

    emit(as_json, encode(reply), show)


@llm.command()
@json_option
def prices(as_json: bool) -> None:
    """What models cost, and when the price was looked up."""
    from deadpan.llm.prices import price_table

    rows = price_table()
    data = [{"model": m, "input": p.input, "output": p.output, "as_of": p.as_of} for m, p in rows.items()]
    shown = [(r["model"], r["input"], r["output"], r["as_of"]) for r in data]
    columns = ("model", "$ per M input tokens", "$ per M output tokens", "as of")
    emit(as_json, data, lambda out: out.print(table(columns, shown, numbers=columns[1:3])))
