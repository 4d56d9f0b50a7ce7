"""The stop about generation shows what was kept and what was dropped, and accounts for every dialogue."""

from __future__ import annotations

from deadpan.page import Page
from deadpan.tour import stages as module
from deadpan.tour.guide import Guide
from deadpan.tour.stages import Recorded, dialogue_stop, read_recorded


def visit(folder, monkeypatch, dialogues):
    recorded = Recorded(dialogues)
    monkeypatch.setattr(module, "read_recorded", lambda: recorded)
    guide = Guide(Page("Tour"), folder)
    dialogue_stop(guide)
    return guide.page.html(), guide.finding


def draft(name, response="How lovely.", explanation="The rain is not lovely."):
    turns = [{"speaker": "A", "text": "It rains again."}]
    return {"id": name, "context": turns, "response": {"speaker": "B", "text": response}, "explanation": explanation}  # fmt: skip


def run(kept=(), dropped=(), **more):
    counts = {"read": len(kept) + len(dropped), "kept": list(kept), "dropped": list(dropped)}
    return {"model": "embedded/small", "date": "2026-11-17", **counts, **more}


def test_every_recorded_dialogue_is_accounted_for(tmp_path):
    guide = Guide(Page("Tour"), tmp_path)
    dialogue_stop(guide)
    recorded = read_recorded()
    kept, dropped = recorded.kept(), recorded.dropped()
    assert recorded.run["read"] == len(kept) + len(dropped)
    assert f"from {recorded.run['read']} sources" in guide.finding
    assert f"{len(kept)} go to people" in guide.finding
    assert recorded.origin in guide.page.html()


def test_a_drop_is_shown_with_its_reason(tmp_path, monkeypatch):
    reason = {"step": "response", "reason": "no_contrast", "detail": "0.1", "draft": draft("one", "It is bad.")}
    page, finding = visit(tmp_path, monkeypatch, run([draft("two")], [reason]))
    assert "dropped by the step response: no response sounds friendly" in page and "It is bad." in page
    assert "(no_contrast: 0.1)" in page and "dropped, response: no_contrast" in page
    assert "dropped 1: no response sounds friendly when taken literally. 1 go to people" in finding
    assert "not sarcastic just because a model wrote it" in page


def test_a_drop_without_a_dialogue_is_shown_in_the_models_words(tmp_path, monkeypatch):
    drops = [{"step": "scene", "reason": "no_such_reason", "raw": "I cannot <do> that."}] * 2
    page, finding = visit(tmp_path, monkeypatch, run(dropped=drops))
    assert "I cannot &lt;do&gt; that." in page and "Kept, for people to judge" not in page
    assert "Dropped by the step scene: no such reason (no_such_reason)." in page
    assert "The filters dropped 2. 0 go to people" in finding
