from __future__ import annotations

import io
import zipfile

import pytest

from deadpan.datasets.readers.news_headlines import NewsHeadlines
from deadpan.errors import DataError

LINES = (
    '{"article_link": "http://x/1", "headline": "man finds sock", "is_sarcastic": 1}\n'
    '{"is_sarcastic": 0, "headline": "sock prices rise", "article_link": "http://x/2"}\n'
    '{"is_sarcastic": 0, "headl\n'
)


def zipped(text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Sarcasm_Headlines_Dataset.json", text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [("Sarcasm_Headlines_Dataset.json", LINES), ("Sarcasm_Headlines_Dataset.json.zip", zipped(LINES))],
)
def test_plain_or_zipped(read, name: str, content: str | bytes) -> None:
    examples, tally = read(NewsHeadlines, {name: content}, name="news")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("news/1", "man finds sock", True),
        ("news/2", "sock prices rise", False),
    ]
    assert examples[0].group == examples[0].meta["article_link"] == "http://x/1"
    assert tally.drops == {"bad_row": 1} and tally.places["bad_row"][0].startswith(f"{name}:3")


def test_the_second_version_is_read_instead_of_the_first(read) -> None:
    second = '{"is_sarcastic": 1, "headline": "v2", "article_link": ""}\n'
    files = {"Sarcasm_Headlines_Dataset.json": LINES, "Sarcasm_Headlines_Dataset_v2.json": second}
    assert [e.response.text for e in read(NewsHeadlines, files)[0]] == ["v2"]


@pytest.mark.parametrize("content", [zipped(LINES)[:80], b"", b"not a zip"], ids=["cut", "empty", "other"])
def test_a_zip_cut_short_is_refused(read, content: bytes) -> None:
    with pytest.raises(DataError, match=r"Sarcasm_Headlines_Dataset\.json\.zip"):
        read(NewsHeadlines, {"Sarcasm_Headlines_Dataset.json.zip": content})
