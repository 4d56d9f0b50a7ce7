"""A glance never turns away a line that is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.adversary import adversary
from deadpan.corpus.ingest.dumps import find_dumps
from deadpan.corpus.recount import dumps
from deadpan.corpus.recount.dumps import Recount
from deadpan.corpus.recount.glance import glance
from deadpan.corpus.settings import CorpusSettings

WANTED = (
    b'{"id":"abc"}', b'{"id" : "abc"}', b'{"id":"t1_abc"}', b'{"id":"\\u0061bc"}', b'{"\\u0069d":"abc"}',
    b'{"id":"x","parent_id":"t1_abc"}', b'{"parent_id":"abc","id":"x"}',
    b'{"awards":[{"id":"gold"}],"parent_id":"t3_q","id":"abc"}',
    b'{"parent_id":"t3_q"}', b'{"id":5,"parent_id":"t3_q"}', b'{"id":null,"parent_id":"t3_q"}',
    b'{"awards":[{"id":"gold"}],"id":5,"parent_id":"t3_q"}', b'{"id":"ab\\/c","parent_id":"t3_q"}',
)  # fmt: skip
OTHERS = (
    b'{"id":"abcd","parent_id":"t3_q"}', b'{"id":"ABC","parent_id":"t3_q"}',
    b'{"id":"x","parent_id":"t3_q","link_id":"t3_abc","body":"abc \\"id\\":\\"abc\\""}',
)  # fmt: skip


@pytest.mark.parametrize("line", WANTED)
def test_a_line_that_may_be_wanted_is_parsed(line: bytes) -> None:
    assert glance(["id", "parent_id"], ["t1_abc"])(line)


@pytest.mark.parametrize("line", OTHERS)
def test_a_line_that_cannot_be_wanted_is_not_parsed(line: bytes) -> None:
    assert not glance(["id", "parent_id"], ["t1_abc"])(line)


def test_a_sample_is_the_same_without_glances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = adversary(61, comments=150).write(tmp_path)
    recount = Recount(find_dumps([str(path) for path in paths])[0], CorpusSettings(), lambda author: False)
    quick = [recount.sample(4, seed) for seed in range(6)]
    monkeypatch.setattr(dumps, "glance", lambda names, wanted: None)
    slow = [recount.sample(4, seed) for seed in range(6)]
    assert any(ids for _, ids in quick)
    for (one, ids), (other, same) in zip(quick, slow, strict=True):
        assert ids == same and (one.comments, one.posts) == (other.comments, other.posts)
