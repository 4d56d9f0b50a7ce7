"""deadpan generate: sarcastic dialogues from a language model, filtered, judged and released."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deadpan.cli.generate_progress import watch
from deadpan.cli.output import emit, json_option, table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.generate.folder import RunFolder
    from deadpan.generate.pipeline import Pipeline
    from deadpan.generate.session import DryRun

F = TypeVar("F", bound=Callable[..., Any])
PLAN = click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN")
OUT = click.option("--out", type=click.Path(path_type=Path), help="Another folder than the plan's.")


def run_options(command: F) -> F:
    """What every command that may call a model takes."""
    for option in (
        json_option,
        click.option(
            "--max-cost", type=click.FloatRange(min=0), help="Stop before spending more US dollars."
        ),
        OUT,
        PLAN,
    ):
        command = option(command)
    return command


@click.group()
def generate() -> None:
    """Sarcastic dialogues from a language model: situation, dialogue, filters, people, release.

    PLAN is a TOML file; `deadpan generate plan` writes one to start from. Without an endpoint the embedded
    model writes, which shows the path and is no writer.
    """


@generate.command("plan")
@click.argument("path", type=click.Path(path_type=Path), metavar="PLAN")
@click.option("--language", default="en", show_default=True)
@click.option("--source", default="examples", show_default=True, help="Files or folders of dialogues.")
@click.option("--model", default="embedded/smollm2-135m", show_default=True)
@click.option("--url", default="", help="Base URL of an OpenAI-compatible endpoint.")
@click.option("--contrast", is_flag=True, help="Also ask for a sincere response to each dialogue.")
@json_option
def plan_command(
    path: Path, language: str, source: str, model: str, url: str, contrast: bool, as_json: bool
) -> None:
    """Write a plan to start from."""
    from deadpan.errors import ConfigError
    from deadpan.generate.language import languages, load_language
    from deadpan.generate.plan import ENDPOINT, TEMPLATE
    from deadpan.storage import write_text

    if path.exists():
        raise ConfigError(f"{path}: is there already; choose another name")
    if language in languages():
        load_language(language)
    endpoint = "" if model.startswith("embedded/") else ENDPOINT.format(url=url)
    written = TEMPLATE.format(
        language=language,
        source=source,
        model=model,
        endpoint=endpoint,
        out=path.stem,
        contrast=str(contrast).lower(),
    )
    write_text(path, written)
    emit(
        as_json,
        {"plan": str(path)},
        lambda out: out.print(f"{path}: look at it, then deadpan generate run {path}"),
    )


@generate.command()
@click.option("--copy", "language", help="Copy this language's folder, to start another from.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the copy goes.")
@json_option
def prompts(language: str | None, out: Path | None, as_json: bool) -> None:
    """The languages deadpan has prompts for; --copy gives you a folder of your own to change."""
    from deadpan.errors import ConfigError
    from deadpan.generate.language import languages, load_language

    found = {code: load_language(code) for code in languages()}
    if language:
        if out is None or out.exists():
            raise ConfigError(f"--out {out or ''}: name a folder that is not there yet")
        shutil.copytree(load_language(language).folder, out)
    data = {code: {"name": each.facts.name, "folder": str(each.folder)} for code, each in found.items()}

    def show(screen: Console) -> None:
        screen.print(
            table(("language", "name", "folder"), [(c, d["name"], d["folder"]) for c, d in data.items()])
        )
        if language:
            screen.print(f'copied to {out}: change it, then write prompts = "{out}" in the plan')

    emit(as_json, data, show)


@generate.command()
@run_options
@click.option("--limit", type=int, help="Only the first so many usable source dialogues.")
@click.option("--resume", is_flag=True, help="Continue a run that was stopped or killed.")
@click.option("--dry-run", is_flag=True, help="Say what it would cost, and stop.")
def run(
    plan: Path,
    out: Path | None,
    max_cost: float | None,
    limit: int | None,
    resume: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Every step, from source dialogues to dialogues ready for people, and the report.

    A run that was killed, or stopped by --max-cost, goes on with --resume: no finished call is made again.
    """
    from deadpan.generate.session import dry_run as estimate
    from deadpan.generate.session import open_plan, open_run

    opened = open_plan(plan, out)
    if dry_run:
        _show_estimate(as_json, estimate(opened, limit))
        return
    with open_run(opened, limit=limit, max_cost=max_cost, watch=watch(), resume=resume) as pipeline:
        pipeline.caller.check()
        if not as_json:
            _say_cost(estimate(opened, limit))
        pipeline.run_all(resume=True)
        _finish(pipeline)
        data = _summary(pipeline)
    emit(as_json, data, lambda screen: _show_summary(screen, data))


