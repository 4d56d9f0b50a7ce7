"""Pages are safe, readable in light and dark, and need nothing but themselves."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ConfigError, DataError
from deadpan.page import Link, Page, Table, number, score, stylesheet
from deadpan.page.numbers import PValue, digits
from deadpan.palette import DARK, LIGHT, MARKS, OKABE_ITO, SARCASTIC, SERIES, SINCERE
from deadpan.records import Example, Turn
from deadpan.stats import Interval, wilson

EVIL = "</p><script>alert(1)</script><img src=x onerror='alert(2)' a=\"b\">&amp;"
KOREAN = Example(
    "k1",
    Turn("B", "와, 정말 대단하시네요."),
    (Turn("A", "저는 하루에 3리터 마십니다."), Turn("B", "얼마나요?"), Turn("C", "나도")),
    True,
    language="ko",
)
VOID = {"meta", "br", "img", "hr", "link", "input"}


class Reader(HTMLParser):
    """What a browser would see: tags, attributes, words; and whether tags close as they open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(page: Page) -> Reader:
    reader = Reader()
    reader.feed(page.html())
    reader.close()
    assert not reader.open
    return reader


def full(text: str) -> Page:
    """A page with the same text in every place that takes text."""
    example = Example("x", Turn(text, text), (Turn(text, text), Turn("", text)), False, language=text)
    return (
        Page(text, text, language=text)
        .heading(text)
        .text(text)
        .bullets([text, Link(text, "a.html")])
        .code(text)
        .note(text)
        .table([text, "v"], [[text, Interval(0.5, 0.4, 0.6, 0.95, 9, text)], [Link(text, "#x"), None]], caption=text)
        .conversation(example, note=text)
        .figure("<svg></svg>", text, Table((text,), ((text,),)))
    )


ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "footer", "h1", "h2", "p", "ul", "li",
    "a", "pre", "code", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "span", "b", "svg",
    "path", "circle", "figure", "figcaption", "details", "summary",
}  # fmt: skip


def assert_only_text(reader: Reader) -> None:
    assert {tag for tag, _ in reader.tags} <= ALLOWED
    assert not [name for _, attrs in reader.tags for name in attrs if name.startswith("on")]
    assert not [attrs for tag, attrs in reader.tags if tag != "a" and {"src", "href"} & attrs.keys()]


def test_text_can_not_become_markup():
    reader = read(full(EVIL))
    assert_only_text(reader)
    assert "".join(reader.words).count("<script>alert(1)</script>") > 10


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40) | st.text("<>\"'&/=script onerror\x00\ud800", max_size=40))
def test_no_text_at_all_can_become_markup(text):
    page = full(text)
    assert_only_text(read(page))
    page.html().encode("utf-8")


def test_nothing_is_loaded_and_nothing_may_run():
    page = full("x").html()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy and "default-src &#x27;none&#x27;" in policy[1] and "script-src" not in policy[1]
    assert "http://" not in page and "https://" not in page and "url(" not in page and "@import" not in page


@pytest.mark.parametrize("href", ["javascript:alert(1)", " JaVaScRiPt:alert(1)", "java\nscript:x", "data:text/html,x"])
def test_a_link_that_runs_something_is_refused(href):
    with pytest.raises(ConfigError, match="is not allowed: use http"):
        Page("t").bullets([Link("x", href)])


@pytest.mark.parametrize("href", ["https://example.org/?a=1&b=2", "a/b.html#c", "mailto:a@b.c", "x.html?t=1:2"])
def test_other_links_are_written(href):
    assert ("a", {"href": href}) in read(Page("t").bullets([Link("x", href)])).tags


@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>alert(1)</script></svg>",
        "<svg><svg:script/></svg>",
        '<svg onload="alert(1)"></svg>',
        '<svg><a xlink:href="javascript:alert(1)">x</a></svg>',
        "<svg><foreignObject><p>x</p></foreignObject></svg>",
        "<p>no drawing</p>",
    ],
)
def test_a_drawing_that_does_something_is_refused(svg):
    with pytest.raises(DataError, match="the figure 'T'"):
        Page("t").figure(svg, "T")


def test_a_drawing_may_speak_of_anything():
    page = Page("t").figure("<svg><text>one = 1, href = 2, &lt;script&gt;</text></svg>", "T")
    assert "one = 1, href = 2, <script>" in read(page).words


