"""deadpan llm: one way to call a language model, and the options of every command that calls one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from deadpan.arguments import parse_pair
from deadpan.cli import Group
from deadpan.cli.options import base_url_option, joined, key_env_option
from deadpan.cli.terminal import emit, json_option


class NumberOrNone(click.ParamType[Any]):
    """A number, or `none` for a value that is not sent: the server then decides."""

    name = "number|none"

    def __init__(self, kind: type[int] | type[float] = float) -> None:
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value is None or str(value).lower() == "none":
            return None
        try:
            return self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor none", param, ctx)


def _pairs(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> dict[str, Any]:
    return dict(parse_pair(word, "--llm-arg", "--llm-arg top_k=20") for word in words)


def sampling_options(temperature: float | None = None, top_p: float | None = None) -> Callable[[Any], Any]:
    """Return the options of sampling, named like the fields of `LLMSettings`: temperature, extra, ..."""
    kind, unset = NumberOrNone(), "none: not sent; the server decides."
    return joined(
        click.option("--temperature", type=kind, default=temperature, show_default=True, help=unset),
        click.option("--top-p", type=kind, default=top_p, show_default=True, help=unset),
        click.option("--reasoning-effort", metavar="LEVEL", help="For reasoning models: low, medium, high."),
        click.option("--llm-arg", "extra", multiple=True, metavar="NAME=VALUE", callback=_pairs,
                     help="Any other field of the request, for provider-specific parameters."),
    )  # fmt: skip


@click.group(cls=Group)
def llm() -> None:
    """Call a language model: any OpenAI-compatible endpoint, or the embedded one (offline, the default).

    The address comes from --base-url or DEADPAN_LLM_URL, the key from OPENAI_API_KEY. A provider's name
    before the model's sets both: anthropic/, google/, openrouter/, azure/, ollama/, vllm/.
    """


@llm.command("ask")
@click.argument("prompt")
@click.option("--llm", "model", help="[default: the largest embedded model that has been pulled]")
@base_url_option
@key_env_option
@click.option("--system-prompt", "instruction", default="", help="Instructions for the model.")
@sampling_options()
@click.option("--choice", "choices", multiple=True, metavar="TEXT", help="Permitted answer; repeatable.")
@click.option("--max-tokens", type=NumberOrNone(int), default=256, show_default=True, help="Token limit of the answer.")
@click.option("--seed", type=int, help="Random seed; the server gets one derived from it and the prompt.")
@click.option("--replicate", default=0, show_default=True, help="Another number gives another draw.")
@click.option("--no-cache", is_flag=True, help="Ask even if the answer is in the cache.")
@json_option
def ask_command(prompt: str, instruction: str, replicate: int, no_cache: bool, as_json: bool, **settings: Any) -> None:
    """Ask one question; if PROMPT is -, it is read from standard input."""
    from deadpan.llm import LLMSettings, complete, default_model, system, user
    from deadpan.validation import encode

    text = sys.stdin.read() if prompt == "-" else prompt
    messages = [system(instruction)] * bool(instruction) + [user(text)]
    settings["model"] = settings["model"] or default_model()
    reply = complete(messages, LLMSettings(cache=not no_cache, **settings), replicate)

    emit(as_json, encode(reply), lambda out: click.echo(reply.text))
    if not as_json:
        click.echo(f"[{reply.facts()}]", err=True)
