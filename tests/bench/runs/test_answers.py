"""Letters are read where a person would read them, and nowhere else."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from deadpan.bench.runs.answers import kept_form, place_of, read_letter

OPTIONS = (
    "She is glad that the tent let in the rain",
    "The tent is new and works as promised",
    "He thinks the shop should open earlier",
    "It has kept them out of the wind",
    "A good tent is worth its price, isn't it",
    "The tent leaks, and she blames him for it",
)
KOREAN = (
    "동생이 일찍 와서 고맙다",
    "동생이 늦어서 화가 났다",
    "버스가 제시간에 왔다",
    "다음에는 같이 가자는 뜻이다",
    "회의가 짧아서 좋았다",
    "아무 불만도 없다",
)

READ = [
    # The form that was asked for, and small variations of it.
    ("Final Answer: B", "B"),
    ("final answer: b", "B"),
    ("Final Answer: **B**", "B"),
    ("**Final Answer:** B", "B"),
    ("**Final Answer**: (B)", "B"),
    ("Final Answer: $B$", "B"),
    ("Final Answer: \\boxed{B}", "B"),
    ("Final Answer: \\text{B}", "B"),
    ("Final Answer: B.", "B"),
    ("Final Answer: B) It rains", "B"),
    ("Final Answer: A. It rains", "A"),
    ("Final Answer: B because of the rain", "B"),
    ("Final Answer: A because of the rain", "A"),
    ("Final Answer: A\nThat is all.", "A"),
    ("Final Answer: Option C", "C"),
    ("I first thought Final Answer: A. No.\nFinal Answer: D", "D"),
    ("최종 답: F", "F"),
    ("최종 정답: **F**", "F"),
    ("최종 답변은 F입니다", "F"),
    ("Final Answer： E", "E"),
    ("Final Answer is C", "C"),
    ("My final answer is: C", "C"),
    ("Final Answer:\nC", "C"),
    ("Final Answer: [D]", "D"),
    ('Final Answer: "D"', "D"),
    ("Final Answer: Ｂ", "B"),
    ("Final Answer: It has kept them out of the wind", "D"),
    ("Final Answer: A good tent is worth its price, isn't it", "E"),
    ("Final Answer: D. It has kept them out of the wind", "D"),
    ("Final Answer: A She is glad that the tent let in the rain", "A"),
    ("Let me think about A and C first.\n\nFinal Answer: F", "F"),
    # Single letters.
    ("B", "B"),
    (" (c). ", "C"),
    ("b", "B"),
    ("B.", "B"),
    ("B)", "B"),
    ("[B]", "B"),
    ("**B**", "B"),
    ("`B`", "B"),
    ('"B"', "B"),
    ("'B'", "B"),
    ("<B>", "B"),
    ("Ｂ", "B"),
    ("Ⓑ", "B"),
    ("Option B", "B"),
    ("option b.", "B"),
    ("Choice: B", "B"),
    ("Letter F", "F"),
    ("B!", "B"),
    ("\nB\n", "B"),
    ("B\n\nThe speaker says the opposite of what she means.", "B"),
    ("**E**\n\nHe mocks the price.", "E"),
    ("The tent leaks, so she cannot mean it.\n\nF", "F"),
    ("(C)\nBecause he is late.", "C"),
    # Statements.
    ("Answer: B", "B"),
    ("answer: b", "B"),
    ("ANSWER: B", "B"),
    ("Answer - B", "B"),
    ("Answer = B", "B"),
    ("Answer -> B", "B"),
    ("Answer: (B)", "B"),
    ("**Answer:** B", "B"),
    ("**Answer: B**", "B"),
    ("Answer: B. The tent is new and works as promised", "B"),
    ("Answer: The tent is new and works as promised", "B"),
    ("The answer is (D).", "D"),
    ("The answer is D", "D"),
    ("The answer is B", "B"),
    ("The answer is: D", "D"),
    ("The answer is **D**.", "D"),
    ("The answer is option D.", "D"),
    ("The correct answer is D.", "D"),
    ("The best answer is D, because she is annoyed.", "D"),
    ("So the best option is (F).", "F"),
    ("The right choice is C.", "C"),
    ("The answer should be C.", "C"),
    ("The answer would be C.", "C"),
    ("The answer is clearly C.", "C"),
    ("The answer is A because it rains.", "A"),
    ("The answer is A.", "A"),
    ("The answer is (a).", "A"),
    ("My answer: C", "C"),
    ("My choice is E.", "E"),
    ("I think the answer is C.", "C"),
    ("I choose C.", "C"),
    ("I'd pick option C", "C"),
    ("I would go with (C).", "C"),
    ("I'll go with C because he is late.", "C"),
    ("I would select B.", "B"),
    ("I answer B.", "B"),
    ("It is B.", "B"),
    ("It's (B).", "B"),
    ("I think it's B.", "B"),
    ("B is the best answer.", "B"),
    ("B is correct.", "B"),
    ("(B) is the correct option.", "B"),
    ("Option B is the most likely.", "B"),
    ("I believe that B is right.", "B"),
    ("It is not A or C; the answer is B.", "B"),
    ("A is too literal. C misses the point. The answer is F.", "F"),
    ("The answer is B. It cannot be C, which is too literal.", "B"),
    ("The answer is B.\nThe answer is B.", "B"),
    ("<think>Is it A? Perhaps the answer is C.</think>\nB", "B"),
    ("<think>Final Answer: A</think>The answer is D.", "D"),
    ("Because she is not happy, the answer is B.", "B"),
    ("People say such things when they are angry, so the answer is B.", "B"),
    ("The answer is B, which is not what the words say.", "B"),
    ("The answer is B, a sarcastic remark.", "B"),
    ("The answer is B because why else would she say it?", "B"),
    ("B\n\nShe says \"I'm sorry\", but I can't tell that she means it.", "B"),
    ("Final Answer: B, e.g. because of the rain", "B"),
    ("Final Answer: B. A is too literal, and there is no A in it.", "B"),
    ("B because", "B"),
    ("B, because A is wrong", "B"),
    ("The literal option is A, the best option is F.", "F"),
    ("Correct answer: C. Wrong answers: A, B", "C"),
    ("$\\boxed{\\text{B}}$", "B"),
    ("<answer>B</answer>", "B"),
    ("She means it kindly, I think.\n<answer>B</answer>", "B"),
    ("The rest is a tease. <final_answer> (B) </final_answer>", "B"),
    ("Final Answer: <answer>B</answer>", "B"),
    ("The best possible answer is C.", "C"),
    ("Based on the context, the best answer is:\n\n**D. It has kept them out of the wind**", "D"),
    # A letter with its option's own text, and the text alone.
    ("D. It has kept them out of the wind. She says so because it has not.", "D"),
    ("D. It has kept them out of the wind (sarcasm)", "D"),
    ("D. It has kept them out of the wind", "D"),
    ("D) It has kept them out of the wind.", "D"),
    ("(D) It has kept them out of the wind", "D"),
    ("D: It has kept them out of the wind", "D"),
    ("D - It has kept them out of the wind", "D"),
    ("**D. It has kept them out of the wind**", "D"),
    ("d. it has kept them out of the wind", "D"),
    ("D. “It has kept them out of the wind”", "D"),
    ("D. It has kept them", "D"),
    ("A. She is glad that the tent let in the rain", "A"),
    ("E. A good tent is worth its price, isn’t it?", "E"),
    ("It has kept them out of the wind", "D"),
    ("it has kept them out of the wind.", "D"),
    ("IT HAS KEPT THEM OUT OF THE WIND!", "D"),
    ('"It has kept them out of the wind."', "D"),
    ("A good tent is worth its price, isn’t it?", "E"),
    ("The tent leaks and she blames him for it", "F"),
    ("F. The tent leaks, and she blames him for it\n\nShe is soaked and says the opposite.", "F"),
    ("She says the opposite.\nF. The tent leaks, and she blames him for it", "F"),
    ("The answer is: It has kept them out of the wind.", "D"),
    # JSON.
    ('{"answer": "B"}', "B"),
    ('{"Answer": "b"}', "B"),
    ('{"final_answer": "B"}', "B"),
    ('{"final answer": "(B)"}', "B"),
    ('{"choice": "B", "reason": "A is too literal"}', "B"),
    ('{"reasoning": "the answer is A? no", "answer": "C"}', "C"),
    ('{"letter": "C"}', "C"),
    ('{"answer": ["C"]}', "C"),
    ('{"answer": "D. It has kept them out of the wind"}', "D"),
    ('{"answer": "It has kept them out of the wind"}', "D"),
    ('```json\n{"answer": "B"}\n```', "B"),
    ('Here is my answer:\n```json\n{"answer": "B"}\n```', "B"),
    ('{"정답": "B"}', "B"),
]
UNREAD = [
    "<answer>B</answer> or <answer>C</answer>",
    "<answer></answer>",
    # Two letters, or none.
    "Final Answer: all of them",
    "Final Answer: A good question",
    "Final Answer: a man",
    "Final Answer: B or C",
    "Final Answer: **B** and **C**",
    "Final Answer: A, B",
    "Final Answer: B/C",
    "final answer: b or c",
    "Final Answer: B\nNo, wait: C",
    "Final Answer: B or maybe C",
    "Final Answer: B, possibly C",
    "Final Answer: B, but it could be C",
    "Final Answer: B\nActually, C",
    "Final Answer: B\nThe answer is C",
    "Final Answer: B?",
    "Final Answer: G",
    "Final Answer: Because",
    "Final Answer: X",
    "Final Answer: B's meaning",
    "Final Answer:",
    "Final Answer: A\nFinal Answer: none",
    "Final Answer: none of the above",
    "Final Answer: D. The tent is new and works as promised",
    "A or B",
    "either A or B",
    "Either A or B.",
    "A or maybe C",
    "A and B",
    "A, B",
    "A/B",
    "AB",
    "A B",
    "A\nB",
    "B?",
    "The answer is either A or B.",
    "The answer is A or maybe C.",
    "The answer is B or C.",
    "The answer is both A and C.",
    "The answer is B, or C.",
    "The answer is B. The answer is C.",
    "Answer: A\nAnswer: C",
    "Answer: B / C",
    "I choose B or C.",
    "I would go with B or maybe D.",
    "It could be B or C.\nB",
    "B or C. I choose B.",
    "B is the best answer. C is the best answer.",
    # Negations, conditions, questions, other people's answers.
    "The answer is not B.",
    "The answer isn't B.",
    "I do not think the answer is B.",
    "I don't think the answer is B.",
    "If the answer is B, then she is glad.",
    "Is the answer B?",
    "The answer is B?",
    "B is not correct.",
    "B is incorrect.",
    "Some people would say the answer is B.",
    "The answer is B is wrong.",
    "The answer might be B.",
    "The answer could be B.",
    "Wrong answer: C",
    "The wrong answer is C.",
    "The least likely answer is C.",
    "One tempting answer is C.",
    "A possible answer is C.",
    "Another option is C.",
    # Refusals.
    "I cannot answer this question.",
    "I'm sorry, but I can't help with that. A",
    "As an AI, I have no opinion. The answer is B.",
    "I am unable to determine which option is best.",
    "I don't know.",
    "I'm not sure, B",
    "It is impossible to say.",
    "None of the above",
    "All of the above",
    # Letters that are no answers.
    "A good question",
    "A cat",
    "A man walks in.",
    "A speaker who is annoyed would say the opposite.",
    "The answer is a difficult one.",
    "The answer is a",
    "The answer is A matter of taste.",
    "I choose A different path.",
    "I say a lot.",
    "Plan B is the best option.",
    "Vitamin C is the best.",
    "E. coli is found there.",
    "A. Smith was late.",
    "C: drive",
    "D. He means something else entirely",
    "It is a tent.",
    "It is A tent.",
    "I think it's a joke.",
    "Grade: A",
    "B-movies are fun.",
    "Because",
    "F5",
    "42",
    "G",
    "X",
    "",
    "   ",
    "...",
    "No answer",
    "Answer:",
    "Answer: none",
    "Answer: G",
    "Answer: Because she is sad",
    "<think>The answer is B",
    "<think>The answer is B</think>",
    # Option texts that name two options, or none.
    "D. The tent is new and works as promised",
    "It has kept them out of the wind\nThe tent is new and works as promised",
    "It has",
    "The tent",
    "out of the wind",
    "She says: it has kept them out of the wind, ha.",
    "A. She is glad that the tent let in the rain\nB. The tent is new and works as promised",
    # JSON without one letter.
    '{"answer": "A or B"}',
    '{"answer": ["A", "B"]}',
    '{"answer": ""}',
    '{"answer": null}',
    '{"answer": "none"}',
    '{"answer": 2}',
    '{"answer": "A"} {"answer": "B"}',
    '{"answer": "A", "choice": "B"}',
    '{"reason": "B"}',
    '{"answer": "B',
]
READ_KOREAN = [
    ("Final Answer: B", "B"),
    ("정답: B", "B"),
    ("정답 : B", "B"),
    ("정답：B", "B"),
    ("정답: (B)", "B"),
    ("정답: **B**", "B"),
    ("**정답:** B", "B"),
    ("정답은 B입니다.", "B"),
    ("정답은 B입니다", "B"),
    ("정답은 **B**입니다.", "B"),
    ("정답은 (B)입니다.", "B"),
    ("정답은 B번입니다.", "B"),
    ("정답은 B이다.", "B"),
    ("정답은 B예요.", "B"),
    ("정답은 바로 B입니다.", "B"),
    ("답은 C입니다", "C"),
    ("답은 C", "C"),
    ("답: C", "C"),
    ("답: C번", "C"),
    ("답변: C", "C"),
    ("제 답은 C입니다.", "C"),
    ("선택: C", "C"),
    ("최종 답: C입니다", "C"),
    ("최종 정답은 C입니다.", "C"),
    ("C입니다.", "C"),
    ("정답 C", "C"),
    ("가장 알맞은 보기는 C입니다.", "C"),
    ("B는 정답이 아니고 C가 정답입니다", "C"),
    ("C번", "C"),
    ("C번입니다.", "C"),
    ("보기 C", "C"),
    ("보기 C입니다.", "C"),
    ("C가 정답입니다.", "C"),
    ("C번이 가장 알맞습니다.", "C"),
    ("C가 가장 적절합니다.", "C"),
    ("저는 C를 선택하겠습니다.", "C"),
    ("B. 동생이 늦어서 화가 났다", "B"),
    ("B) 동생이 늦어서 화가 났다.", "B"),
    ("정답: B. 동생이 늦어서 화가 났다", "B"),
    ("정답은 B. 동생이 늦어서 화가 났다 입니다.", "B"),
    ("동생이 늦어서 화가 났다", "B"),
    ("동생이 늦어서 화가 났다.", "B"),
    ("“동생이 늦어서 화가 났다.”", "B"),
    ("정답: 동생이 늦어서 화가 났다", "B"),
    ('{"정답": "B"}', "B"),
    ('{"answer": "B. 동생이 늦어서 화가 났다"}', "B"),
    ("동생이 한 시간 늦었으므로 반어법이다.\n정답: B", "B"),
    ("B\n\n동생이 늦었기 때문입니다.", "B"),
]
UNREAD_KOREAN = [
    "정답: A 또는 B",
    "정답은 A 또는 B입니다.",
    "정답은 A나 B입니다.",
    "A 혹은 B",
    "A 아니면 C입니다",
    "A와 B",
    "정답은 B가 아닙니다.",
    "B는 정답이 아닙니다.",
    "정답은 B가 아니라고 생각합니다.",
    "정답은 B인가요?",
    "정답은 없습니다.",
    "정답: 없음",
    "모르겠습니다.",
    "오답: B",
    "오답은 B입니다.",
    "답할 수 없습니다.",
    "죄송하지만 답변할 수 없습니다. B",
    "알 수 없습니다",
    "정답: A\n정답: B",
    "정답은 A입니다. 정답은 B입니다.",
    "A. 동생이 늦어서 화가 났다",
    "동생이",
    "비타민 C",
    "A형 독감",
    "B급 영화",
    "좋은 질문입니다.",
    "만약 정답은 B라면",
]


@pytest.mark.parametrize(("text", "letter"), READ)
def test_english_answers_are_read(text, letter):
    assert read_letter(text, OPTIONS) == letter


@pytest.mark.parametrize("text", UNREAD)
def test_english_replies_without_one_answer_are_unread(text):
    assert read_letter(text, OPTIONS) is None


@pytest.mark.parametrize(("text", "letter"), READ_KOREAN)
def test_korean_answers_are_read(text, letter):
    assert read_letter(text, KOREAN) == letter


@pytest.mark.parametrize("text", UNREAD_KOREAN)
def test_korean_replies_without_one_answer_are_unread(text):
    assert read_letter(text, KOREAN) is None


def test_there_are_enough_forms():
    assert len({*READ, *READ_KOREAN}) + len({*UNREAD, *UNREAD_KOREAN}) >= 150


@given(st.text(max_size=80), st.sampled_from("ABCDEF"))
@example("<think>", "B")
def test_what_stands_last_counts_whatever_came_before(before, letter):
    reply = f"{before}\nFinal Answer: {letter}"
    assert read_letter(reply) == (None if before.lstrip().startswith("<think>") else letter)


@given(st.text(max_size=200))
def test_any_text_is_read_or_not(text):
    assert read_letter(text, OPTIONS) in {None, *"ABCDEF"}


WORDS = """
the of to and in that it is was for on are as with his they at be this have from or one had by but not what
all were we when your can said there use an each which she do how their if will up other about out many then
them these so some her would make like him into time has look two more go see no way could people than first
been who its now find long down day did get come made may part speaker sarcastic meaning rain tent answer
option best correct choice letter I a A An The Because Be Did Face Cab Dad Bee 비 가 정답 답 보기 말하는 사람은
화가 났다 그래서 좋다 반어법이다 질문
""".split()  # noqa: SIM905
SEPARATORS = (" ", " ", " ", " ", ". ", ", ", "\n", "? ", "! ", "; ", ' "', '" ', "...")


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SEPARATORS)), min_size=2, max_size=40))
def test_random_words_name_no_letter(pieces):
    """Of these words only the article could be a letter: as a line of its own, or after "answer is"."""
    text = "".join(word + separator for word, separator in pieces)
    letter = read_letter(text, OPTIONS)
    assert letter in (None, "A")
    if letter == "A":  # in lower case too where it is all there is: "choice a"
        marks = ("A.", "A,", "A?", "A!", "A;", 'A"')
        assert "A" in text.upper().split() or any(mark in text.upper() for mark in marks)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([word for word in WORDS if word not in "aA"]), max_size=60))
def test_words_without_a_letter_name_no_letter(words):
    assert read_letter(" ".join(words), OPTIONS) is None


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="ABCDEFabcdef", max_codepoint=0x2FF), max_size=120))
def test_text_without_the_six_letters_is_unread(text):
    assume(not set("abcdef") & set(unicodedata.normalize("NFKC", text).lower()))  # ª is a raised a
    assert read_letter(text, OPTIONS) is None


@pytest.mark.parametrize(
    "piece", [" ", "* ", "\n", "answer is ", "A ", "B is ", "((", "{", '{"answer": ', "정답은 ", "if ", "a, "]
)
def test_a_model_that_repeats_itself_takes_no_time_to_read(piece):
    assert read_letter(piece * 5_000, OPTIONS) is None


PROMPT = """Read what happened and what was said, then answer the question.

