"""The language of short texts: those the default detector knows, and others."""

from __future__ import annotations

import pytest

from deadpan.detect.languages import guess_language, has_words


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
