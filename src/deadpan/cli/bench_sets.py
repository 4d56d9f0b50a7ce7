"""deadpan bench: commands about sets of items."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadpan.cli.output import emit, json_option, seed_option, table
from deadpan.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.bench.audit import Audit
    from deadpan.bench.sets import ItemSet

PASSPHRASE = "DEADPAN_BENCH_PASSPHRASE"
SHOWN_ITEMS = 12
set_argument = click.argument("set_name", metavar="SET", default="public@0.2.0")
out_option = click.option("--out", required=True, type=click.Path(path_type=Path))


def passphrase(new: bool = False) -> str:
    """From the environment, for programs; else asked for, unseen, and twice where it is a new one."""
    given = os.environ.get(PASSPHRASE)
    if given:
        return given
    if not sys.stdin.isatty():
        raise ConfigError(f"no terminal to ask for the passphrase at: set {PASSPHRASE}")
    return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True))


def load_set(name: str) -> ItemSet:
    """A set by name or file, asking for the passphrase of a sealed one."""
    from deadpan.bench.sets import open_set

    return open_set(name, passphrase)


@click.command("sets")
@json_option
def sets_(as_json: bool) -> None:
    """List the sets that come with the package."""
    from collections import Counter

    from deadpan.bench.sets import open_set, shipped

    found = [open_set(label) for label in shipped()]
    data, rows = [], []
    for each in found:
        languages = Counter(item.language for item in each.items)
        pairs = len({item.pair_id for item in each.items if item.pair_id})
        categories = Counter(item.category for item in each.items)
        data.append(
            {
                "set": each.label,
                "items": len(each.items),
                "pairs": pairs,
                "languages": dict(languages),
                "categories": dict(categories),
                "hash": each.hash,
            }
        )
        shown = ", ".join(f"{name} {count}" for name, count in languages.items())
        rows.append((each.label, len(each.items), pairs, shown, each.hash[:12]))
    columns = ("set", "items", "pairs", "languages", "hash")
    emit(as_json, data, lambda out: out.print(table(columns, rows, numbers=("items", "pairs"))))


@click.command()
@click.option("--json", is_flag=True, expose_value=False, help="Changes nothing: a schema is JSON.")
def schema() -> None:
    """Print the JSON Schema of an item."""
    import json

    from deadpan.bench.schema import item_schema

    click.echo(json.dumps(item_schema(), indent=1))


@click.command()
@set_argument
@json_option
def validate(set_name: str, as_json: bool) -> int:
    """Check a SET: ids, checklists, balanced answers, pairs, duplicates. Exit 1 if anything is wrong."""
    from deadpan.bench.validation import validate as check
    from deadpan.fields import encode

    items = load_set(set_name)
    problems = check(items)
    data = {"set": items.label, "items": len(items.items), "hash": items.hash, "problems": encode(problems)}

    def show(out: Console) -> None:
        if problems:
            out.print(table(("item", "problem", "cure"), [(p.item, p.what, p.cure) for p in problems]))
        pairs = len({item.pair_id for item in items.items if item.pair_id})
        verdict = f"{len(problems)} problems" if problems else "sound"
        out.print(f"{items.label}: {len(items.items)} items, {pairs} pairs, {verdict} ({items.hash[:12]})")

    emit(as_json, data, show)
    return 1 if problems else 0


@click.command()
@set_argument
@click.option("--plot", type=click.Path(path_type=Path), help="Write FOLDER/audit.svg and .png.")
@seed_option
@json_option
def audit(set_name: str, plot: Path | None, seed: int, as_json: bool) -> int:
    """Measure what would let a model cheat on a SET. Exit 1 if the set, or an item of it, fails.

    Classifiers that see only the options, or only the options and the remark, are cross-validated with whole
    families left out; rules of thumb look at length, words, cues and places.
    """
    from deadpan.bench.audit import audit as look
    from deadpan.bench.audit import audit_figure

    items = load_set(set_name)
    result = look(items, seed)
    if plot is not None:
        audit_figure(result).save(plot, "audit")
    emit(as_json, result.as_dict(), lambda out: _show_audit(out, result))
    return 0 if result.passed else 1


def _show_audit(out: Console, result: Audit) -> None:
    rows = []
    for probe in result.probes:
        drawn = _whisker(probe.accuracy.low, probe.accuracy.value, probe.accuracy.high)
        state = "ok" if probe.passed else "FAILS"
        rows.append((probe.name, str(probe.accuracy), drawn, state, probe.verdict))
    columns = ("guess by", "share right", "0 ... chance | ... 0.5", "", "verdict")
    out.print(table(columns, rows, numbers=("share right",)))
    for each in result.failed_items[:SHOWN_ITEMS]:
        out.print(f"  {each.item}: {each.what}")
    if len(result.failed_items) > SHOWN_ITEMS:
        out.print(f"  ... and {len(result.failed_items) - SHOWN_ITEMS} more (--json has all)")
    verdict = "passes" if result.passed else "FAILS"
    out.print(
        f"{result.set} {verdict}: {result.n} items in {result.families} families, chance 0.167. The smallest "
        f"rise this size would show (80 % power): {100 * result.smallest_effect:.1f} points."
    )


def _whisker(low: float | None, value: float | None, high: float | None, width: int = 25) -> str:
    """An interval as characters from 0 to 0.5, with a bar where chance is."""
    if low is None or value is None or high is None:
        return ""

    def at(x: float) -> int:
        return min(width - 1, max(0, round(x * 2 * (width - 1))))

    cells = [" "] * width
    cells[at(low) : at(high) + 1] = "-" * (at(high) - at(low) + 1)
    cells[at(1 / 6)] = "|"
    cells[at(value)] = "o"
    return "".join(cells)


@click.command()
@set_argument
@out_option
@click.option("--kind", type=click.Choice(["private", "reserve"]), default="private", show_default=True)
@json_option
def seal(set_name: str, out: Path, kind: str, as_json: bool) -> None:
    """Encrypt a SET with a passphrase: asked for, or in the variable DEADPAN_BENCH_PASSPHRASE."""
    from deadpan.bench.items import items_to_bytes
    from deadpan.bench.sealing import seal as lock

    items = load_set(set_name)
    lock(
        out, items_to_bytes(items.items), passphrase(new=True),
        name=kind, version=items.version, visibility=kind, hash=items.hash,
    )  # fmt: skip
    data = {"sealed": str(out), "items": len(items.items), "hash": items.hash}
    emit(
        as_json,
        data,
        lambda screen: screen.print(
            f"Sealed {len(items.items)} items in {out}. Without the passphrase they are lost: keep it.",
            soft_wrap=True,
        ),
    )


@click.command("open")
@click.argument("sealed", type=click.Path(path_type=Path))
@out_option
@json_option
def open_(sealed: Path, out: Path, as_json: bool) -> None:
    """Decrypt a sealed set to a .jsonl file; never over a file that is there."""
    from deadpan.bench.sealing import unseal
    from deadpan.errors import DataError
    from deadpan.storage import atomic

    if out.exists():
        raise DataError(f"{out}: is there already; name another --out")
    header, plain = unseal(sealed, passphrase())
    with atomic(out) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_bytes(plain)
    data = {"opened": str(out), "set": f"{header.name}@{header.version}", "hash": header.hash}
    emit(as_json, data, lambda screen: screen.print(f"Opened {sealed} to {out}: keep it off the net."))


@click.command()
@set_argument
@out_option
@json_option
def export(set_name: str, out: Path, as_json: bool) -> None:
    """Write a public SET as a task of lm-evaluation-harness and as a Hugging Face dataset folder."""
    from deadpan.bench.export import HARNESS, HUGGING_FACE, export_set

    items = load_set(set_name)
    counts = export_set(items, out)
    data = {"out": str(out), "items": counts, "hash": items.hash}
    emit(
        as_json,
        data,
        lambda screen: screen.print(f"{out / HARNESS}: lm-evaluation-harness; {out / HUGGING_FACE}: dataset"),
    )
