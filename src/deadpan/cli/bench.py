"""deadpan bench: SarcBench. Its commands stand in bench_sets, bench_runs and bench_people."""

from __future__ import annotations

import click

from deadpan.cli import bench_people, bench_runs, bench_sets


@click.group()
def bench() -> None:
    """SarcBench: ask any model what the speaker means, and say what differs.

    A SET is a shipped name (public@0.2.0), a .jsonl or .toml file, or a sealed file.
    """


for command in (
    bench_sets.sets_,
    bench_sets.schema,
    bench_sets.validate,
    bench_sets.audit,
    bench_sets.seal,
    bench_sets.open_,
    bench_sets.export,
    bench_runs.run,
    bench_runs.score,
    bench_runs.compare,
    bench_runs.items,
    bench_runs.merge,
    bench_runs.rows,
    bench_runs.site,
    bench_people.study,
    bench_people.humans,
    bench_people.agree,
    bench_people.explain,
):
    bench.add_command(command)
