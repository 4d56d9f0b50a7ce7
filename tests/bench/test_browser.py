"""The site in Chromium: drawn at both widths, nothing wider than the screen, sortable, and axe finds nothing.

axe-core is not ours to ship: set DEADPAN_AXE to its axe.min.js (npm install axe-core) to have it run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from bench_items import FAST, Scripted, job, says, small_set
from deadpan.bench.folder import find_runs
from deadpan.bench.run import run_models
from deadpan.bench.site.write import write_site

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)  # fmt: skip
AXE = Path(os.environ.get("DEADPAN_AXE", "/nowhere"))
PAGES = ("index.html", "items/index.html", "items/i0-0.html")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    items = small_set(12)
    for number, name in enumerate(("openai/gpt-4o", "anthropic/claude", "mistral/small")):
        shift = number  # each a little worse
        model = Scripted(lambda q, limit, n, shift=shift: says((q.item.answer + (q.run <= shift)) % 6, q))
        run_models([name], job(items), folder / "runs", clock=FAST, answerers={name: model})
    run_models(["baseline/random"], job(items), folder / "runs")
    write_site(find_runs([folder / "runs"]), folder / "site", items)
    return folder / "site"


def chromium(*arguments: str) -> str:
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.stdout


def inside(page: Path, script: str, width: int, tmp_path: Path, scheme: str = "light") -> object:
    """What a script says of a page in a window of a width: its answer is left in the document."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    if scheme == "dark":
        text = text.replace("(prefers-color-scheme: dark)", "(min-width: 1px)")
    framed = tmp_path / "framed.html"
    framed.write_text(text, encoding="utf-8")
    outer = tmp_path / "outer.html"
    # A frame gives widths below what Chromium's own window allows.
    outer.write_text(
        f'<!doctype html><iframe id="f" src="framed.html" style="width:{width}px;height:3000px;border:0"></iframe>'
        f'<pre id="said"></pre><script>onload = async () => {{ const w = f.contentWindow; '
        f"said.textContent = JSON.stringify(await (async () => {{ {script} }})()); }}</script>",
        encoding="utf-8",
    )
    dom = chromium(
        "--allow-file-access-from-files", "--virtual-time-budget=20000", "--dump-dom", outer.as_uri()
    )
    found = re.search(r'<pre id="said">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[-500:]
    assert found[1], "the script gave no answer"
    return json.loads(unescape(found[1]))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(site, tmp_path, page, width):
    over = inside(
        site / page, "return w.document.documentElement.scrollWidth - w.innerWidth", width, tmp_path
    )
    assert over <= 0


@pytest.mark.parametrize("page", PAGES)
def test_it_is_drawn(site, tmp_path, page):
    picture = tmp_path / "page.png"
    chromium(f"--screenshot={picture}", "--window-size=1280,2000", (site / page).as_uri())
    raw = picture.read_bytes()
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(raw) > 20_000, "an empty page compresses to next to nothing"


def test_a_heading_sorts_and_says_so(site, tmp_path):
    script = """
        const table = w.document.querySelector('table.sortable');
        const names = () => [...table.tBodies[0].rows].map(r => r.querySelector('.who b').textContent);
        const before = names();
        const heading = [...table.querySelectorAll('thead button')].find(b => b.textContent === 'Model');
        heading.click();
        return [before, names(), heading.closest('th').getAttribute('aria-sort'),
                w.document.getElementById('sorted').textContent];
    """
    before, after, order, said = inside(site / "index.html", script, 1280, tmp_path)
    assert after == sorted(after, key=str.lower)
    assert before != after
    assert order == "ascending"
    assert said == "Sorted by Model, ascending"


@pytest.mark.skipif(not AXE.is_file(), reason="set DEADPAN_AXE to axe.min.js of axe-core")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(site, tmp_path, page, width, scheme):
    shutil.copy(AXE, tmp_path / "axe.min.js")
    script = """
        const tag = w.document.createElement('script');
        tag.src = 'axe.min.js';
        await new Promise(done => { tag.onload = done; w.document.head.append(tag); });
        const found = await w.axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']});
        return found.violations.map(each => each.id + ': ' + each.nodes[0].html);
    """
    assert inside(site / page, script, width, tmp_path, scheme) == []