def test_two_drawings_share_no_ids_and_take_the_pages_colours():
    ink = LIGHT["ink"]
    svg = f'<svg><path id="p"/><use href="#p"/><g clip-path="url(#p)" style="fill: {ink}"/></svg>'
    reader = read(Page("t").figure(svg, "One").figure(svg, "Two"))
    assert len(set(reader.ids)) == len(reader.ids) == 2
    for name in reader.ids:
        assert ("use", {"href": f"#{name}"}) in reader.tags
        assert [1 for tag, a in reader.tags if a.get("clip-path") == f"url(#{name})"] == [1]
    assert [a["style"] for _, a in reader.tags if "style" in a] == [f"fill: var(--ink, {LIGHT['ink']})"] * 2
    assert [a["aria-label"] for tag, a in reader.tags if tag == "svg"] == ["One", "Two"]


def cells(reader: Reader, tag: str = "td") -> list[str | None]:
    return [attrs.get("class") for name, attrs in reader.tags if name == tag]


def test_scores_have_an_interval_a_whisker_and_n():
    page = Page("t").table(["system", "accuracy"], [["a", wilson(75, 100)], ["b", wilson(50, 100)]])
    reader = read(page)
    words = " ".join("".join(reader.words).split())
    assert "0.750 [0.657, 0.825]" in words and "0.500 [0.404, 0.596]" in words
    assert sum(attrs.get("class") == "whisker" for _, attrs in reader.tags) == 2
    assert cells(reader) == ["n", "n", "n", "n"]  # the score and the n column, which nobody had to ask for
    places = [float(attrs["cx"]) for tag, attrs in reader.tags if tag == "circle"]
    assert places[0] > places[1]


def test_n_stands_by_each_score_where_they_differ():
    page = Page("t").table(["s", "f1", "pairs"], [["a", wilson(5, 9), wilson(2, 4)]])
    assert "".join(read(page).words).split("s\n")[-1].count("n") >= 1
    assert re.findall(r'<th scope="col"[^>]*>([a-z0-9]+)', page.html()) == ["s", "f1", "n", "pairs", "n"]


def test_a_column_n_of_ones_own_is_not_doubled():
    page = Page("t").table(["s", "f1", "n"], [["a", wilson(5, 9), 9]])
    assert re.findall(r'<th scope="col"[^>]*>([a-z0-9]+)', page.html()) == ["s", "f1", "n"]


def test_what_is_undefined_says_why():
    undefined = Interval(None, None, None, 0.95, 0, "no pairs")
    reader = read(Page("t").table(["s", "x"], [["a", undefined], ["b", None]]))
    assert "undefined" in reader.words and "no pairs" in reader.words
    assert "nan" not in " ".join(reader.words[-20:]).lower()


def test_numbers_are_right_aligned_words_are_not_and_text_numbers_on_request():
    reader = read(Page("t").table(["a", "b", "c", "d"], [["x", 12345, "1 %", True]], numeric=["c"]))
    assert cells(reader) == ["n", "n", None]
    assert "12,345" in reader.words and "yes" in reader.words


def test_a_row_that_does_not_fit_is_said_and_an_empty_table_too():
    with pytest.raises(DataError, match="row 1 of a table has 1 cells for the 2 columns"):
        Page("t").table(["a", "b"], [["x"]])
    assert "no rows" in Page("t").table(["a"], []).html()


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (Interval(0.7123, 0.69, 0.73, 0.95, 9), "0.712 [0.690, 0.730]"),
        (Interval(0.7123, 0.7101, 0.7144, 0.95, 9), "0.712 [0.710, 0.714]"),
        (Interval(0.5, 0.1, 0.9, 0.95, 3), "0.50 [0.10, 0.90]"),
        (Interval(-0.001, -0.05, 0.04, 0.95, 9), "-0.001 [-0.050, 0.040]"),
        (Interval(0.5, None, None, 0.95, 3), "0.500"),
        (Interval(0.75, 0.3, 0.95, 0.95, 4), "0.75 [0.30, 0.95]"),
        (Interval(12.34, 10.0, 15.0, 0.95, 4), "12.3 [10.0, 15.0]"),
        (Interval(123.4, 100.0, 150.0, 0.95, 4), "123 [100, 150]"),
        (Interval(1.0, 1.0, 1.0, 0.95, 3), "1.000 [1.000, 1.000]"),
        (Interval(None, None, None, 0.95, 0, "no data"), "undefined (no data)"),
    ],
)
def test_as_many_digits_as_the_interval_allows(interval, shown):
    assert score(interval) == shown


