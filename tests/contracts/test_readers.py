"""What holds for every reader of the registry, tried on a few rows in each corpus's own format."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from deadpan.datasets import READERS, open_dataset
from deadpan.datasets.reader import Release
from deadpan.errors import DataError
from deadpan.records import Example, LabelKind, Split

HEAVY = ("torch", "transformers", "pyspark", "django", "inspect_ai", "sklearn", "matplotlib", "pyarrow", "duckdb")

_EN = (
    ",tweet,sarcastic,rephrase,sarcasm,irony,satire,understatement,overstatement,rhetorical_question\n"
    "0,Best bus ever,1,The bus was late,1,0,0,0,1,0\n1,I took the bus,0,,,,,,,\n"
)
_AR = "id,text,sarcastic,rephrase,dialect\n7,يا سلام,1,هذا سيئ,nile\n8,صباح الخير,0,,msa\n"
_VOTES = "id,text,dialect,sarcasm_ref,human_aggregated,#humans_sarcasm\n1,Nice one,,1,0,2\n2,Wow,,0,1,5\n"
_TWEETS = "Tweet index\tLabel\tTweet text\n1\t1\tLovely\n2\t0\tFine\n"
_POSTS = "class,id,text\nnotsarc,1,Plain\nsarc,2,Oh sure\n"
_REPLIES = "".join(
    json.dumps({"label": label, "response": f"{label}!", "context": ["I fell", "How?"]}) + "\n"
    for label in ("SARCASM", "NOT_SARCASM")
)
_DIALOGUES = {
    "Context": {"0": "A: 늦었어?\nB: 조금.", "1": "A: 비 온다.\nB: 응."},
    "Response": {"0": "A: 시계가 참 예쁘네.", "1": "A: 우산 가져가."},
    "Sarcasm_Label": {"0": "Sarcasm", "1": "Non-Sarcasm"},
    "Sarcasm_Explanation": {"0": "늦은 것을 비꼰다.", "1": ""},
}
_CLIPS = {
    f"1_{n}": {
        "utterance": f"Sure {n}.",
        "speaker": "ANN",
        "context": ["Again?"],
        "context_speakers": ["BOB"],
        "show": "SHOW",
        "sarcasm": bool(n),
    }
    for n in range(2)
}


def _rated(keys: tuple[str, str], low: int, high: int) -> str:
    """LeWiDi's format: two texts, one rated low by most, one high."""
    items = {
        str(at): {
            "text": {keys[0]: f"It rains {at}.", keys[1]: f"Lovely {at}."},
            "annotations": {"Ann1": str(first), "Ann2": first, "Ann3": f"{other}.0"},
            "lang": "en",
        }
        for at, (first, other) in enumerate([(low, high), (high, low)])
    }
    return json.dumps(items)


SAMPLES: dict[str, dict[str, str]] = {
    "isarcasm": {"train_text.csv": "text,sarcasm_label\nLovely,1\nSoup,0\n"},
    "isarcasm_eval-en": {"train.En.csv": _EN},
    "isarcasm_eval-en-b": {"train.En.csv": _EN},
    "isarcasm_eval-en-c": {"train.En.csv": _EN},
    "isarcasm_eval-ar": {"train.Ar.csv": _AR},
    "isarcasm_eval-ar-c": {"train.Ar.csv": _AR},
    "isarcasm_eval-votes": {"english_task_a.csv": _VOTES, "arabic_task_a.csv": _VOTES},
    "semeval2018-a": {"SemEval2018-T3-train-taskA_emoji.txt": _TWEETS},
    "semeval2018-b": {"SemEval2018-T3-train-taskB_emoji.txt": _TWEETS},
    "riloff": {"train.txt": "Lovely\nSoup\n", "labels_train.txt": "1\n0\n"},
    "ptacek": {"ptacek_text.csv": "text,sarcasm_label\nLovely,1\nSoup,0\n"},
    "ghosh_veale": {"Train_v1.txt": "TrainSen\t1\tLovely\n", "Dev_v1.txt": "TrainSen\t0\tSoup\n"},
    "news_headlines": {
        "Sarcasm_Headlines_Dataset_v2.json": '{"headline": "lost", "is_sarcastic": 1, "article_link": "a"}\n'
        '{"headline": "socks rise", "is_sarcastic": 0, "article_link": "b"}\n'
    },
    "kocasm": {"train.csv": ",tokens,label\n0,참 잘 했다,1\n1,밥 먹었다,0\n"},
    "kocosa": {"KoCoSa_dev.json": json.dumps(_DIALOGUES), "KoCoSa_test.json": json.dumps(_DIALOGUES)},
    "arsarcasm_v2": {"training_data.csv": "tweet,sarcasm,sentiment,dialect\nلا,TRUE,NEG,msa\nنعم,FALSE,NEU,msa\n"},
    "figlang2020-twitter": {"sarcasm_detection_shared_task_twitter_training.jsonl": _REPLIES},
    "figlang2020-reddit": {"sarcasm_detection_shared_task_reddit_training.jsonl": _REPLIES},
    "mustard": {"sarcasm_data.json": json.dumps(_CLIPS)},
    "csc": {"CSC_train.json": _rated(("context", "response"), 1, 6)},
    "multipico": {"MP_train.json": _rated(("post", "reply"), 0, 1)},
    "oraby-gen": {"GEN-sarc-notsarc.csv": _POSTS},
    "oraby-hyp": {"HYP-sarc-notsarc.csv": _POSTS},
    "oraby-rq": {"RQ-sarc-notsarc.csv": _POSTS},
    "table": {"train.csv": "text,label,lang\nLovely,1,en\nSoup,0,en\n"},
}
SAMPLED = [name for name in READERS if name in SAMPLES or name.startswith("starter")]
ON_DISK = [name for name in READERS if not name.startswith("starter")]


