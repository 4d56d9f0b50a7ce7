"""Three answers, a stated prevalence, languages that are not supported, and markers."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.detect.detector import Detector, load_at
from deadpan.detect.explanation import answer_text
from deadpan.detect.studies.evaluation import evaluate
from deadpan.detect.system import System, predictions
from deadpan.detect.verdicts import (
    CANNOT_TELL,
    MARKED,
    NO_WORDS,
    Bands,
    at_prevalence,
    choose_threshold,
    guess_language,
    has_words,
    out_of_fold_threshold,
    parse_threshold,
)
from deadpan.errors import ConfigError, DataError
from deadpan.models import installed
from deadpan.records import Example, Prediction, Turn
from deadpan.text import fold
from detect_corpus import word_corpus

BANDS = Bands(0.2, {"en": (0.4, 0.6)})


def judge(text: str, score: float) -> Prediction:
    (said,) = BANDS.judge([Example("x", Turn("", text))], [Prediction("x", score > 0.5, score)], [guess_language(text)])
    return said


def test_between_the_two_scores_it_cannot_tell():
    assert judge("Fine by me.", 0.3).label is False
    assert judge("Fine by me.", 0.85).label is True
    unsure = judge("Fine by me.", 0.5)
    assert (unsure.label, unsure.raw) == (None, CANNOT_TELL)
    assert unsure.score == pytest.approx(0.2)  # what is even among even is one in five here


def test_an_answer_never_contradicts_the_score_that_is_shown():
    for prevalence in (0.05, 0.2, 0.5, 0.9):
        for score in np.linspace(0.01, 0.99, 25):
            (said,) = BANDS.at(prevalence).judge(
                [Example("x", Turn("", "Fine."))], [Prediction("x", None, score)], ["en"]
            )
            assert said.label is None or said.label == (said.score > 0.5)


@pytest.mark.parametrize("prevalence", [0.02, 0.1, 0.5, 0.99])
def test_the_band_that_is_told_holds_exactly_the_scores_without_an_answer(prevalence):
    bands = Bands(prevalence, {"en": (0.35, 0.61)})
    low, high = bands.undecided("en")
    examples = [Example(f"{number}", Turn("", "Oh, rain again.")) for number in range(1, 100)]
    scored = [Prediction(e.id, None, int(e.id) / 100) for e in examples]
    for answer in bands.judge(examples, scored, ["en"] * len(examples)):
        assert (answer.label is None) is (low < answer.score < high)
    assert bands.undecided("ko") is None


def test_a_score_belongs_to_a_prevalence():
    assert at_prevalence(0.5, 0.2) == pytest.approx(0.2)
    assert at_prevalence(at_prevalence(0.7, 0.1), 0.5, known=0.1) == pytest.approx(0.7)
    assert at_prevalence(1.0, 0.1) == 1.0
    for wrong in (0, 1, -0.2, True, "half"):
        with pytest.raises(ConfigError, match="prevalence"):
            BANDS.at(wrong)


def test_other_languages_get_no_number():
    said = judge("Das ist ja toll.", 0.99)
    assert (said.label, said.score, said.raw) == (None, None, "not supported: German")


@pytest.mark.parametrize("text", ["...", "🙄", "123", "https://example.org/a", "@bob #wow", "x", "Eeee!", "ㅎㅎ"])
def test_without_words_it_cannot_tell(text):
    said = judge(text, 0.99)
    assert (said.label, said.score, said.raw) == (None, 0.2, NO_WORDS)
    assert str(answer_text(text)).strip() == "cannot tell: there are no words in it"


@pytest.mark.parametrize("text", ["Great /s", "what a day #sarcasm", "Sure. /S "])
def test_what_its_author_marked_is_sarcastic(text):
    said = judge(text, 0.01)
    assert (said.label, said.raw) == (True, MARKED)


def test_a_tag_that_is_spoken_of_marks_nothing():
    assert judge("#irony is the topic of this week.", 0.01).label is False
    assert judge("A talk on #sarcasm detection tomorrow.", 0.01).label is False
    assert judge("#irony Is this your best?", 0.01).raw == MARKED


def test_bands_are_saved_and_evaluate_reports_coverage(tmp_path):
    detector = Detector("bow").fit(word_corpus())
    detector.bands = Bands(0.3, {"en": (0.45, 0.55)}, {"en": (1.5, 0.0)})
    detector.save(tmp_path)
    loaded = Detector.load(tmp_path)
    assert loaded.bands == detector.bands
    (said,) = loaded.predict([Example("x", Turn("", "nothing it knows"))])
    assert said.label is None and said.raw == CANNOT_TELL
    result = evaluate(loaded, word_corpus(count=120), keep_seen=True)
    assert result.coverage is not None and 0 < result.coverage[0] <= 1
    assert "cannot tell" in str(result)


def test_a_prevalence_needs_a_calibrated_detector(tmp_path):
    Detector("bow").fit(word_corpus()).save(tmp_path)
    with pytest.raises(ConfigError, match="not calibrated"):
        answer_text("Oh, sure.", detector=str(tmp_path), prevalence=0.1)


def banded() -> Detector:
    detector = Detector("bow").fit(word_corpus())
    detector.bands = Bands(0.5, {"en": (0.45, 0.55)})
    detector.threshold_ = 0.52
    return detector


def english(count: int = 60) -> list[Example]:
    """Texts that are English beyond doubt, and different from the training texts."""
    rows = word_corpus(count=count)
    return [replace(e, response=Turn("", f"I think that this is {e.response.text} for you")) for e in rows]


@pytest.mark.parametrize("prevalence", [0.05, 0.5, 0.8])
def test_an_evaluation_at_a_prevalence_is_of_what_is_predicted_there(tmp_path, prevalence):
    banded().save(tmp_path)
    rows = english()
    said = load_at(str(tmp_path), prevalence).predict(rows)
    result = evaluate(tmp_path, rows, prevalence=prevalence)
    assert [p.score for p in result.predictions] == [p.score for p in said]
    decided = [(p.label, q.label) for p, q in zip(said, result.predictions, strict=True) if p.label is not None]
    assert decided and all(predicted == scored for predicted, scored in decided)
    assert result.coverage is not None and result.coverage[0] == pytest.approx(len(decided) / len(rows))
    assert result.threshold == (0.52 if prevalence == 0.5 else 0.5)
    assert f"prevalence of {prevalence}" in " ".join(str(result).split())


def test_an_evaluation_at_a_prevalence_leaves_the_detector_as_it_was():
    detector = banded()
    evaluate(detector, english(), prevalence=0.05)
    assert (detector.bands.prevalence, detector.threshold_) == (0.5, 0.52)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([e for e in english() if e.label], "balanced accuracy there undefined (only one class in the truth)"),
        ([replace(e, response=Turn("", f"{n} !")) for n, e in enumerate(english())], "'cannot tell': none"),
    ],
)
def test_an_accuracy_that_does_not_exist_is_null_and_explained(tmp_path, rows, words):
    result = evaluate(banded(), rows)
    assert words in " ".join(str(result).split())
    assert "nan" not in str(result)
    result.write(tmp_path)
    told = json.loads((tmp_path / "scores.json").read_text())
    assert told["balanced_accuracy_decided"] is None and 0 <= told["coverage"] <= 1


# ---------------------------------------------------------------- the detector that comes with deadpan


EVERYDAY = [line.split("\t") for line in Path(__file__).with_name("everyday.tsv").read_text("utf-8").splitlines()]

TRAINING = Path(__file__).parents[2] / "training"

PAIRS = [line.split("\t") for line in Path(__file__).with_name("everyday_pairs.tsv").read_text("utf-8").splitlines()][
    1:
]

WRITTEN_APART = [
    line.split("\t")
    for name in ("everyday_pairs_first.tsv", "everyday_pairs_second.tsv", "everyday_pairs_third.tsv")
    for line in Path(__file__).with_name(name).read_text("utf-8").splitlines()[1:]
]


def pair_examples(rows: list[list[str]]) -> list[Example]:
    """Each row is what was said before (or nothing), a sarcastic answer and a sincere one."""
    return [
        Example(f"{n}-{label}", Turn("", text), (Turn("", before),) if before else (), label=label)
        for n, (before, *answers) in enumerate(rows)
        for label, text in zip((True, False), answers, strict=True)
    ]


@pytest.mark.slow
def test_no_test_sentence_is_close_to_a_training_line(monkeypatch):
    """Two of three words in common is close: "The lift has been repaired." was there before this test."""
    monkeypatch.syspath_prepend(TRAINING)
    lines = importlib.import_module("everyday")
    written = [*lines.everyday_pairs(), *lines.everyday_lines(more=True)]
    written += [*lines.plain_lines(), *lines.lines_alone()]
    tested = [text for _, text in EVERYDAY]
    tested += [text for row in (*PAIRS, *(row[1:] for row in WRITTEN_APART)) for text in row if text]
    train = {frozenset(fold(text).split()) for e in written for text in (e.response.text, *_before(e))}
    by_word: dict[str, list[frozenset[str]]] = {}
    for words in train:
        for word in words:
            by_word.setdefault(word, []).append(words)
    close = []
    for text in tested:
        own = frozenset(fold(text).split())
        # Who shares two thirds of the words shares one of the rarest third.
        rarest = sorted(own, key=lambda word: len(by_word.get(word, ())))[: len(own) // 3 + 1]
        near = {words for word in rarest for words in by_word.get(word, ())}
        close += [(text, words) for words in near if len(words & own) > 0.67 * len(words | own)]
    assert close == []


def _before(example: Example) -> list[str]:
    return [turn.text for turn in example.context]


def test_the_default_detector_ranks_everyday_pairs():
    said = Detector.load("base").predict(pair_examples(PAIRS))
    right = [said[n].score > said[n + 1].score for n in range(0, len(said), 2)]
    assert len(right) == 60 and sum(right) >= 50
    assert sum(p.label is True for p in said[1::2]) <= 0.25 * len(right)


def test_at_most_one_everyday_sentence_in_twenty_is_called_sarcastic():
    assert len(EVERYDAY) >= 450 and {language for language, _ in EVERYDAY} == {"en", "ko", "ar"}
    detector = Detector.load("base")
    examples = [Example(str(n), Turn("", text)) for n, (_, text) in enumerate(EVERYDAY)]
    assert not detector.seen_.contain(examples).any(), "a test sentence is in the training data"
    said = detector.predict(examples)
    assert not [p for p in said if p.score is None], "a supported language was not recognised"
    for language in ("en", "ko", "ar"):
        part = [p.label for p, (own, _) in zip(said, EVERYDAY, strict=True) if own == language]
        assert sum(label is True for label in part) <= 0.05 * len(part), language


@pytest.mark.parametrize(
    "text", ["It rains.", "The invoice is attached.", "The parcel arrived on Tuesday.", "회의는 3시에 시작합니다."]
)
def test_plain_sentences_are_not_sarcastic(text):
    assert answer_text(text).answer == "not sarcastic"


def test_an_answer_is_in_words_that_everybody_knows():
    answer = answer_text("Oh great, the printer is broken again.", context=["The printer stopped."])
    told = str(answer)
    assert "likely" not in told.splitlines()[0] and "50%" in " ".join(told.split())
    assert "log odds" not in told
    assert answer.as_dict()["prevalence"] == 0.5
    assert answer_text("Das ist ja toll.").answer == "not supported"
    assert "English, Korean, Arabic" in " ".join(str(answer_text("Das ist ja toll.")).split())
    assert answer_text("Great /s").answer == "sarcastic"
    assert "German" in str(answer_text("Das ist ja toll.", in_detail=True))


def test_context_changes_a_score_of_the_default_detector():
    alone = answer_text("Great, just great.").prediction.score
    after = answer_text("Great, just great.", context=["My flight got cancelled."]).prediction.score
    assert alone != after


def test_a_known_prevalence_moves_every_score():
    text = "Oh great, another meeting."
    rare, often = (answer_text(text, prevalence=share).prediction.score for share in (0.05, 0.5))
    assert rare < often


@pytest.mark.slow
def test_the_student_knows_everyday_sentences_and_reads_context():
    for library in ("torch", "transformers", "peft"):
        pytest.importorskip(library)
    if "minilm-l6" not in installed():
        pytest.skip("needs deadpan models pull minilm-l6")
    student = Detector.load("encoder")
    english = [text for language, text in EVERYDAY if language == "en"]
    said = student.predict([Example(str(n), Turn("", text)) for n, text in enumerate(english)])
    assert sum(p.label is True for p in said) <= 0.05 * len(said)
    bad, good = (
        student.predict([Example("x", Turn("", "Oh, great."), (Turn("", before),))])[0].score
        for before in ("My flight got cancelled.", "The parcel came a day early.")
    )
    assert bad > good + 0.1
    (korean,) = student.predict([Example("x", Turn("", "회의는 3시에 시작합니다."))])
    assert korean.raw == "not supported: Korean"


def score_f1(labels: list[bool], scores: list[float], threshold: float) -> float:
    hits = sum(label and score > threshold for label, score in zip(labels, scores, strict=True))
    calls = sum(score > threshold for score in scores)
    return 2 * hits / (calls + sum(labels)) if calls + sum(labels) else 0.0


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.3, 0.6, 0.9])), min_size=2, max_size=25))
def test_no_other_threshold_has_a_better_f1(rows):
    labels, scores = [label for label, _ in rows], [score for _, score in rows]
    examples = [Example(str(at), Turn("", "x"), label=label) for at, label in enumerate(labels)]
    answers = [Prediction(str(at), None, score) for at, score in enumerate(scores)]
    if all(labels) or not any(labels):
        with pytest.raises(DataError, match="both labels"):
            choose_threshold(examples, answers, "f1")
        return
    chosen = score_f1(labels, scores, choose_threshold(examples, answers, "f1"))
    assert chosen == max(score_f1(labels, scores, cut) for cut in (0.0, 0.1, 0.2, 0.3, 0.6, 0.9))


@pytest.mark.parametrize("word", ["", "half", "1.5", "-1", "nan"])
def test_a_threshold_that_is_none_is_refused(word):
    with pytest.raises(ConfigError):
        parse_threshold(word)


class Memory(System):
    """Scores what it was trained on 0.9 or 0.1 by label, everything else 0.6 or 0.5: it has learned by heart."""

    def fit(self, examples: Sequence[Example]) -> Self:
        self.known_ = {example.response.text: example.label for example in examples}
        FITS.append(set(self.known_))
        return self

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        scores = []
        for example in examples:
            known = self.known_.get(example.response.text)
            KNOWN.append(known is not None)
            sarcastic = "sure" in example.response.text
            scores.append((0.6 if sarcastic else 0.5) if known is None else 0.9 if known else 0.1)
        return predictions(examples, scores)

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    @classmethod
    def load(cls, folder: Path) -> Self:
        raise NotImplementedError


FITS: list[set[str]] = []
"""The texts of each training."""

KNOWN: list[bool] = []
"""For each text predicted: was it trained on?"""


def test_the_threshold_comes_from_scores_of_texts_that_were_not_trained_on():
    # In-sample scores (0.1 and 0.9) would give 0.5; out of fold the labels part at 0.55.
    FITS.clear()
    assert out_of_fold_threshold(Memory, word_corpus(), "f1") == pytest.approx(0.55)
    assert len(FITS) == 5
    everything = {example.response.text for example in word_corpus()}
    assert all(fitted < everything for fitted in FITS)
    assert set.intersection(*FITS) == set()


def test_copies_of_a_text_do_not_cross_the_folds_of_a_threshold():
    rows = word_corpus()
    copies = [Example(f"copy-{e.id}", e.response, label=e.label, group=f"copy-{e.group}") for e in rows]
    KNOWN.clear()
    assert out_of_fold_threshold(Memory, [*rows, *copies], "f1") == pytest.approx(0.55)
    assert len(KNOWN) == 120
    assert not any(KNOWN)


def test_too_few_examples_are_told_with_the_cure():
    with pytest.raises(DataError, match=r"use a number such as 0\.5"):
        out_of_fold_threshold(Memory, word_corpus(count=4), "f1")


def test_a_known_prevalence_moves_the_threshold():
    rng = np.random.default_rng(0)
    rows = [Example(str(n), Turn("", "x"), label=n % 2 == 0) for n in range(400)]
    said = [Prediction(e.id, None, float(np.clip(0.4 + 0.2 * bool(e.label) + rng.normal(0, 0.2), 0, 1))) for e in rows]
    even, rare = (choose_threshold(rows, said, "f1", share) for share in (0.5, 0.05))
    assert rare > even + 0.05
    called = np.mean([p.score > rare for p, e in zip(said, rows, strict=True) if not e.label])
    assert called < 0.15


def test_a_prevalence_beside_a_number_is_an_error_that_names_the_rules():
    for threshold in (0.5, 0.3):
        with pytest.raises(ConfigError, match="a prevalence needs the threshold f1 or balanced"):
            Detector("bow", threshold=threshold, prevalence=0.1)
    assert Detector("bow", threshold="f1", prevalence=0.1).prevalence == 0.1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Great, another Monday.", "en"), ("Wow", "en"), ("", "en"), ("👍👍", "en"), ("The café was naïve.", "en"),
        ("회의는 3시에 시작합니다.", "ko"), ("ㅋㅋㅋ 대박", "ko"), ("هذا رائع جدا", "ar"),
        ("Das ist ja wunderbar.", "de"), ("Toll, der Zug ist wieder zu spät.", "de"),
        ("Merci, c'est génial.", "fr"), ("Qué bien, otra vez lunes.", "es"), ("Muito obrigado!", "pt"),
        ("これは素晴らしい", "ja"), ("太好了", "zh"), ("این خیلی خوب است", "fa"), ("Ну отлично", ""),
        ("@user https://example.com/der/die/das Thank you!", "en"),
    ],
)  # fmt: skip
def test_scripts_and_frequent_words_tell(text, language):
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["Bella giornata!", "Fantastico lavoro", "Complimenti ragazzi", "Situazione bellissima",
          "Puntualissimi stamattina"], "it"),
        (["Excelente trabajo", "Buenos dias", "Felicidades amigos", "Reunion cancelada",
          "Increible puntualidad"], "es"),
        (["Guten Morgen", "Herzlichen Glückwunsch", "Prima gemacht", "Wunderbare Erfahrung", "Unglaublich freundlich",
          "Pünktlichkeit deutscher Züge"], "de"),
        (["Asante sana", "Habari za asubuhi"], "sw"), (["Salamat po"], "tl"), (["Aap kaise hain"], "hi"),
        (["Goedemorgen"], "nl"), (["Selamat pagi"], "id"), (["Lorem ipsum dolor sit amet"], "la"),
        (["ty", "np", "sit down", "pole dance", "mad", "Alexa play Despacito", "Hasta la vista, baby"], "en"),
        (["Vacanza rovinata", "Sorpresa maravillosa"], ""),
        (["Meeting moved", "Nice work", "Photo attached", "Happy birthday!", "Pizza party tonight", "Lol",
          "Hello world", "Data arrived yesterday", "Fantastic", "Congrats team", "Video call tomorrow",
          "Absolutely stunning", "Kitchen sink broken", "Chicken curry", "Extra pizza"], "en"),
    ],
)  # fmt: skip
def test_short_texts_without_frequent_words(texts, language):
    assert {text: guess_language(text) == language for text in texts} == dict.fromkeys(texts, True)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Well I guess the meeting is cancelled then ¯\\_(ツ)_/¯", "en"), ("La La Land was boring", "en"),
        ("Prayers go up, blessings come down", "en"), ("feeling v grateful!!!!", "en"),
        ("don't worry, he'll come around.", "en"), ("got em pic.twitter.com/abc", "en"),
        ("تحية وتقدير لچورچ اسحاق ستبقى دائمًا رمزًا للشجاعة", "ar"), ("واو، چه روز خوبی", "fa"),
        ("부르르 pic.twitter.com/xnSeAQTSbl", "ko"), ("전철타고 복수초 보러 가자 URL bo table wr id", "ko"),
        ("新しい iPhone を買った", "ja"), ("東京の会議は三時から", "ja"), ("Das Meeting war super", "de"),
        ("Ich bin so froh", "de"), ("Vilken underbar dag", "sv"),
    ],
)  # fmt: skip
def test_a_few_foreign_letters_or_words_do_not_decide(text, language):
    assert guess_language(text) == language


def test_a_megabyte_is_no_problem():
    assert guess_language("das ist gut " * 90_000) == "de"


@pytest.mark.parametrize(
    "text", ["Ｏｈ ｇｒｅａｔ， ａｎｏｔｈｅｒ ｍｅｅｔｉｎｇ．", "𝐎𝐡 𝐠𝐫𝐞𝐚𝐭, 𝐚𝐧𝐨𝐭𝐡𝐞𝐫 𝐦𝐞𝐞𝐭𝐢𝐧𝐠.", "ＡＢＣ"]
)
def test_full_width_and_ornamental_letters_are_latin(text):
    assert guess_language(text) == "en"


def test_lone_letters_are_no_words_in_any_width():
    assert [has_words(text) for text in ("a", "ａａａ", "ㅋㅋㅋ", "ㅠ")] == [False] * 4
    assert [has_words(text) for text in ("no", "ｎｏ", "네", "ㅋㅋ 네")] == [True] * 4
