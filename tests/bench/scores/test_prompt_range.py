"""Several prompts: each is a run of its own, the paper's stays the headline, the range stands beside it."""

from __future__ import annotations

import pytest

from bench_items import FAST, Scripted, job, right, says, small_set
from deadpan.bench.items.prompts import OwnPrompt
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.runs.run import run_models
from deadpan.bench.runs.submission import check_submission
from deadpan.bench.scores.report import score_bench
from deadpan.bench.site.write import write_leaderboard
from deadpan.errors import ConfigError, DataError

SET = small_set(10)
MODEL = "openai/gpt-4o"
TERSE = '{speaker}: "{utterance}" {question}\n{options}\nOne letter.'


@pytest.fixture
def prompt(tmp_path):
    def written(name, text):
        path = tmp_path / f"{name}.txt"
        path.write_text(text)
        return OwnPrompt.read(path)

    return written


def ask(out, *prompts):
    """A model that is right by the paper's prompt and wrong on four of twenty items by another."""

    def answer(q, limit, n):
        return (
            right(q)
            if "Exactly one option is best" in q.prompt or int(q.item.id[1]) > 1
            else says((q.item.answer + 1) % 6, q)
        )

    model = Scripted(answer)
    run_models([MODEL], job(SET), out, clock=FAST, answerers={MODEL: model}, prompts=prompts)
    return model


def test_each_prompt_is_a_run_and_the_papers_stays_the_headline(tmp_path, prompt):
    own = prompt("terse", TERSE)
    out = tmp_path / "runs"
    model = ask(out, own)
    assert len(model.asked) == 2 * 60
    found = score_bench(out)
    assert [each.avg.value for each in found.scores] == [1.0]
    [each] = found.prompts
    assert {name: score.value for name, score in each.scores} == {"zero-shot": 1.0, "prompt-terse": 0.8}
    assert (each.mean, min(each.values), each.flips.value) == (0.9, 0.8, 0.2)
    assert each.spread == pytest.approx(0.2)
    assert "Range over prompts" in found.summary().text()


def test_options_are_shuffled_by_seed_in_all_but_the_papers_prompt(tmp_path, prompt):
    ask(tmp_path / "runs", prompt("terse", TERSE))
    paper, own = sorted(find_runs([tmp_path / "runs"]), key=lambda run: run.plan.own_prompt)
    assert {row.order for row in paper.rows} == {"ABCDEF"}
    assert len({row.order for row in own.rows}) > 20
    assert own.plan.prompt_texts == {"en": TERSE}
    assert check_submission(own.path, SET).rows == 60


def test_a_model_without_the_papers_prompt_keeps_its_row(tmp_path, prompt):
    ask(tmp_path / "runs", prompt("terse", TERSE))
    other = "openai/gpt-5"
    run_models([other], job(SET), tmp_path / "more", clock=FAST, answerers={other: Scripted(right)},
               prompts=[prompt("terse", TERSE)])  # fmt: skip
    [own] = [run.path for run in find_runs([tmp_path / "more"]) if run.plan.own_prompt]
    assert score_bench([tmp_path / "runs", own]).names == (MODEL, f"{other}+prompt-terse")


def test_the_board_shows_the_range(tmp_path, prompt):
    ask(tmp_path / "runs", prompt("terse", TERSE))
    write_leaderboard([tmp_path / "runs"], tmp_path / "site", items=SET)
    page = (tmp_path / "site" / "index.html").read_text()
    assert "2 prompts: 0.80 to 1.00" in page and "20 % of items flip" in page
    assert page.count('<th scope="row" class="who" data-v="gpt-4o">') == 1


def test_a_finished_prompt_is_not_asked_again_and_a_changed_one_is_another(tmp_path, prompt):
    ask(tmp_path / "runs", prompt("terse", TERSE))
    assert ask(tmp_path / "runs", prompt("terse", TERSE)).asked == []
    with pytest.raises(ConfigError, match="another prompt"):
        ask(tmp_path / "runs", prompt("terse", TERSE + "!"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{utterance} {question}", "no {options}"),
        ("{mood}{options}", "unknown field {mood}"),
        ("{utterance} {question} {options:d}", "unknown field {options:d}"),
        ("{utterance!r} {question} {options}", "unknown field {utterance!r}"),
        ("{options", "not a prompt"),
    ],
)
def test_a_prompt_that_cannot_be_asked_is_refused(prompt, text, said):
    with pytest.raises((ConfigError, DataError), match=said):
        prompt("bad", text)


def test_a_prompt_that_is_not_there_is_an_error_without_the_words_of_the_system(tmp_path):
    with pytest.raises(DataError, match=r"nope\.txt: cannot be read \(No such file or directory\)"):
        OwnPrompt.read(tmp_path / "nope.txt")
