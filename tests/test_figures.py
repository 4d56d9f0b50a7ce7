"""Plots: the same bytes for the same data, whole files, words that can be read, nothing left changed."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest

from deadpan import figures
from deadpan.errors import DataError, MissingExtra
from deadpan.figures import Figure
from deadpan.figures.figure import two_lines
from deadpan.figures.plots import points
from deadpan.page import Page
from deadpan.palette import SARCASTIC, SINCERE
from deadpan.stats import Bin, Interval, reliability, wilson

matplotlib = pytest.importorskip("matplotlib")
UNDEFINED = Interval(None, None, None, 0.95, 0, "no answers")


def bars(title: str = "Most are sincere") -> Figure:
    return figures.bars(title, {"sarcastic": 1340, "sincere": 2000, "기타": -3.5}, unit="examples")


def distribution() -> Figure:
    groups = {"sarcastic": [1.5, 2, 3, 3, 9], "sincere": [1.0, 1, 2]}
    return figures.distribution("Longer", groups, unit="words", bins=4)


def whiskers() -> Figure:
    scores = {"한국어": wilson(70, 100), "b <&> $x$": wilson(50, 100), "c": UNDEFINED}
    return figures.whiskers("Better", scores, unit="accuracy", mark=("chance", 0.5))


def heat() -> Figure:
    names = ("on", ["p", "q"])
    return figures.heat("No transfer", [[0.1, None], [0.5, 0.9]], rows=names, columns=names, unit="f1")


def lines() -> Figure:
    series = {
        "sarcastic": [(10.0, wilson(5, 10)), (100.0, wilson(70, 100))],
        "other": [(10, 0.69), (100, 0.701)],
        "gone": [(10.0, UNDEFINED)],
    }
    return figures.lines("More is better", series, x_unit="examples", y_unit="accuracy", log=True)


def reliable() -> Figure:
    return figures.reliability("Sure of itself", reliability([True, False, True, True], [0.9, 0.2, 0.6, 0.4]))


PLOTS = [bars, distribution, whiskers, heat, lines, reliable]
every_plot = pytest.mark.parametrize("draw", PLOTS, ids=lambda draw: draw.__name__)


def words(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@cache
def svg_of(draw: Callable[[], Figure]) -> str:
    """Drawing takes a while, and most tests only look."""
    return draw().svg()


@every_plot
def test_the_same_data_give_the_same_bytes(draw):
    assert draw().svg() == svg_of(draw)


def test_what_was_rendered_before_does_not_matter():
    figure = distribution()
    one, two = figure.png(), figure.png()
    assert one == two
    assert figure.svg() == svg_of(distribution)


@every_plot
def test_files_are_written_whole_and_say_no_date(draw, tmp_path):
    figure = draw()
    vector, picture = figure.save(tmp_path / "plots", "a.b")
    assert (vector.name, picture.name) == ("a.b.svg", "a.b.png")
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == ["a.b.png", "a.b.svg"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    written = vector.read_text("utf-8")
    assert figure.title in words(written)
    assert "date" not in written.lower() and "matplotlib.org" not in written


@every_plot
def test_the_title_is_left_to_the_page_and_the_drawing_fits_in_one(draw):
    figure, svg = draw(), svg_of(draw)
    assert figure.title not in words(svg)
    page = Page("t").figure(svg, figure.title, figure.table).html()
    assert "var(--" in page.split("<figure>")[1] and figure.title in page


def test_nothing_of_matplotlib_is_left_changed():
    before, level = dict(matplotlib.rcParams), logging.getLogger("matplotlib.font_manager").level
    lines().svg()
    assert dict(matplotlib.rcParams) == before
    assert logging.getLogger("matplotlib.font_manager").level == level


def test_the_users_own_style_does_not_show():
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert bars().svg() == svg_of(bars)


def test_numbers_and_names_stand_in_the_plot_and_in_its_table():
    figure = bars()
    assert {"1,340", "2,000", "▲ sarcastic", "● sincere", "기타", "examples"} <= set(words(svg_of(bars)))
    assert figure.table.columns == ("", "examples")
    assert figure.table.rows == (("sarcastic", 1340), ("sincere", 2000), ("기타", -3.5))


def test_no_tick_stands_above_what_a_measure_can_reach():
    groups = {"sarcastic": [(0.1, 0.9), (0.2, 0.4)], "sincere": [(0.3, 1.0)]}
    figure = points("Sure", groups, x_unit="x", y_unit="y", limits=(0, 1, 0, 1.25), highest=1.0)
    shown = words(figure.svg())
    assert "1.0" in shown and "1.2" not in shown


def test_a_label_is_text_and_not_a_formula():
    shown = words(svg_of(whiskers))
    assert "b <&> $x$" in shown and "한국어" in shown and "chance" in shown
    assert any(word.startswith("0.700 [0.604, 0.781]") and word.endswith("n = 100") for word in shown)
    assert any(word.startswith("undefined") for word in shown)
    assert words(bars("\x00 \ud800 odd").svg(titled=True))


def test_a_long_name_beside_a_plot_has_two_lines_and_keeps_both_ends():
    assert two_lines("local/qwen2.5-coder-1.5b − local/smollm2-135m") == (
        "local/qwen2.5-coder-1.5b\n− local/smollm2-135m"
    )
    first, second = two_lines("a" * 50 + " " + "b" * 50).split("\n")
    assert (first[0], first[-1], second[0], second[-1]) == ("a", "…", "…", "b")
    assert max(len(first), len(second)) <= 30
    assert two_lines("short") == "short"


def test_the_two_labels_keep_their_hues():
    for draw in (bars, distribution):
        assert SARCASTIC in svg_of(draw) and SINCERE in svg_of(draw)
    assert SARCASTIC in svg_of(lines)


def test_long_names_of_many_columns_are_slanted_not_written_over_each_other() -> None:
    def slanted(count: int) -> bool:
        names = [f"a corpus by name {number}" for number in range(count)]
        matrix = [[0.5] * count for _ in names]
        drawn = figures.heat("T", matrix, rows=("r", names), columns=("c", names), unit="x")
        return "rotate(-40" in drawn.svg()

    assert slanted(10)
    assert not slanted(2)


def test_the_numbers_drawn_are_those_of_the_data():
    table = distribution().table
    assert table.columns == ("words, from", "to", "sarcastic", "sincere")
    assert [sum(row[i] for row in table.rows) for i in (2, 3)] == [5, 3]
    assert (table.rows[0][0], table.rows[-1][1]) == (1.0, 9.0)
    assert heat().table.rows == (("p", 0.1, None), ("q", 0.5, 0.9))
    # The same digits as in the table beside it.
    assert {"0.100", "–", "0.900"} <= set(words(svg_of(heat)))
    assert reliable().table.rows[-1][-1] == 1


def test_whole_numbers_get_a_bin_each():
    table = figures.distribution("t", {"a": [1, 1, 3]}, unit="turns").table
    assert table.rows == ((0.5, 1.5, 2), (1.5, 2.5, 0), (2.5, 3.5, 1))


def ticks(figure: figures.Figure) -> set[str]:
    return {word.replace(",", "") for word in words(figure.svg()) if re.fullmatch(r"[\d.,]+", word)}


def test_counts_have_no_fractional_ticks():
    drawn = (
        figures.bars("t", {"read": 2, "kept": 1}, unit="dialogues"),
        figures.lines("t", {"a": [(0, 1), (1, 2), (2, 2)]}, x_unit="turns", y_unit="examples"),
        figures.distribution("t", {"a": [1, 1, 2, 3]}, unit="turns"),
    )
    for figure in drawn[:2]:
        assert ticks(figure) and all("." not in tick for tick in ticks(figure)), figure.title
    assert {"1", "2", "3"} <= ticks(drawn[2]) and not {"1.5", "2.5"} & ticks(drawn[2])
    lower = words(figures.reliability("t", [Bin(0.0, 0.1, 1, 0.05, 0.0), Bin(0.9, 1.0, 2, 0.95, 1.0)]).svg())
    assert {"1", "2"} <= set(lower) and "1.5" not in lower


def test_one_value_can_be_drawn():
    drawn = (
        figures.distribution("t", {"a": [0.5]}, unit="x"),
        figures.heat("t", [[1.0]], rows=("r", ["a"]), columns=("c", ["b"]), unit="x"),
        figures.whiskers("t", {"a": UNDEFINED}, unit="x"),
    )
    for figure in drawn:
        assert figure.svg().startswith("<svg")
        assert len(figure.table.rows) > 0


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.bars("T", {}, unit="x"),
        lambda: figures.distribution("T", {"a": []}, unit="x"),
        lambda: figures.whiskers("T", {}, unit="x"),
        lambda: figures.lines("T", {"a": []}, x_unit="x", y_unit="y"),
        lambda: figures.reliability("T", ()),
    ],
)
def test_nothing_to_draw_is_said(draw):
    with pytest.raises(DataError, match="nothing to draw for 'T'"):
        draw()


def test_a_matrix_that_is_not_one_is_said():
    with pytest.raises(DataError, match="is not 2 rows by 1 columns"):
        figures.heat("T", [[1.0]], rows=("r", ["a", "b"]), columns=("c", ["d"]), unit="x")


def test_korean_without_a_korean_font_warns_nobody(monkeypatch):
    monkeypatch.setattr("deadpan.figures.figure.KOREAN_FONTS", ())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = figures.bars("한국어 제목", {"가": 1}, unit="개")
        assert "가" in words(figure.svg())
        assert figure.png()


def test_without_matplotlib_the_cure_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"deadpan\[plots\].*: pip install "):
        bars().svg()


def test_matplotlib_is_imported_only_to_draw_and_never_pyplot():
    script = (
        "import sys\nfrom deadpan import figures\nassert 'matplotlib' not in sys.modules\n"
        "figures.bars('t', {'a': 1}, unit='x').png()\nassert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_bars_of_intervals_show_them_in_the_digits_of_a_table():
    drawn = figures.bars("Half", {"a": wilson(50, 100), "b": wilson(7, 10)}, unit="share")
    assert {"0.500 [0.404, 0.596]", "0.700 [0.397, 0.892]"} <= set(words(drawn.svg()))


def test_a_heat_map_around_chance_is_light_there_and_as_strong_on_both_sides():
    names = ("on", ["p", "q"])
    drawn = figures.heat("x", [[0.5, 0.4], [0.5, 0.6]], rows=names, columns=names, unit="f1", centre=0.5).svg()
    assert len(re.findall("fill: #f[3-5]f[3-5]f[3-5]", drawn)) == 2
    assert "#7a2f57" in drawn
    assert "#00503a" in drawn
    assert any("0.500, chance" in word for word in words(drawn))


def test_a_heat_map_around_a_constant_answer_is_light_at_that_of_each_column():
    names = ("on", ["p", "q"])
    drawn = figures.heat("x", [[0.3, 0.6], [0.5, 0.4]], rows=names, columns=names, unit="F1", centre=[0.3, 0.6]).svg()
    assert len(re.findall("fill: #f[3-5]f[3-5]f[3-5]", drawn)) == 2, "0.3 in the first column, 0.6 in the second"
    assert "#7a2f57" in drawn and "#00503a" in drawn
    assert any("light: a constant answer" in word for word in words(drawn))
    with pytest.raises(DataError, match="one centre per column"):
        figures.heat("x", [[0.3, 0.6]], rows=("on", ["p"]), columns=names, unit="F1", centre=[0.3])


def test_the_names_of_many_lines_that_end_together_stay_inside_and_apart():
    series = {f"system {n}": [(1.0, 0.5), (2.0, 0.9)] for n in range(8)}
    drawn = figures.lines("x", series, x_unit="a", y_unit="b").svg()
    places = re.findall(r'y="([\d.]+)"[^>]*>system', drawn)
    heights = sorted(float(place) for place in places)
    assert len(heights) == 8
    assert all(b - a > 8 for a, b in pairwise(heights))
    assert heights[0] > 0