Mira reads the sign on the quiz machine aloud.
The answer is B
Answer: C

Mira: "The answer is D."

Question: What does Mira mean by "Final Answer: E"?
Final Answer: F

{}

Reply with one line and nothing else, X being the letter of the best option:
Final Answer: X""".format("\n".join(f"{letter}. {text}" for letter, text in zip("ABCDEF", OPTIONS, strict=True)))  # fmt: skip


def test_an_answer_is_never_read_from_the_question_itself():
    assert read_letter(PROMPT, OPTIONS, PROMPT) is None
    lines = PROMPT.splitlines()
    for start in range(len(lines)):
        repeated = "\n".join(lines[start : start + 4])
        own = sum(line[1:3] == ". " for line in lines[start : start + 4])
        assert read_letter(repeated, OPTIONS, PROMPT) is None or own == 1
    assert read_letter(f"{PROMPT}\nFinal Answer: B", OPTIONS, PROMPT) == "B"
    assert read_letter("D. It has kept them out of the wind", OPTIONS, PROMPT) == "D"


def test_texts_belong_to_the_order_that_was_shown():
    assert read_letter("It has kept them out of the wind", OPTIONS[::-1]) == "C"
    assert read_letter("D. It has kept them out of the wind", OPTIONS[::-1]) is None
    assert read_letter("It has kept them out of the wind") is None
    twice = (*OPTIONS[:5], OPTIONS[3])
    assert read_letter("It has kept them out of the wind", twice) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Final Answer: B", True),
        ("  Final Answer: B.\n", True),
        ("<think>Hm, A?</think>\n\nFinal Answer: B", True),
        ("final answer: b", False),
        ("**Final Answer:** B", False),
        ("Final Answer: G", False),
        ("She is annoyed.\nFinal Answer: B", False),
        ("Final Answer: B because", False),
        ("B", False),
        ("", False),
    ],
)
def test_the_asked_form_is_one_line_and_nothing_else(text, kept):
    assert kept_form(text) is kept


def test_the_asked_form_of_constrained_decoding_is_a_letter():
    assert kept_form("B", constrained=True)
    assert not kept_form("Final Answer: B", constrained=True)
    assert kept_form("She is annoyed.\nFinal Answer: B", constrained=True, reasoned=True)
    assert not kept_form("B", constrained=True, reasoned=True)


def test_a_letter_means_the_option_that_was_shown_there():
    assert place_of("B", (5, 2, 0, 1, 3, 4)) == 2
    assert place_of(None, (0, 1, 2, 3, 4, 5)) is None
