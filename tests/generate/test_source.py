"""Source dialogues in the four forms, cut to a window of a few turns, and files that are not what they claim."""

from __future__ import annotations

import itertools
import json

import pytest

from deadpan.errors import ConfigError, DataError
from deadpan.generate.source import SourceFiles, cut_window, two_people
from deadpan.records import Turn

NIKL = {
    "id": "MDRW2100000001",
    "metadata": {"title": "메신저 말뭉치"},
    "document": [
        {
            "id": "MDRW2100000001.1",
            "metadata": {
                "topic": "식음료",
                "speaker": [{"id": "P1"}, {"id": "P2"}],
                "setting": {"relation": "친구", "intimacy": 4},
            },
            "utterance": [
                {"id": "1", "form": "밥 먹었어?", "original_form": "밥먹엇어?", "speaker_id": "P1"},
                {"id": "2", "form": "아직", "speaker_id": "P2"},
                {"id": "3", "form": "같이 먹자", "speaker_id": "P2"},
            ],
        },
        {"id": "MDRW2100000001.2", "utterance": "없음"},
    ],
}


def read(path, form="auto", **columns):
    return list(SourceFiles([str(path)], form, columns))


def test_nikl(tmp_path):
    path = tmp_path / "MDRW.json"
    path.write_text(json.dumps(NIKL), encoding="utf-8")
    first, second = read(path)
    assert (first.id, first.topic, first.intimacy) == ("MDRW2100000001.1", "식음료", "4")
    assert first.turns[0] == Turn("P1", "밥 먹었어?")
    assert second.wrong == "bad_document"
    assert read(path, "nikl") == [first, second]


def test_jsonl_in_the_shapes_people_have(tmp_path):
    path = tmp_path / "d.jsonl"
    rows = [
        {
            "id": 7,
            "topic": "food",
            "intimacy": 5,
            "turns": [{"speaker": "x", "text": "hi"}, {"speaker": "y", "text": "ho"}],
        },
        {"dialogue": [["x", "hi"], ["y", "ho"]]},
        {"dialogue": "x: hi\ny: ho"},
        {"utterances": ["hi", "ho"]},
        {"context": [{"speaker": "x", "text": "hi"}], "response": {"speaker": "y", "text": "ho"}},
    ]
    bad = ["not json", '{"turns": 3}', '["x"]', '{"dialogue": "no colon"}']
    path.write_text("\n".join([*map(json.dumps, rows), "", *bad]), encoding="utf-8")
    found = read(path)
    assert [(r.turns[0].text, r.turns[1].text) for r in found[:5]] == [("hi", "ho")] * 5
    assert (found[0].id, found[0].topic, found[0].intimacy) == ("7", "food", "5")
    assert [(r.wrong, r.place) for r in found[5:]] == [("bad_line", f"d.jsonl:{n}") for n in (7, 8, 9, 10)]


def test_kocosa(tmp_path):
    path = tmp_path / "KoCoSa_x.json"
    content = {"Context": {"0": "A: 가\nB: 나", "1": "A: 가"}, "Response": {"0": "A: 다", "2": "B: 라"}}
    path.write_text(json.dumps(content), encoding="utf-8")
    found = read(path)
    assert found[0].turns == (Turn("A", "가"), Turn("B", "나"), Turn("A", "다"))
    assert [r.wrong for r in found] == ["", "bad_row", "bad_row"]


def test_csv_of_utterances_and_of_dialogues(tmp_path):
    rows = tmp_path / "u.csv"
    rows.write_text("conv,who,message\n1,x,hi\n1,y,ho\n2,x,a\n2,y,b\n", encoding="utf-8")
    found = read(rows, dialogue="conv", speaker="who", text="message")
    assert [(r.id, len(r.turns)) for r in found] == [("1", 2), ("2", 2)]
    whole = tmp_path / "d.csv"
    whole.write_text('id,text,topic\n5,"A: hi\nB: ho",food\n6,nobody speaks,\n', encoding="utf-8")
    first, second = read(whole)
    assert (first.id, first.topic, len(first.turns)) == ("5", "food", 2)
    assert second.wrong == "bad_row"


@pytest.mark.parametrize(
    ("name", "content", "form", "said"),
    [
        ("a.json", '{"Context": 1}', "auto", "no columns Context, Response"),
        ("a.json", '{"x": 1}', "auto", "not in NIKL's form"),
        ("a.json", "{", "nikl", "not JSON"),
        ("a.csv", "x,y\n1,2\n", "auto", "no column 'text'"),
        ("a.txt", "hello", "auto", "name it .json"),
    ],
)
def test_a_file_that_is_not_what_it_says_tells_the_cure(tmp_path, name, content, form, said):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises((DataError, ConfigError), match=said):
        read(tmp_path / name, form)


def test_a_folder_is_read_whole_and_an_empty_one_is_said(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read(tmp_path / "absent")
    (tmp_path / "d").mkdir()
    with pytest.raises(DataError, match=r"no \.json"):
        read(tmp_path / "d")
    for name in ("b", "a"):
        (tmp_path / "d" / f"{name}.jsonl").write_text(json.dumps({"id": name, "dialogue": "A: x\nB: y"}))
    assert [r.id for r in read(tmp_path / "d")] == ["a", "b"]


@pytest.mark.real_corpora
def test_the_real_kocosa_can_be_a_source(real_corpora):
    found = read(real_corpora / "kocosa" / "KoCoSa_dev.json")
    usable = [r for r in found if not r.wrong and not two_people(r.turns)[1]]
    assert len(found) == 1_321
    assert len(usable) > 1_300


def test_two_people_with_their_lines_joined():
    turns = (Turn("p", "hi "), Turn("p", "you"), Turn("q", ""), Turn("q", "ho\nho"), Turn("p", "so"))
    assert two_people(turns) == ((Turn("A", "hi you"), Turn("B", "ho ho"), Turn("A", "so")), "")


@pytest.mark.parametrize(
    ("speakers", "why"), [("xyz", "three_or_more_speakers"), ("xx", "one_speaker"), ("", "no_words")]
)
def test_other_dialogues_are_not_used(speakers, why):
    assert two_people(tuple(Turn(s, "hi") for s in speakers)) == ((), why)


def test_the_window_is_seeded_and_begins_with_a():
    turns = tuple(Turn("AB"[n % 2], str(n)) for n in range(20))
    cuts = {cut_window(turns, 6, seed=seed, id="x") for seed in range(40)}
    assert len(cuts) > 5
    assert all(len(cut) == 6 and cut[0].speaker == "A" for cut in cuts)
    assert all(int(b.text) - int(a.text) == 1 for cut in cuts for a, b in itertools.pairwise(cut))
    assert cut_window(turns, 6, seed=3, id="x") == cut_window(turns, 6, seed=3, id="x")
    assert cut_window(turns[:4], 6, seed=3, id="x") == turns[:4]
