"""[prompted]: prompts that show examples, and answers that are read strictly."""

from __future__ import annotations

import pytest

from deadpan.detect.systems.prompted import Prompted, prompts
from deadpan.errors import ConfigError
from deadpan.llm import Reply
from detect_corpus import word_corpus


@pytest.mark.parametrize("name", ["kocosa-en", "kocosa-ko", "yes-no"])
def test_a_prompt_shows_its_examples_and_reads_strictly(name):
    prompt = prompts()[name]
    message = prompt.write("A: hm {x}\nB: great", [("A: a", True), ("B: b", False)])
    assert message.index(prompt.task) < message.index("A: a") < message.index("B: b") < message.index("B: great")
    assert prompt.read(f' "{prompt.yes.upper()}." ') is True
    assert prompt.read(prompt.no) is False
    for unclear in ("", "maybe", f"{prompt.yes} or {prompt.no}", "10", "yes, because"):
        assert prompt.read(unclear) is None


class Certain:
    """A model that leans to yes by far, a little more so where the word is in the text."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def complete_many(self, asked, on_reply):
        likely = [0.98 if "sure" in messages[0]["content"].rpartition("Given")[2] else 0.9 for messages in asked]
        return [Reply("1", "stop", None, None, 0.0, "x", probabilities={"1": one, "0": 1 - one}) for one in likely]


def test_probabilities_of_tokens_are_scores_and_can_be_calibrated(tmp_path, monkeypatch):
    monkeypatch.setattr(Prompted, "_client", Certain())
    rows = word_corpus()
    plain = Prompted(model="x", probabilities=True, turns=0).fit(rows)
    assert {round(p.score, 2) for p in plain.predict(rows)} == {0.98, 0.9}
    model = Prompted(model="x", probabilities=True, calibrate=40, shots=2, turns=0).fit(rows)
    answers = model.predict(rows)
    assert [p.label for p in answers] == [e.label for e in rows]
    model.save(tmp_path)
    assert Prompted.load(tmp_path).predict(rows) == answers
    with pytest.raises(ConfigError, match="probabilities"):
        Prompted(model="x", calibrate=10)


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Yes, this sentence is sarcastic. It says the opposite.", True),
        ("The sentence is sarcastic because nobody enjoys queues.", True),
        ("No. The speaker means it.", False),
        ("This sentence is not sarcastic. It is plain praise.", False),
        ("It isn’t sarcastic.", False),
        ("The sentence is non-sarcastic.", False),
        ("It depends: the sentence could be sarcastic.", None),
        ("Hard to say.", None),
        ("", None),
    ],
)
def test_an_answer_in_sentences_is_read_where_it_is_clear(answer, label):
    assert prompts()["budda-2024"].read(answer) is label
