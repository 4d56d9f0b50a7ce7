"""Phrases that state an answer, in English and Korean, as regular expressions."""

from __future__ import annotations

import re

_OPENING = r"[\s*_`$(\[{<\"'“‘「『]{0,12}"
_CLOSING = r"[\s*_`$)\]}>\"'”’」』.,!。]{0,12}"
_TEX = r"(?:\\(?:boxed|text|mathbf|mathrm)\{){0,2}"
_NOUN = r"(?:(?i:option|choice|letter|answer)\s+|(?:보기|선택지|선지)\s*)?"
_OPEN = rf"{_OPENING}{_NOUN}{_OPENING}{_TEX}{_OPENING}"
_ENDING = r"(?:번|입니다|이다|임|이에요|예요|이며|이고|라고|가|를|을|로|요)"
_END = rf"(?:(?=[)\]*\"'”’_`.]*\s?{_ENDING})|(?![^\W_]|['’-]\w))"
"""The end of a letter: no other letter follows, or only a Korean ending."""
_COPULA = r"(?:번\s*)?(?:입니다|이다|임|이에요|예요|요)?"

FINAL = re.compile(
    r"(?:final\s+answer|최종\s*(?:정답|답변|답))(?:[\s*_`]*[:：=]|[\s*_`]+is\b:?|은|는)[\s*_`]*", re.IGNORECASE
)
"""The words that announce the final answer; the last of them decides."""
TAG = re.compile(r"</?(?:final[ _-]?)?(?:answer|choice|정답|답)>", re.IGNORECASE)
"""A tag around an answer, as in <answer>B</answer>."""
ASKED_FORM = re.compile(r"Final Answer: ?[A-F]\.?")

LETTER = re.compile(rf"{_OPEN}([A-Fa-f]){_END}(.*)", re.DOTALL)
BARE = re.compile(rf"{_OPEN}([A-Fa-f]){_CLOSING}{_COPULA}{_CLOSING}")
WRAPPED = re.compile(rf"\s*{_NOUN}[*_`$(\[{{\"'“‘]+[A-Fa-f]|\s*[A-Fa-f][)\]]")
LISTED = re.compile(rf"{_OPEN}([A-Fa-f])\s*[*_`\"'”)\]]*\s*[.):：,\]—–-]+\s*(\S.*)", re.DOTALL)
REASONED = re.compile(rf"{_OPEN}([A-F])[)\]*.\"'”]{{0,4}}\s?[,:–—-]?\s?(?:because|since)\b.*", re.DOTALL)
"""A letter and its reason."""
ANOTHER = re.compile(
    rf"[\s*_`$)\]}}.\"'”’]*(?:번\s*)?(?:,?\s*(?:(?:but|and)\s+)?(?:(?:it\s+)?(?:could|might|may)\s+(?:also\s+)?be|"
    rf"maybe|perhaps|possibly|or|and|and/or|as well as|또는|혹은|아니면|그리고|이나|나|와|과|및)|,|/|&|~)"
    rf"(?:\s*(?:maybe|perhaps|possibly|even|also|아마))*{_OPEN}(?:(?-i:[A-F]){_END}|[a-f](?=\W*$))"
    rf"(?!\s+(?:is|was|are)\b)",
    re.IGNORECASE,
)
"""A second letter offered beside the first."""
EITHER = re.compile(
    r"(?<![^\W_])([A-F])[\s)*.\"'”’]*(?:번\s*)?(?:,?\s*or(?:\s+(?:maybe|perhaps|possibly))?\s|/|또는|혹은|아니면|이나\s)"
    r"[\s(*\"'“‘]*(?:option\s+)?([A-F])" + _END
)
PROSE = re.compile(r"[ \t]+[^\W\d_]")
REASON = re.compile(r"[ \t]+(?:because|since|as|which|due|for the reason|[가-힣])")
DENIED = re.compile(rf"{_CLOSING}(?:번\s*)?(?:이|가|은|는)?\s*(?:아니|아닙|아닌|\?)|\s*\?")
CORRECTION = re.compile(
    r"(?:\b(?:actually|wait|correction|scratch that|on second thought)\b|\bno,|아니,|다시 보니)"
    r"[^.!?\n]{0,25}?(?<![^\W_])((?-i:[A-F]))(?![^\W_])(?!\s+(?:is|was)\b)",
    re.IGNORECASE,
)
"""A change of mind after the answer."""

