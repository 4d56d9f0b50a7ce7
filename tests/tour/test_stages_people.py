"""The stop about people: a whole study in small, which says that its raters are made up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deadpan.datasets import read_dataset
from deadpan.studio.protocols import PROTOCOLS
from deadpan.tour.stages import ITEMS, RATERS, _made_up

# In a process of its own: Django is configured once per process, and other tests configure it too.
SCRIPT = """
import json, sys
from pathlib import Path
from deadpan.page import Page
from deadpan.tour.guide import Guide
from deadpan.tour.stages import people_stop
guide = Guide(Page("Tour", "In small."), Path(sys.argv[1]), 0)
people_stop(guide)
guide.page.write(Path(sys.argv[1]) / "page.html")
print(json.dumps([guide.finding, [link.href for link in guide.artefacts]]))
"""


def visit(folder: Path) -> list[object]:
    ran = subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_the_stop_shows_a_study_from_items_to_release(tmp_path):
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "stale.txt").write_text("of an earlier tour")
    finding, files = visit(tmp_path)
    assert not (tmp_path / "release" / "stale.txt").exists()
    assert "made-up" in finding and f"of {ITEMS} labels are recovered" in finding
    recovered = int(re.search(r"(\d+) of", finding).group(1))
    assert ITEMS - min(RATERS.values()) < recovered <= ITEMS, "no better than the best rater"
    assert files == ["release/README.md"]
    assert json.loads((tmp_path / "release" / "croissant.json").read_text("utf-8"))["recordSet"]
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "No person was asked here" in text and "Agreement of the five made-up raters" in text
    assert f"of {ITEMS} items" in text


def test_the_raters_err_as_often_as_they_should_and_on_the_same_items_every_time():
    examples = read_dataset("starter-en").examples
    items = PROTOCOLS.load("reader-judgment")().items_from(examples, sample=ITEMS, seed=0)
    assert _made_up(items, 0) == _made_up(items, 0) != _made_up(items, 1)
    truth = {item.id: item.hidden_fields()["label"] for item in items}
    for rater, wrong in RATERS.items():
        mine = [one for one in _made_up(items, 0) if one.annotator == rater]
        assert sum((one.answer == "sarcastic") != truth[one.item_id] for one in mine) == wrong
