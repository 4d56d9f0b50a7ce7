"""One vocabulary for every command: each option means the same wherever it is offered."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from deadpan.errors import ConfigError
from deadpan.presets import presets_of, with_preset

_F = TypeVar("_F", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)

source_argument = click.argument("source", metavar="SOURCE")
sources_argument = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
out_option = click.option("--out", required=True, type=PATH, help="Where to write.")
limit_option = click.option("--limit", type=click.IntRange(min=1), help="Take only the first N.")
sample_option = click.option("--sample", type=click.IntRange(min=1), help="Take N at random.")
turns_option = click.option(
    "--turns", default="0", show_default=True, metavar="N|full", help="Turns of context before the response."
)
metric_option = click.option("--metric", help="Score used to compare systems. [default: chosen to suit the data]")
base_url_option = click.option("--base-url", default="", help="Address of an OpenAI-compatible server.")
key_env_option = click.option(
    "--key-env", default="OPENAI_API_KEY", show_default=True, help="Environment variable with its API key."
)
max_cost_option = click.option(
    "--max-cost", type=click.FloatRange(min=0), help="Stop before spending more than this many US dollars."
)


def joined(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that adds several options, listed by --help in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


def preset_choice(part: str) -> Callable[[Any], Any]:
    """Return --preset with the presets of a command."""
    names = presets_of(part)
    return click.option(
        "--preset", type=click.Choice(names), help="Every setting as the paper published it; see docs/papers.md."
    )


def preset_option(part: str) -> Callable[[_F], _F]:
    """Add --preset, whose values replace the options' defaults; a typed option that differs is an error."""

    def decorate(command: _F) -> _F:
        @wraps(command)
        def collected(preset: str | None, **given: Any) -> Any:
            return command(**(published(preset, part, given) if preset else given))

        return preset_choice(part)(collected)  # type: ignore[no-any-return]

    return decorate


def published(preset: str, part: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the running command with those of a preset over them."""
    ctx = click.get_current_context()
    names = {p.name: max(p.opts, key=len) for p in ctx.command.params if p.name in given}
    typed = [name for name in names if ctx.get_parameter_source(name or "") is ParameterSource.COMMANDLINE]
    return with_preset(preset, part, given, typed, lambda name: names[name])


data_dir_option = click.option(
    "--data-dir", envvar="DEADPAN_DATA", type=PATH, help="Folder that holds the corpora. [env: DEADPAN_DATA]"
)

_READING = joined(
    click.option("--column", "columns", multiple=True, metavar="FIELD=NAME",
                 help="Table: the column that holds text, label, context, ...; repeatable."),
    click.option("--positive", multiple=True, metavar="VALUE", help="Table: a sarcastic label; repeatable."),
    click.option("--negative", multiple=True, metavar="VALUE", help="Table: a sincere label; repeatable."),
    click.option("--split", default="", metavar="NAME", help="Read this split only: train, dev or test."),
    click.option("--language", default="", metavar="CODE", help="Table: its language, such as en or ko."),
    data_dir_option,
    click.option("--keep-markers", is_flag=True, help="Keep tags that give the label away (#sarcasm, /s)."),
    click.option("--text-file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
                 help="iSarcasm: a file with the texts of the tweet ids."),
    click.option("--ids-only", is_flag=True, help="iSarcasm: read the ids without texts."),
)  # fmt: skip


def reading_options(command: _F) -> _F:
    """Add the options that say how to read a SOURCE; they arrive as one keyword, `reading`."""

    @wraps(command)
    def collected(**given: Any) -> Any:
        from deadpan.datasets.reading import Reading

        fields = {name: given.pop(name) for name in Reading.__dataclass_fields__ if name in given}
        fields["columns"] = tuple(_pair(word) for word in fields["columns"])
        return command(reading=Reading(**fields), **given)

    return _READING(collected)  # type: ignore[no-any-return]


def _pair(word: str) -> tuple[str, str]:
    field, mark, name = word.partition("=")
    if not mark or not field or not name:
        raise ConfigError(f"--column {word}: write FIELD=NAME, such as --column text=tweet")
    return field, name


def comma_list(words: str) -> list[str]:
    """Split a list typed with commas."""
    return [word.strip() for word in words.split(",") if word.strip()]


def refuse_with(mode: str, *words: str) -> None:
    """Refuse options that were given but have no effect beside another one."""
    ctx = click.get_current_context()
    typed = [p for p in ctx.command.params if ctx.get_parameter_source(p.name or "") is ParameterSource.COMMANDLINE]
    if given := ", ".join(p.opts[0] for p in typed if p.opts[0] in words):
        raise ConfigError(f"{given}: no effect with {mode}; leave out one or the other")