def _step_command(name: str, about: str) -> None:
    @generate.command(name, help=about)
    @run_options
    @click.option("--limit", type=int, hidden=name != "source", help="Only so many usable dialogues.")
    def step(plan: Path, out: Path | None, max_cost: float | None, limit: int | None, as_json: bool) -> None:
        from deadpan.generate.pipeline import ASKS
        from deadpan.generate.session import open_plan, open_run

        with open_run(open_plan(plan, out), limit=limit, max_cost=max_cost, watch=watch()) as pipeline:
            if name in ASKS:
                pipeline.caller.check()
            pipeline.run_step(name)
            data = _step_summary(pipeline.run, name)
        emit(as_json, data, lambda screen: _show_step(screen, data))


for _name, _about in {
    "source": "Read source dialogues: two people, a window of a few turns.",
    "situation": "Ask for the theme and summary of each source dialogue.",
    "politeness": "Tell how politely each speaker talks (Korean; other languages pass through).",
    "dialogue": "Ask for a new dialogue with an explained sarcastic response.",
    "filter": "Drop what is toxic, in the wrong language, impolite by turns, or a copy.",
    "abnormal": "Ask whether each dialogue makes sense; finds wait for review.",
    "contrast": "Ask for a sincere response that shares words with the sarcastic one.",
}.items():
    _step_command(_name, _about)


@generate.command()
@PLAN
@OUT
@click.option("--out-page", type=click.Path(path_type=Path), help="Where the page goes [OUT/report.html].")
@json_option
def report(plan: Path, out: Path | None, out_page: Path | None, as_json: bool) -> None:
    """The page that tells whether a run is worth annotating."""
    from deadpan.generate.folder import RunFolder
    from deadpan.generate.report import write_report
    from deadpan.generate.session import open_plan

    opened = open_plan(plan, out)
    path = out_page or opened.out / "report.html"
    write_report(opened, RunFolder(opened.out), path)
    emit(as_json, {"report": str(path)}, lambda screen: screen.print(f"the report: {path}", soft_wrap=True))


# ---------------------------------------------------------------- what is shown


def _finish(pipeline: Pipeline) -> None:
    """The report and the manifest of the whole folder."""
    from deadpan.fields import encode
    from deadpan.generate.report import write_report
    from deadpan.storage import write_manifest

    root = pipeline.run.root
    write_report(pipeline.plan, pipeline.run, root / "report.html")
    counts = _totals(pipeline.run)
    config = {key: value for key, value in encode(pipeline.plan).items() if key in ("language", "seed")}
    write_manifest(root, command="generate run", config=config, seed=pipeline.plan.seed, counts=counts)


def _totals(run: RunFolder) -> dict[str, int]:
    steps = {name: run.manifest(name) for name in run.done()}
    found = {name: manifest for name, manifest in steps.items() if manifest is not None}
    dropped = sum(sum(manifest.drops.values()) for manifest in found.values())
    read = found["source"].counts["read"]
    last = found[run.last()].counts["kept"]
    return {
        "read": read,
        "kept": last,
        "dropped": dropped,
        "cost_micros": sum(manifest.counts.get("cost_micros", 0) for manifest in found.values()),
    }


