"""The service as a program calls it: answers, refusals, limits, and what it says about itself."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from deadpan.detect.detector import Detector
from deadpan.errors import ConfigError, DataError, ModelError
from deadpan.formats.labels import label_word
from deadpan.records import Example, Turn
from deadpan.serve import app as app_module
from deadpan.serve.server import ServeSettings, hash_key, read_keys
from pair_corpus import corpus

KEY = "a-key-of-at-least-sixteen-letters"


def test_one_text_is_judged_as_in_process(caller):
    text = "Great, another Monday."
    told = caller.detect({"text": text}).json()
    (prediction,) = Detector.load("base").predict([Example("0", Turn("", text))])
    assert told["model"] == "base"
    assert told["results"][0]["score"] == pytest.approx(prediction.score, abs=1e-6)
    assert told["results"][0]["label"] == label_word(prediction)


def test_a_batch_keeps_its_order_and_ids(caller):
    texts = [f"text number {n}, great" for n in range(50)]
    told = caller.detect({"texts": texts}).json()["results"]
    scores = Detector.load("base").predict_proba(texts)[:, 1]
    assert [row["score"] for row in told] == pytest.approx(scores.tolist(), abs=1e-6)
    inputs = [{"text": "oh sure", "id": "x", "context": ["A", {"speaker": "B", "text": "b"}]}, {"text": "no", "id": 7}]
    assert [row["id"] for row in caller.detect({"inputs": inputs}).json()["results"]] == ["x", "7"]


def test_a_conversation_is_judged_by_its_last_turn_or_turn_by_turn(caller):
    turns = [{"speaker": "A", "text": "It rains."}, "Lovely weather."]
    assert [row["id"] for row in caller.detect({"conversation": turns}).json()["results"]] == ["1"]
    both = caller.detect({"conversation": turns, "each": True, "explain": True}).json()
    assert [row["id"] for row in both["results"]] == ["0", "1"]
    assert [word["text"] for word in both["results"][1]["words"]] == ["Lovely", "weather."]
    assert any("statistical guess" in line for line in both["limits"])


def test_a_model_says_between_which_scores_it_cannot_tell(caller):
    told = caller("GET", "/v1/models").json()["models"][0]
    low, high = told["cannot_tell"]["en"]
    texts = ["Great, another Monday.", "The bus leaves at nine.", "Oh sure, I just love waiting for hours."]
    for result in caller.detect({"texts": texts}).json()["results"]:
        assert (result["label"] == "cannot tell") == (low < result["score"] < high)


def test_an_explained_answer_says_what_it_means(caller):
    texts = ["Great, another Monday.", "わあ、本当に幸せだなあ。", "I love it /s", "?!"]
    great, japanese, marked, empty = caller.detect({"texts": texts, "explain": True}).json()["results"]
    assert "where 50% of texts are sarcastic" in great["meaning"] and any("because" in line for line in great["why"])
    assert great["cannot_tell"] == caller("GET", "/v1/models").json()["models"][0]["cannot_tell"]["en"]
    assert japanese["label"] == "not supported" and japanese["words"] is japanese["cannot_tell"] is None
    assert japanese["meaning"].startswith("This looks like Japanese; this detector knows English")
    assert marked["meaning"] == "The text is marked as sarcastic by its author." and marked["words"] is None
    assert (empty["label"], empty["words"]) == ("cannot tell", None) and "no words" in empty["meaning"]


def test_turns_that_are_not_read_are_not_explained(caller):
    turns = [f"turn {n}" for n in range(100)]
    (told,) = caller.detect({"conversation": turns, "explain": True}).json()["results"]
    assert [piece["text"] for piece in told["context"]] == ["turn 97", "turn 98"]


def test_scores_are_for_the_prevalence_of_the_request(caller, make_caller, tmp_path):
    texts = ["Great, another Monday.", "The bus leaves at nine.", "I love it /s"]
    rare = caller.detect({"texts": texts, "prevalence": 0.05, "explain": True}).json()["results"]
    expected = Detector.load("base").at(0.05).predict_proba(texts)[:, 1]
    assert [row["score"] for row in rare] == pytest.approx(expected.tolist(), abs=1e-6)
    assert "5%" in rare[1]["meaning"]
    for wrong in (0, 1, "half"):
        assert caller.detect({"text": "a", "prevalence": wrong}).json()["error"]["field"] == "prevalence"
    Detector("bow").fit(corpus()).save(tmp_path)
    told = make_caller(models=(f"mine={tmp_path}",)).detect({"text": "a", "model": "mine", "prevalence": 0.1}).json()
    assert (told["error"]["code"], told["error"]["field"]) == ("not_calibrated", "prevalence")


def test_without_keys_only_its_own_address_is_answered(make_caller):
    call = make_caller(rate=0)
    for host in ("127.0.0.1:8080", "localhost", "[::1]:8080"):
        assert call("GET", "/", headers={"host": host}).status_code == 200
    for path in ("/", "/v1/models", "/assets/look.css"):
        refused = call("GET", path, headers={"host": "evil.example"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "foreign_host")
    shared = make_caller(host="0.0.0.0", open=True)
    assert shared("GET", "/health", headers={"host": "lab.example"}).status_code == 200


def test_the_encoder_is_served_first_where_its_weights_are(make_caller):
    from deadpan.detect.detector import encoder_is_ready

    if not encoder_is_ready():
        pytest.skip("needs deadpan models pull minilm-l6")
    call = make_caller(encoder=True, rate=0)
    encoder, base = call("GET", "/v1/models").json()["models"]
    assert (encoder["id"], base["id"]) == ("encoder", "base")
    assert encoder["limits"][-1] == "It knows English only."
    texts = ["Great, it rains.", "회의는 3시에 시작합니다."]
    auto, english, others = (
        [row["score"] for row in call.detect({"texts": texts, **model}).json()["results"]]
        for model in ({}, {"model": "encoder"}, {"model": "base"})
    )
    assert auto == pytest.approx([english[0], others[1]], abs=1e-5) and english[1] is None


def test_saved_models_are_served_under_their_names(make_caller, tmp_path):
    Detector("bow", turns=1).fit(corpus()).save(tmp_path / "mine")
    call = make_caller(models=(f"ours={tmp_path / 'mine'}",))
    told = call("GET", "/v1/models").json()
    assert [(m["id"], m["system"], m["reads_context"]) for m in told["models"]][1] == ("ours", "bow", True)
    assert call.detect({"text": "oh sure", "model": "ours"}).json()["results"][0]["label"] == "sarcastic"
    with pytest.raises(ConfigError, match="two models are called"):
        make_caller(models=(str(tmp_path / "mine"), f"mine={tmp_path / 'mine'}"))
    with pytest.raises(ModelError, match="no detector here"):
        make_caller(models=(str(tmp_path),))


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        (b"{", 400, "not_json", None),
        (b"\xff\xfe", 400, "not_json", None),
        (b"[" * 100_000, 422, "not_an_object", None),
        (b'{"text":' * 100_000, 422, "wrong_type", "text"),
        (b"", 400, "not_json", None),
        (b"[]", 422, "not_an_object", None),
        (b"{}", 422, "no_text", "text"),
        (b'{"text": "a", "texts": ["b"]}', 422, "no_text", "text"),
        (b'{"text": " "}', 422, "no_text", "text"),
        (b'{"text": 3}', 422, "wrong_type", "text"),
        (b'{"txt": "a"}', 422, "unknown_field", "txt"),
        (b'{"texts": []}', 422, "wrong_type", "texts"),
        (b'{"texts": ["a", null]}', 422, "wrong_type", "texts[1]"),
        (b'{"inputs": [{"text": "a", "contxt": []}]}', 422, "unknown_field", "inputs[0].contxt"),
        (b'{"inputs": ["a"]}', 422, "wrong_type", "inputs[0]"),
        (b'{"conversation": []}', 422, "no_text", "conversation"),
        (b'{"conversation": [{"text": "a", "speaker": 1}]}', 422, "wrong_type", "conversation[0].speaker"),
        (b'{"text": "a", "model": "other"}', 404, "unknown_model", "model"),
        (b'{"text": "a", "model": 1}', 422, "wrong_type", "model"),
        (b'{"text": "a", "explain": 1}', 422, "wrong_type", "explain"),
        (b'{"text": "a\\u0000b"}', 422, "no_text", "text"),
        (json.dumps({"text": "x" * 20_001}).encode(), 413, "text_too_long", "text"),
        (json.dumps({"texts": ["x"] * 4_097}).encode(), 413, "too_many_texts", "texts"),
        (json.dumps({"texts": ["x"] * 21, "explain": True}).encode(), 413, "too_many_texts", "explain"),
        (b" " * (4 << 20) + b"{} ", 413, "body_too_large", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(caller, body, status, code, field):
    answer = caller("POST", "/v1/detect", content=body)
    told = answer.json()
    assert (answer.status_code, told["error"]["code"], told["error"].get("field")) == (status, code, field)
    assert told["request_id"] == answer.headers["x-request-id"]


def test_unknown_addresses_and_methods_are_json_too(caller):
    for method, path, status in (("GET", "/nope", 404), ("GET", "/v1/detect", 405)):
        answer = caller(method, path)
        assert answer.status_code == status
        assert answer.json()["error"]["code"] in ("not_found", "wrong_method")


def test_request_ids_are_kept_if_they_are_harmless(caller):
    assert caller("GET", "/health", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    odd = caller("GET", "/health", headers={"X-Request-Id": "a b\tc"}).headers["x-request-id"]
    assert odd not in ("", "a b\tc")


def test_keys_are_asked_for_where_there_are_some(make_caller):
    call = make_caller(keys=frozenset({hash_key(KEY)}), rate=0)
    assert call.detect({"text": "a"}).status_code == 401
    assert call.detect({"text": "a"}, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert call("GET", "/metrics").status_code == 401
    assert call.detect({"text": "a"}, headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
    assert call.detect({"text": "a"}, headers={"X-API-Key": KEY}).status_code == 200
    assert call("GET", "/health").status_code == call("GET", "/").status_code == 200
    assert 'id="key"' in call("GET", "/").text


def test_keys_are_read_from_a_file_and_never_kept(tmp_path):
    (tmp_path / "keys").write_text(f"# ours\n{KEY}\n\n")
    assert read_keys(tmp_path / "keys") == {hash_key(KEY)}
    assert KEY not in repr(ServeSettings(keys=read_keys(tmp_path / "keys")))
    for text, message in (("", "no key in it"), ("short\n", "under 16")):
        (tmp_path / "keys").write_text(text)
        with pytest.raises(DataError, match=message):
            read_keys(tmp_path / "keys")


def test_other_machines_are_let_in_only_on_purpose():
    with pytest.raises(ConfigError, match="--keys"):
        ServeSettings(host="0.0.0.0")
    assert ServeSettings(host="0.0.0.0", open=True) and ServeSettings(host="::1")


def test_too_many_requests_are_told_when_to_come_back(make_caller):
    call = make_caller(rate=20)  # two at once
    answers = [call.detect({"text": "a"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) >= 1
    assert call("GET", "/health").status_code == 200


def test_a_full_queue_is_busy_not_slow(make_caller):
    call = make_caller(waiting=3, rate=0)
    answer = call.detect({"texts": ["a"] * 4})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")


def test_many_requests_at_once_get_their_own_answers(make_caller):
    call = make_caller(rate=0)
    texts = [f"oh sure, number {n}" for n in range(60)]

    async def together():
        import httpx

        transport = httpx.ASGITransport(app=call.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await asyncio.gather(*(client.post("/v1/detect", json={"text": text}) for text in texts))

    found = [answer.json()["results"][0]["score"] for answer in asyncio.run(together())]
    assert found == pytest.approx(Detector.load("base").predict_proba(texts)[:, 1].tolist(), abs=1e-6)


def test_a_fault_inside_is_told_without_its_details(make_caller, monkeypatch):
    call = make_caller(rate=0)
    detector = call.app.service.catalogue.models["base"].detector
    monkeypatch.setattr(detector, "predict", lambda examples: 1 / 0)
    answer = call.detect({"text": "a"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "failed")
    assert "division" not in answer.text
    monkeypatch.undo()
    assert call.detect({"text": "a"}).status_code == 200


def test_metrics_count_requests_and_answers_but_no_texts(make_caller):
    call = make_caller(rate=0)
    call.detect({"texts": ["Great, another Monday.", "secret words"]})
    call("GET", "/anything/secret")
    text = call("GET", "/metrics").text
    assert 'deadpan_requests_total{method="POST",path="/v1/detect",status="200"} 1' in text
    assert 'path="other",status="404"' in text and "secret" not in text
    assert 'deadpan_request_seconds_count{path="/v1/detect"} 1' in text
    assert sum(int(line.split()[-1]) for line in text.splitlines() if line.startswith("deadpan_texts_total")) == 2


def test_pages_load_nothing_from_elsewhere(caller):
    for path in ("/", "/docs", "/assets/playground.js", "/assets/playground.css", "/assets/look.css"):
        answer = caller("GET", path)
        assert answer.status_code == 200
        assert "://" not in answer.text.replace("http://127.0.0.1", "").replace("http://www.w3.org", "")
    assert "default-src 'none'" in caller("GET", "/").headers["content-security-policy"]


def test_a_first_visit_says_what_a_score_depends_on_and_who_taught_it(caller):
    page = caller("GET", "/").text
    assert "<em>prevalence</em>" in page and "among all posts perhaps" in page
    assert re.search(r"taught by texts of \d+ corpora: [\d,]+ marked by their authors .* judged by readers", page)


def test_the_examples_of_the_api_page_call_the_address_it_was_opened_at(make_caller):
    caller = make_caller(keys=frozenset({"0" * 64}), port=9)
    page = caller("GET", "/docs", headers={"host": "deadpan.example:1234"}).text
    assert "curl http://deadpan.example:1234/v1/detect" in page and "Bearer KEY" in page
    odd = caller("GET", "/docs", headers={"host": "x'; rm -rf /"})
    assert odd.json()["error"]["message"] == "Invalid host header" and odd.status_code == 400


def test_origins_are_let_in_by_name_only(make_caller):
    call = make_caller(origins=("https://mine.example",), rate=0)
    ask = {"Origin": "https://mine.example", "Access-Control-Request-Method": "POST"}
    answer = call("OPTIONS", "/v1/detect", headers=ask)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, "https://mine.example")
    other = call("OPTIONS", "/v1/detect", headers={**ask, "Origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers


# ---------------------------------------------------------------- readings


def test_a_reading_is_streamed_and_its_failure_told(make_caller, monkeypatch):
    call = make_caller(rate=0, reader="openai/none", base_url="http://127.0.0.1:9/v1")

    async def pieces(settings, example):
        assert example.context[0].text == "before"
        for piece in ("It is ", "meant."):
            yield piece

    monkeypatch.setattr(app_module, "stream_reading", pieces)
    answer = call("POST", "/v1/reading", json={"text": "a", "context": ["before"]})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [line.partition(": ")[2] for line in answer.text.splitlines() if line.startswith("event")]
    assert events == ["start", "piece", "piece", "done"]

    async def broken(settings, example):
        yield "It "
        raise ModelError("went away")

    monkeypatch.setattr(app_module, "stream_reading", broken)
    assert "went away" in call("POST", "/v1/reading", json={"text": "a"}).text


def test_without_a_language_model_the_hint_is_named(make_caller, monkeypatch):
    call = make_caller(rate=0)
    monkeypatch.setattr(call.app.service, "reader", None)
    answer = call("POST", "/v1/reading", json={"text": "a"})
    assert answer.status_code == 503 and "models pull" in answer.json()["error"]["message"]
    assert "models pull" in call("GET", "/").text


# ---------------------------------------------------------------- OpenAPI


def test_the_description_is_valid_and_matches_the_service(caller):
    document = caller("GET", "/v1/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    assert caller("GET", "/openapi.json").json() == document
    assert set(document["paths"]) <= {route.path for route in caller.app.app.routes}
    body = document["paths"]["/v1/detect"]["post"]["requestBody"]["content"]["application/json"]
    for name, example in body["examples"].items():
        assert caller.detect(example["value"]).status_code == 200, name
    page = caller("GET", "/docs").text
    assert page.count("I never switched the oven on.") == 2  # for /v1/detect and for /v1/reading
    assert all(path in page for path in document["paths"])


def test_the_description_knows_the_limits_and_the_keys(make_caller):
    call = make_caller(keys=frozenset({hash_key(KEY)}), rate=0)
    document = call("GET", "/v1/openapi.json").json()
    request = document["components"]["schemas"]["DetectRequest"]
    assert request["additionalProperties"] is False
    assert request["properties"]["texts"]["maxItems"] == 4_096
    assert request["properties"]["texts"]["items"]["maxLength"] == 20_000
    assert document["paths"]["/v1/detect"]["post"]["security"] == [{"key": []}, {"header": []}]
    assert "security" not in document["paths"]["/health"]["get"]
