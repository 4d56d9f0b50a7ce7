"""Every message is in Korean, and the compiled catalogue is current."""

from __future__ import annotations


def test_every_word_is_in_korean():
    """No message is missing or doubtful, and the compiled file is the text one."""
    import gettext
    from pathlib import Path

    import deadpan.studio

    folder = Path(deadpan.studio.__file__).parent / "locale" / "ko" / "LC_MESSAGES"
    text = (folder / "django.po").read_text("utf-8")
    assert "#, fuzzy" not in text and 'msgstr ""\n\n' not in text.split("\n\n", 1)[1]
    with (folder / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    assert compiled.gettext("Save and continue") == "저장하고 다음으로"
    import re

    entries = re.findall(r'^(?:msgctxt "(.+)"\n)?msgid "(.+)"\nmsgstr "(.+)"$', text, re.MULTILINE)
    for context, single, korean in entries:
        said = single.replace('\\"', '"')
        found = compiled.pgettext(context, said) if context else compiled.gettext(said)
        assert found == korean.replace('\\"', '"'), single


def test_every_message_in_the_source_is_known():
    import re
    from pathlib import Path

    import deadpan.studio

    root = Path(deadpan.studio.__file__).parent
    known = set(
        re.findall(r'^msgid "(.+)"$', (root / "locale/ko/LC_MESSAGES/django.po").read_text("utf-8"), re.MULTILINE)
    )
    for path in (root / "templates").rglob("*.html"):
        for quote, found in re.findall(r"{% translate ([\"'])(.*?)\1(?: context \"\w+\")? %}", path.read_text("utf-8")):
            assert found in known, f"{path.name}: {quote}{found}"
    for path in root.rglob("*.py"):
        for found in re.findall(r'(?:gettext|gettext_lazy|\b_)\("([^"]+)"\)', path.read_text("utf-8")):
            assert found in known, f"{path.name}: {found}"


def test_reasons_for_undefined_figures_are_in_korean():
    from django.utils import translation

    from deadpan.ratings.coefficients import ALL_SAME, ALL_SAME_ALPHA, NO_TWO

    with translation.override("ko"):
        for reason in (ALL_SAME, ALL_SAME_ALPHA, NO_TWO):
            assert translation.gettext(reason) != reason


def test_korean_says_it_as_a_korean_product_would():
    from pathlib import Path

    import deadpan.studio

    path = Path(deadpan.studio.__file__).parent / "locale" / "ko" / "LC_MESSAGES" / "django.po"
    said = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("msgid")]
    text = "\n".join(said)
    # What a person answers is 응답, what a dialogue ends with is 마지막 말: one word for both would confuse.
    for wrong in ("이름표", "당신", "소유자", "주인", "마지막 응답이", "표시하기"):
        assert wrong not in text, wrong
    for word in ("라벨", "개인을 식별할 수 없는 형태로", "응답자 정보", "판정됨", "승인", "축소 표현", "단축키",
                 "무작위로 고르면 0.5입니다", "연구 책임자"):  # fmt: skip
        assert word in text, word