def release_of(name: str) -> Release:
    release: Release = READERS.load(name).release
    return release


def read_sample(name: str, folder: Path, **options: Any) -> list[Example]:
    for file, content in SAMPLES.get(name, {}).items():
        (folder / file).write_text(content, encoding="utf-8")
    return list(open_dataset(name, folder if name in SAMPLES else None, **options))


@pytest.mark.parametrize("name", READERS)
def test_the_release_says_what_it_is(name: str) -> None:
    release = release_of(name)
    assert release.title and release.licence and release.language
    assert release.label_kind in get_args(LabelKind)
    assert name == "table" or (release.citation and release.url and release.files and release.label_kind)


@pytest.mark.parametrize("name", SAMPLED)
def test_examples_are_whole(name: str, tmp_path: Path) -> None:
    examples = read_sample(name, tmp_path)
    assert len(examples) >= (1 if name.endswith("-b") else 2)
    assert len({example.id for example in examples}) == len(examples)
    for example in examples:
        assert example.response.text.strip()
        assert example.label in (True, False)
        assert example.language
        assert example.source == name
        assert example.split in get_args(Split)
        assert example.label_kind == release_of(name).label_kind
        assert bool(example.context) <= release_of(name).context
        json.dumps(dict(example.meta))


@pytest.mark.parametrize("name", SAMPLED)
def test_reading_twice_gives_the_same(name: str, tmp_path: Path) -> None:
    first = read_sample(name, tmp_path)
    reader = open_dataset(name, tmp_path if name in SAMPLES else None)
    assert [*reader] == first
    counted = reader.tally.as_dict()
    assert [*reader] == first and reader.tally.as_dict() == counted


def _first_line(content: str) -> str:
    return content.split("\n", 1)[0] + "\n"


HEADED = ("isarcasm", "semeval", "ptacek", "kocasm", "arsarcasm", "oraby", "table")


@pytest.mark.parametrize("name", SAMPLES)
def test_files_without_a_row_or_with_lone_carriage_returns_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    damages: list[Callable[[str], str]] = [lambda _: "", lambda text: (3 * text).replace("\n", "\r")]
    if name.startswith(HEADED):
        damages.append(_first_line)
    if name in ("kocosa", "mustard", "csc", "multipico"):
        damages = [lambda _: ""]  # JSON of one line
    for damage in damages:
        for file, content in SAMPLES[name].items():
            (tmp_path / file).write_text(damage(content), encoding="utf-8", newline="")
        with pytest.raises(DataError) as error:
            list(open_dataset(name, tmp_path))
        assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", SAMPLED)
def test_a_file_of_bytes_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    if name not in SAMPLES:
        pytest.skip("its files are in the package")
    for file in SAMPLES[name]:
        (tmp_path / file).write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe")
    with pytest.raises(DataError) as error:
        list(open_dataset(name, tmp_path))
    assert next(iter(SAMPLES[name])) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", SAMPLED)
def test_damage_is_counted_or_refused_but_never_a_crash(name: str, tmp_path: Path) -> None:
    """Every file cut at, and spoilt at, places all through it."""
    draw = random.Random(name)
    for file, content in SAMPLES.get(name, {}).items():
        read_sample(name, tmp_path)
        whole = content.encode()
        for _ in range(60):
            at = draw.randrange(len(whole))
            spoilt = draw.choice([b"", b'"', b"\0", b"\n", b",", b"\xff", b"[]", b"null", b"{", b"\t"])
            (tmp_path / file).write_bytes(whole[:at] + spoilt + (whole[at + 1 :] if draw.random() < 0.7 else b""))
            try:
                examples = list(open_dataset(name, tmp_path))
            except DataError as refused:
                assert file in str(refused) and "\n" not in str(refused)
            else:
                assert all(isinstance(example.response.text, str) for example in examples)


@pytest.mark.parametrize("name", ON_DISK)
@pytest.mark.parametrize("where", ["absent", "", None])
def test_a_folder_without_it_says_what_is_expected_and_where_to_get_it(
    name: str, where: str | None, tmp_path: Path
) -> None:
    release = release_of(name)
    with pytest.raises(DataError) as error:
        list(open_dataset(name, None if where is None else tmp_path / where))
    assert name in str(error.value) and "\n" not in str(error.value)
    assert release.url in str(error.value)
    assert all(file.names[0] in str(error.value) for file in release.files)


def test_readers_import_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from deadpan.datasets import READERS\n"
        "for name in READERS: READERS.load(name)\n"
        f"sys.stdout.write(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