def _summary(pipeline: Pipeline) -> dict[str, Any]:
    return {
        "out": str(pipeline.run.root),
        "report": str(pipeline.run.root / "report.html"),
        **_totals(pipeline.run),
        "spent": round(pipeline.caller.spent, 6),
        "retried": dict(pipeline.caller.retried),
        "steps": [_step_summary(pipeline.run, name) for name in pipeline.steps()],
    }


def _step_summary(run: RunFolder, name: str) -> dict[str, Any]:
    found = run.manifest(name)
    assert found is not None
    return {
        "step": name,
        "folder": str(run.step(name)),
        "read": found.counts["read"],
        "kept": found.counts["kept"],
        "drops": dict(found.drops),
        "changes": dict(found.changes),
        "calls": found.counts["calls"],
        "cost": found.counts["cost_micros"] / 1e6,
        "unpriced_calls": found.counts["unpriced_calls"],
    }


def _show_summary(screen: Console, data: dict[str, Any]) -> None:
    screen.print(_step_table(data["steps"]))
    if data["retried"]:
        screen.print("tried again: " + ", ".join(f"{k} {n:,}" for k, n in sorted(data["retried"].items())))
    screen.print(f"read {data['read']:,} = kept {data['kept']:,} + dropped {data['dropped']:,}")
    screen.print(f"spent ${data['spent']:.4f}; the report: {data['report']}", soft_wrap=True)


def _show_step(screen: Console, data: dict[str, Any]) -> None:
    screen.print(_step_table([data]))
    screen.print(f"what was kept and what was dropped: {data['folder']}", soft_wrap=True)


def _step_table(steps: list[dict[str, Any]]) -> Any:
    rows = []
    for step in steps:
        drops = ", ".join(f"{reason} {n:,}" for reason, n in sorted(step["drops"].items())) or "-"
        also = ", ".join(f"{reason} {n:,}" for reason, n in sorted(step["changes"].items()))
        cost = "?" if step["unpriced_calls"] else f"{step['cost']:.4f}" if step["calls"] else "-"
        rows.append(
            (
                step["step"],
                f"{step['read']:,}",
                f"{step['kept']:,}",
                cost,
                drops + (f"; {also}" if also else ""),
            )
        )
    columns = ("step", "read", "kept", "US $", "dropped; noticed")
    return table(columns, rows, numbers=columns[1:4])


def _show_estimate(as_json: bool, found: DryRun) -> None:
    from deadpan.fields import encode

    data = {**encode(found), "cost": found.cost, "most": found.most}
    rows = [
        (
            s.stage,
            s.model,
            f"{s.calls:,}",
            f"{s.tokens_in:,}",
            f"{s.tokens_out:,}",
            _money(s.cost),
            _money(s.most),
        )
        for s in found.stages
    ]
    columns = ("step", "model", "calls", "tokens in", "tokens out", "US $", "at most US $")

    def show(screen: Console) -> None:
        screen.print(table(columns, rows, numbers=columns[2:]))
        screen.print(
            f"{found.dialogues:,} dialogues ({found.dropped:,} of the source cannot be used): about "
            f"{_money(found.cost)} US dollars, at most {_money(found.most)}. Nothing was called."
        )

    emit(as_json, data, show)


def _say_cost(found: DryRun) -> None:
    """One line before the first call, on stderr."""
    if found.cost == 0:
        return
    click.echo(
        f"{found.dialogues:,} dialogues: about {_money(found.cost)} US dollars, at most {_money(found.most)}",
        err=True,
    )


def _money(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:,.2f}" if cost >= 1 or cost == 0 else f"{cost:.4f}"


from deadpan.cli import generate_people as _people  # noqa: E402

for _command in _people.COMMANDS:
    generate.add_command(_command)
