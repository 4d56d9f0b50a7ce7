"""Studies in informative order: asked by teaching value, control kept, agreement from the control."""

from __future__ import annotations

import pytest

from deadpan.errors import DeadpanError
from deadpan.formats.study import AnnotateItem, ReaderJudgmentItem, Study
from deadpan.records import Prediction, Turn
from deadpan.storage import read_manifest
from deadpan.studio.records.export import export_study
from deadpan.studio.records.labels import study_results
from deadpan.studio.records.studies import create_study, order_items


class Scripted:
    """A predictor that is unsure of every third item."""

    def fit(self, examples):
        return self

    def predict(self, examples):
        return [Prediction(e.id, True, 0.5 if int(e.id) % 3 == 0 else 0.98) for e in examples]

    def save(self, folder):
        raise AssertionError

    @classmethod
    def load(cls, folder):
        return cls()


def items(n: int = 60):
    return [AnnotateItem(str(i), Turn("B", f"a{i} b{i} c{i} d{i}"), (Turn("A", "well"),)) for i in range(n)]


def test_unsure_items_are_asked_first():
    order = order_items(items(), Scripted(), "informative")
    asked = [int(name) for name in order.ids if name not in order.control][:12]
    assert all(at % 3 == 0 for at in asked)
    assert len(order.control) == 12


def test_random_order_and_mistakes():
    assert order_items(items(), None, "random") is None
    with pytest.raises(DeadpanError, match="needs a detector"):
        order_items(items(), None, "informative")
    with pytest.raises(DeadpanError, match="unknown order"):
        order_items(items(), None, "inform")


def stored(count: int = 20):
    """A stored study in informative order, and that order."""
    plan = [ReaderJudgmentItem(item.id, item.response, item.context) for item in items(count)]
    order = order_items(plan, Scripted(), "informative")
    return create_study("teach", Study("reader-judgment", "Replies", raters_per_item=2), plan, "test", order), order


def test_a_stored_study_asks_in_that_order_and_raters_see_no_difference(site):
    study, order = stored()
    client = site.person(study)
    asked = []
    for _ in range(6):
        address = site.open_item(client, study)
        page = client.get(address).content.decode()
        assert not any(word in page.lower() for word in ("informative", "uncertain", "stratum"))
        asked.append(next(item.id for item in items(20) if item.response.text in page))
        site.save(client, address, sarcastic="sarcastic")
    assert asked == list(order.ids[:6])
    assert set(asked) & set(order.control)


def test_agreement_and_the_export_use_the_control_stratum(site, tmp_path):
    study, order = stored()
    for at in range(2):
        # The two agree on the control stratum and on nothing else.
        def answer(item_id: str, first: bool = at == 0) -> dict[str, str]:
            yes = int(item_id) % 2 == 0 if item_id in order.control else first
            return {"sarcastic": "sarcastic" if yes else "not sarcastic"}

        assert site.answer_all(site.person(study), study, answer) == 20
    found = study_results(study, resamples=20).agreement["sarcastic"]
    assert (found["raw"].value, found.n_items) == (1.0, len(order.control))
    export_study(study, tmp_path / "out")
    assert read_manifest(tmp_path / "out").config["control"] == sorted(order.control)
