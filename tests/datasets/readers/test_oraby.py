from __future__ import annotations

import pytest

from deadpan.datasets.readers.oraby import Generic, Hyperbole, RhetoricalQuestion
from deadpan.errors import DataError

POSTS = 'class,id,text\r\nnotsarc,1,"Plain, really."\r\nsarc,2,"Oh sure.\nRight."\r\n'


@pytest.mark.parametrize(
    ("kind", "file", "form"),
    [
        (Generic, "GEN-sarc-notsarc.csv", ""),
        (Hyperbole, "HYP-sarc-notsarc.csv", "hyperbole"),
        (RhetoricalQuestion, "RQ-sarc-notsarc.csv", "rhetorical_question"),
    ],
)
def test_parts(read, kind, file: str, form: str) -> None:
    examples, tally = read(kind, {file: POSTS}, name="oraby")
    assert [(e.id, e.label) for e in examples] == [("oraby/1", False), ("oraby/2", True)]
    assert [e.categories for e in examples] == [(), (form,) if form else ()]
    assert examples[0].meta.get("form", "") == form
    assert not tally.drops


def test_latin_1_is_refused_with_its_line(read) -> None:
    with pytest.raises(DataError, match=r"GEN-sarc-notsarc\.csv:3: not UTF-8"):
        read(Generic, {"GEN-sarc-notsarc.csv": b"class,id,text\nsarc,1,ok\nsarc,2,caf\xe9\n"})
