"""Languages told by their letters and common words."""

from __future__ import annotations

from deadpan.generate.checks.script import in_language


def test_scripts_and_common_words():
    assert in_language(["오늘 BTS 콘서트 간다", "ㅋㅋㅋ"], "hangul")
    assert not in_language(["I am going to the concert"], "hangul")
    assert in_language(["...?!"], "hangul")
    assert in_language(["Привет, как дела?"], "cyrillic")
