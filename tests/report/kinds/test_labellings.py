"""Replays of labelling on the site: no saving is named that is not shown."""

from __future__ import annotations

import pytest

from deadpan.detect.studies.active_learning import LabellingReplay
from deadpan.report import build_report
from deadpan.stats import Interval


def near(value: float, half: float = 0.02) -> Interval:
    return Interval(value, value - half, value + half, 0.95, 10)


@pytest.mark.parametrize(("saved", "said"), [(0.3, "30 % fewer (20 to 40 %)"), (0.05, "no saving is shown")])
def test_the_verdict_is_that_of_the_interval(tmp_path, saved, said):
    curve = (near(0.5), near(0.6), near(0.65))
    replay = LabellingReplay((100, 200, 300), curve, curve, near(210, 20), near(300, 20), near(saved, 0.1),
                             {"control stratum": near(0.5)}, 0.5, seed=4)  # fmt: skip
    replay.write(tmp_path / "out")
    build_report([tmp_path / "out"], tmp_path / "site")
    page = (tmp_path / "site" / "out" / "index.html").read_text(encoding="utf-8")
    assert said in page and "0.65" in page
    assert "seed 4" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
