from __future__ import annotations

from deadpan.datasets.readers.arsarcasm import ArSarcasm


def test_outer_quotes_go(read) -> None:
    content = (
        "tweet,sarcasm,sentiment,dialect\n"
        '"""يا سلام""",TRUE,NEG,egypt\n'
        'قال "نعم",FALSE,NEU,msa\n'
        '"""""قال"" ثم ذهب""",FALSE,NEU,msa\n'
    )
    examples, tally = read(ArSarcasm, {"training_data.csv": content}, name="ar")
    assert [(e.response.text, e.label) for e in examples] == [
        ("يا سلام", True),
        ('قال "نعم"', False),
        ('"قال" ثم ذهب', False),
    ]
    assert examples[0].meta == {"sentiment": "NEG", "dialect": "egypt"}
    assert tally.changes == {"outer_quotes_stripped": 2}


def test_test_part(read) -> None:
    examples, _ = read(ArSarcasm, {"testing_data.csv": "tweet,sarcasm,sentiment,dialect\nلا,FALSE,NEU,msa\n"})
    assert [e.split for e in examples] == ["test"]


def test_a_text_of_quotes_only(read) -> None:
    """One quotation mark is a text, two are an empty one."""
    content = 'tweet,sarcasm,sentiment,dialect\n"""",FALSE,NEU,msa\n"""""",FALSE,NEU,msa\n'
    examples, tally = read(ArSarcasm, {"training_data.csv": content})
    assert [e.response.text for e in examples] == ['"']
    assert tally.drops == {"no_text": 1} and tally.changes == {"outer_quotes_stripped": 1}