def test_scores_of_a_column_are_told_apart():
    wide = [Interval(value, value - 0.2, value + 0.2, 0.95, 9) for value in (0.701, 0.704, 0.712)]
    assert digits(wide) == 3 and digits([wide[0], wide[2]]) == 2 and digits(wide[:1] * 2) == 2
    assert digits([]) == 3


def test_a_p_value_is_never_0():
    assert [number(PValue(p)) for p in (0.0432, 0.001, 0.00099, 0.0)] == ["0.043", "0.001", "< 0.001", "< 0.001"]
    assert [PValue(p).equation() for p in (0.0432, 1e-9)] == ["p = 0.043", "p < 0.001"]
    assert "< 0.001" in Table(("p",), ((PValue(1e-9),),))._repr_html_().replace("&lt;", "<")


def test_bare_numbers():
    assert [number(x) for x in (1234567, 0.71234, 31.46, 12345.6, float("nan"))] == [
        "1,234,567", "0.712", "31.5", "12,346", "undefined",
    ]  # fmt: skip


def test_a_conversation_has_sides_a_word_and_a_shape():
    reader = read(Page("t").conversation(KOREAN, note="linear said sincere"))
    turns = [a["class"] for _, a in reader.tags if (a.get("class") or "").startswith("turn")]
    assert turns == ["turn left", "turn right", "turn left", "turn right response sarcastic"]
    assert ("div", {"lang": "ko"}) in reader.tags
    words = "".join(reader.words)
    assert f"{MARKS['sarcastic']} sarcastic" in words and "와, 정말 대단하시네요." in words
    assert "linear said sincere" in words


def test_turns_without_speakers_alternate_and_another_label_can_be_shown():
    example = Example("x", Turn("", "c"), (Turn("", "a"), Turn("", "b")), True)
    reader = read(Page("t").conversation(example, False))
    turns = [a["class"] for _, a in reader.tags if (a.get("class") or "").startswith("turn")]
    assert turns == ["turn right", "turn left", "turn right response sincere"]
    assert "unlabelled" in Page("t").conversation(Example("x", Turn("", "c"))).html()


def test_a_page_is_written_whole(tmp_path):
    page = Page("제목", "x").text("one\n\ntwo")
    page.write(tmp_path / "deep" / "a.html")
    assert (tmp_path / "deep" / "a.html").read_text("utf-8") == page.html()
    assert page.html().count("<p>") == 2
    with pytest.raises(ConfigError, match="level 2, 3 or 4"):
        page.heading("x", 1)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXT_ON = [
    ("ink", ("ground", "surface", "sarcastic-wash", "sincere-wash")),
    ("muted", ("ground", "surface")),
    ("accent", ("ground",)),
    ("sarcastic-text", ("ground", "sarcastic-wash")),
    ("sincere-text", ("ground", "sincere-wash")),
    *((f"{role}-text", ("ground",)) for role in SERIES),
]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read_in_light_and_dark(palette):
    for text, grounds in TEXT_ON:
        for ground in grounds:
            assert contrast(palette[text], palette[ground]) >= 4.5, (text, ground)
    for shape in ("sarcastic", "sincere", "mark"):
        assert contrast(palette[shape], palette["ground"]) >= 3, shape


def test_light_and_dark_have_the_same_roles_and_the_labels_their_hues():
    assert LIGHT.keys() == DARK.keys()
    assert (LIGHT["sarcastic"], LIGHT["sincere"]) == (SARCASTIC, SINCERE)
    assert {SARCASTIC, SINCERE} <= set(OKABE_ITO.values())
    assert len(set(LIGHT.values())) == len(LIGHT), "a drawing's colours are told apart by their value"


def test_every_custom_property_is_defined_and_every_colour_is_one():
    css = re.sub(r"/\*.*?\*/", "", stylesheet(), flags=re.DOTALL)
    assert set(re.findall(r"var\((--[\w-]+)", css)) <= set(re.findall(r"(--[\w-]+):", css))
    rules = re.sub(r"--[\w-]+:[^;]*;", "", css)
    assert not re.findall(r"#[0-9a-f]{3,8}\b|rgb|hsl", rules)
    assert "prefers-color-scheme: dark" in css and "@media print" in css and "NanumGothic" in css


def test_a_table_shows_itself():
    table = Table(("system", "macro_f1"), (("bow", Interval(0.71, 0.69, 0.73, 0.95, 100)),), "Scores")
    assert repr(table) == "Table('Scores', 2 columns, 1 rows)"
    assert "0.710 [0.690, 0.730]" in str(table)
    assert "<caption>Scores</caption>" in table._repr_html_()
