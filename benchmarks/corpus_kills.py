"""kill -9 while `corpus build` and `corpus update` publish, at changes of the disk all over that window.

    python benchmarks/corpus_kills.py                     # DuckDB
    python benchmarks/corpus_kills.py --engine spark      # the kills share one Spark session

After every kill the folder must be one whole version, old or new; then the same command must finish it, with the files of
a run that nobody killed. Prints how many of the kills left which version, and fails if one left anything else.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
sys.path[:1] = [str(SOURCE), str(SOURCE.parent / "tests")]  # not this folder, whose corpus.py is another one

from contracts.spark_cluster import quick_java  # noqa: E402
from corpus.killing import KilledPublishing, version  # noqa: E402
from deadpan.corpus import build, build_corpus, release, update_corpus  # noqa: E402
from deadpan.corpus.engines import spark  # noqa: E402
from deadpan.corpus.synthesize import synthesize_dumps  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=int, default=4, help="a kill at every so many changes")
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--comments", type=int, default=1_000)
    options = parser.parse_args()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ.update(quick_java(work / "conf"))
        if options.engine == "spark":  # the session and what it needs outlive each run
            os.environ["SPARK_LOCAL_DIRS"] = folder
            package = spark._copy_package(work)
            spark._copy_package = lambda scratch: package
            spark.SparkEngine.close = lambda engine: None  # type: ignore[method-assign]
        synthesize_dumps(work / "dumps", months=2, comments=options.comments, form="gz")
        first, second = ([str(path) for path in sorted(work.glob(f"dumps/*2010-0{n}*"))] for n in (1, 2))
        given = {"memory": "1GB", "engine": options.engine, "spark_master": "local[1]"}
        commands = {
            "build": partial(build_corpus, [*first, *second], max_similarity=1.0, **given),
            "update": partial(update_corpus, second, after="2010-02", **given),
        }
        for name, command in commands.items():
            out = work / name
            build_corpus(first, out, memory="1GB")
            before = version(out)
            kills = KilledPublishing(work / f"killed-{name}", range(0, 10_000, options.step))
            build.publish = kills
            command(out)
            build.publish = release.publish
            for left in kills.left:
                found[f"{name}: {'old' if version(left) == before else 'new'} version"] += 1
                command(left)
                assert version(left) == version(out), f"{left}: not finished by running {name} again"
        for what, count in sorted(found.items()):
            print(f"{what} {count}")


if __name__ == "__main__":
    main()
