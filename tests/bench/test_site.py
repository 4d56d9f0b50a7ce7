"""The leaderboard: says what differs, shows nothing private, leaves incomplete runs off."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from bench_items import FAST, Scripted, job, right, says, small_set
from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.prompts import REASONED
from deadpan.bench.runs.folder import find_runs, read_run
from deadpan.bench.runs.run import run_models
from deadpan.bench.site.board import make_board, named
from deadpan.bench.site.pages import reach, take_part
from deadpan.bench.site.write import write_leaderboard, write_site
from deadpan.errors import DataError
from deadpan.llm.retries import Failed

SET = small_set(12)


def add(folder, name, answer, items=SET, **changes):
    run_models([name], job(items, **changes), folder, clock=FAST, answerers={name: Scripted(answer)})


def wrong(question, limit, before):
    return says((question.item.answer + 1) % 6, question)


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    add(folder, "openai/gpt-4o", right)
    add(folder, "anthropic/twin", right)
    add(folder, "mistral/low", wrong)
    run_models(["baseline/random"], job(SET), folder)
    return folder


def test_ranks_tie_where_models_do_not_differ(runs):
    board, _ = make_board(find_runs([runs]))
    found = {entry.scores.model: entry.rank for entry in board.entries}
    assert found == {"openai/gpt-4o": "1 to 2", "anthropic/twin": "1 to 2", "mistral/low": "3", "baseline/random": "–"}


def test_the_page_says_what_it_must(runs, tmp_path):
    write_site(find_runs([runs]), tmp_path / "site", SET)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    for words in (
        "may each be first",
        "Chance",
        "pending",
        "not significantly different",
        "lower by",
        SET.hash[:12],
        "OpenAI",
    ):
        assert words in page, words
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert re.search(r"script-src (&#x27;|')sha256-", page)
    assert (tmp_path / "site" / "data" / "rows.parquet").exists()
    item = (tmp_path / "site" / "items" / "i0-0.html").read_text(encoding="utf-8")
    assert "✓ the answer" in item
    assert "the other item of the pair" in item
    assert "67 % of models’ answers right" in item
    assert item.count("67 % of models’ answers<") == 1, "people and baselines are not models"


def test_incomplete_and_partial_runs_stay_off(runs, tmp_path):
    add(runs, "openai/broken", lambda q, limit, n: Failed("x") if q.run == 2 else right(q), retries=0)
    add(runs, "openai/part", right, limit=4)
    written = write_site(find_runs([runs]), tmp_path / "site", SET)
    assert dict(written.excluded) == {
        "openai/broken": "incomplete, 24 of 72 rows missing",
        "openai/part": "asked 4 of 24 items",
    }
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    below = page.partition("Runs on part of the set")[2].partition("</table>")[0]
    assert "4 of 24" in below and "broken" not in below
    scores = json.loads((tmp_path / "site" / "data" / "scores.json").read_text())
    assert "openai/broken" not in {each["model"] for each in scores["scores"]}


def test_reasoning_on_a_part_is_beside_the_direct_answers_to_it(runs, tmp_path):
    add(runs, "openai/gpt-4o", wrong, limit=4, prompt=REASONED)
    board, _ = make_board(find_runs([runs]))
    (part,) = board.parts
    assert part.scores.model == "openai/gpt-4o+reasoning" and part.scores.n == 4
    assert (part.scores.avg.value, part.direct.value, part.gap.difference.value) == (0.0, 1.0, -1.0)
    write_site(find_runs([runs]), tmp_path / "site", SET)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    below = page.partition("Runs on part of the set")[2].partition("</table>")[0]
    assert re.search(r"<b>0\.0+</b>", below) and re.search(r"<b>1\.0+</b>", below)


def test_a_run_with_a_row_taken_out_is_incomplete(runs):
    rows = runs / "openai-gpt-4o" / "rows.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(True)[:-1]))
    assert not read_run(runs / "openai-gpt-4o").complete


def test_nothing_of_a_private_set_is_shown(tmp_path):
    items = small_set(8, visibility="private")
    add(tmp_path / "runs", "openai/gpt-4o", right, items)
    report = write_leaderboard([tmp_path / "runs"], tmp_path / "site", items=items)
    assert report.pages == 0 and 'visibility = "public"' in report.note, "the reason is given"
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    text = b"".join(path.read_bytes() for path in files)
    assert items.hash[:12].encode() in text
    for secret in (b"Lovely", b"i0-0", b"Final Answer: A"):
        assert secret not in text, secret
    assert {path.name for path in files} == {"index.html", "scores.json", "manifest.json"}


def test_a_reader_learns_what_it_is_and_how_to_take_part(runs, tmp_path):
    write_site(find_runs([runs]), tmp_path / "site", SET)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    for words in ("What it is", "N. Budda", "word for word (ko)", "--submission", "Accuracy and tokens"):
        assert words in page, words
    assert page.count('type="checkbox"') == 4, "three families and the baselines"
    assert 'data-family="OpenAI"' in page
    tried = (tmp_path / "site" / "try.html").read_text(encoding="utf-8")
    assert tried.count("<summary>The answer</summary>") == 10


def test_a_set_of_the_package_says_what_it_can_tell(runs):
    board, _ = make_board(find_runs([runs]))
    assert "floor test" in reach(replace(board, set=DEFAULT_SET))
    assert reach(replace(board, set="public@0.3.0")) == "", "the reading was of the default set"
    assert reach(replace(board, set="mine@1.0.0")) == "", "nobody knows how difficult it is"


def test_the_commands_name_a_file_for_a_set_that_does_not_come_with_the_package(runs):
    board, _ = make_board(find_runs([runs]))
    mine, known = take_part(replace(board, set="mine@1.0.0")), take_part(replace(board, set=DEFAULT_SET))
    assert "--set FILE" in mine and "check FILE --submission" in mine and board.set_hash[:12] in mine
    assert f"--set {DEFAULT_SET}" in known and "check --submission" in known and "FILE" not in known


def test_models_that_are_held_to_the_form_are_named(runs):
    board, _ = make_board(find_runs([runs]))
    assert "A grammar constrains" not in take_part(board)
    add(runs, "embedded/smollm2-135m", right)
    assert "A grammar constrains" in take_part(make_board(find_runs([runs]))[0])


def test_shuffled_options_have_their_own_consistency(tmp_path):
    add(tmp_path / "runs", "openai/steady", right, shuffle=True)
    add(tmp_path / "runs", "openai/first", lambda q, limit, n: says(q.order[0], q), shuffle=True)
    found = {each.scores.model: each.scores for each in make_board(find_runs([tmp_path / "runs"]))[0].entries}
    assert found["openai/steady"].shuffle_consistency.value == 1.0
    assert found["openai/first"].shuffle_consistency.value < 0.5
    add(tmp_path / "plain", "openai/steady", right)
    [plain] = make_board(find_runs([tmp_path / "plain"]))[0].entries
    assert plain.scores.shuffle_consistency is None


def test_a_site_leaves_no_page_of_an_earlier_one_behind(runs, tmp_path):
    write_site(find_runs([runs]), tmp_path / "site", SET)
    write_site(find_runs([runs]), tmp_path / "site", None)
    assert not list((tmp_path / "site" / "items").glob("*.html"))
    assert {path.name for path in (tmp_path / "site" / "data").iterdir()} == {"scores.json"}
    assert "items/" not in (tmp_path / "site" / "index.html").read_text(), "no link leads nowhere"


def test_names_cannot_become_markup(tmp_path):
    add(tmp_path / "runs", "openai/<script>alert(1)</script>", right)
    write_site(find_runs([tmp_path / "runs"]), tmp_path / "site", SET)
    assert "<script>alert" not in (tmp_path / "site" / "index.html").read_text()


def test_a_folder_that_is_no_site_is_left_alone(runs, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(DataError, match="not a site"):
        write_site(find_runs([runs]), tmp_path / "mine", SET)
    (tmp_path / "mine" / "thesis.txt").unlink()
    (tmp_path / "mine" / "index.html").write_text("my home page")
    for manifest in ("", "{}", '{"command": "report"}'):
        if manifest:
            (tmp_path / "mine" / "manifest.json").write_text(manifest)
        with pytest.raises(DataError, match="not a site"):
            write_site(find_runs([runs]), tmp_path / "mine", SET)
    assert (tmp_path / "mine" / "index.html").read_text() == "my home page"
    write_site(find_runs([runs]), tmp_path / "site", SET)
    write_site(find_runs([runs]), tmp_path / "site", SET)
    for name in ("manifest.json", "index.html"):  # as after a kill
        (tmp_path / "site" / name).unlink()
    write_site(find_runs([runs]), tmp_path / "site", SET)
    assert (tmp_path / "site" / "index.html").is_file()


def test_providers_have_their_names():
    assert named("openai/gpt-5") == ("gpt-5", "OpenAI")
    assert named("openai-api/together/x/llama") == ("llama", "Together")
    assert named("human") == ("People", "people")
