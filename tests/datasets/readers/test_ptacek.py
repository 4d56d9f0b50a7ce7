from __future__ import annotations

from deadpan.datasets.readers.ptacek import Ptacek


def test_tweets_with_newlines_and_nul(read) -> None:
    content = 'text,sarcasm_label\r\n"first,\r\nsecond",1\r\nplain,0\r\nbro\0ken,1\r\n'
    examples, tally = read(Ptacek, {"ptacek_text.csv": content}, name="ptacek")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("ptacek/1", "first,\r\nsecond", True),
        ("ptacek/2", "plain", False),
    ]
    assert tally.drops == {"nul_byte": 1}
    assert tally.places["nul_byte"][0].startswith("ptacek_text.csv:5")
    assert examples[0].label_kind == "marker"