STATED = re.compile(
    r"(?:\b(?:answer|choice|option|response|selection|pick)\s*[*_`]*\s*"
    r"(?:(?:here\s+|to\s+the\s+question\s+)?(?:is|should\s+be|must\s+be|would\s+be)\b(?:\s+(?:clearly|therefore|thus|definitely|most\s+likely|probably))?"
    r"\s*:?|[:：=]|->|→|[–—-](?=\s))"
    r"|\b(?:i(?:'d|’d|\s+would|'ll|’ll|\s+will)?\s+answer|i\s+think\s+it(?:'s|’s|\s+is)|it\s+(?:is|must\s+be)|it['’]s)\s+(?=[(\[*\"']*(?:option\s+)?[A-F]\b)"
    r"|(?:정답\s+(?=[(\[*]{0,3}[A-F])"
    r"|(?:정답|(?<!오)답|답변|대답|선택|보기)\s*[*_`]*\s*(?:은|는|이|[:：=]|->|→)+\s*(?:바로)?))[ \t*_`]*",
    re.IGNORECASE,
)
"""Words that state an answer: the letter or the text of an option follows."""
CHOSEN = re.compile(
    r"\b[Ii](?:'d|’d|'ll|’ll| would| will| have to| must| am going to)?\s+"
    r"(?:choose|chose|pick|picked|select|selected|go with|say|went with|vote for)\s+"
    r"(?:the\s+)?(?:(?:option|choice|answer|letter)\s+)?[*(\[\"'“]{0,4}([A-F])(?![^\W_]|['’-]\w)(?!\s+[a-z]+\s+(?:of|that)\b)"
    r"(?!\s+(?!because|since|as|for|here|over|rather|instead)[a-z])"
)
IS_BEST = re.compile(
    r"(?:^|(?<=[.!?:;\n])\s*|\b(?:think|believe|that|so|therefore|thus|hence|say|option|choice|answer|letter),?\s+)"
    r"[*(\[\"'“]{0,4}(?:[Oo]ption\s+|[Cc]hoice\s+)?[*(\[\"'“]{0,4}([A-F])[*)\]\"'”.]*\s+(?:is|seems|fits|looks)\s+"
    r"(?:clearly\s+|definitely\s+|therefore\s+|obviously\s+)?(?:to\s+be\s+)?(?:the\s+)?"
    r"(?:best|correct|right|most\s+(?:likely|accurate|fitting|appropriate)|answer)\b",
    re.MULTILINE,
)
IS_BEST_KOREAN = re.compile(
    r"(?<![^\W_])([A-F])[*)\]\"'”]*\s*(?:번)?(?:이|가|을|를)?\s*(?:제일\s*|가장\s*)?"
    r"(?:정답(?:입니다|이다|이에요|임|으로)|답(?:입니다|이다|이에요)|맞(?:습니다|다|아요)|옳(?:습니다|다|아요)|알맞(?:습니다|다|아요|은)|"
    r"적절(?:합니다|하다|해요|한)|선택(?:합니다|하겠|했습|할게)|고르겠|고릅니다)"
)
NEGATION = re.compile(
    r"\b(?:not|never|cannot|if|whether|unless|why|unlikely|doubt|hardly|neither|nor|wrong|incorrect|worst|least|"
    r"tempting|plausible|literal|second|another|other|(?<!best )possible)\b|n['’]t\b|만약|혹시|틀린|잘못된"
    r"|\b(?:some|others?|people|someone|they|you)\b.{0,20}\b(?:say|think|claim|argue)\b",
    re.IGNORECASE,
)
"""Words before a statement, in its clause, that take it back or make it a condition."""
DOUBT_AFTER = re.compile(
    r"^.{0,12}\?|^.{0,15}(?:아니|아닙|아닐|않|틀렸|틀린)|^\W*[A-F]\W+is\s+(?:wrong|not)\b", re.DOTALL
)
_DECISION = r"(?:answer|choose|pick|select|determine|decide|comply|assist)"
REFUSAL = re.compile(
    r"\b(?:i\s+(?:can(?:no|['’])t|can not|could not|couldn['’]t|won['’]t|will not|refuse to|decline to)|"
    rf"unable to|not able to|impossible to)\s+(?:\w+\s+){{0,2}}?{_DECISION}\b"
    r"|^\W{0,4}(?:as an ai|(?:i['’]m |i am )?sorry|i (?:do not|don['’]t) know|(?:i['’]m )?not sure|no idea)\b"
    r"|(?:답(?:변)?할|고를|선택할|판단할) 수 없|^\W{0,4}(?:죄송|알 수 없)|^.{0,12}모르겠",
    re.IGNORECASE,
)
