"""The pages of the service: the playground, and the description for people."""

from __future__ import annotations

import json
from importlib.resources import files
from string import Template
from typing import Any

from deadpan import __version__
from deadpan.llm import EMBEDDED_PREFIX
from deadpan.page.markup import escape
from deadpan.serve.bodies import LONGEST_TEXT
from deadpan.serve.settings import ServeSettings

_EXAMPLES = {
    "A meeting": "Oh great, another meeting that could have been an email.",
    "A thank-you": "Thank you so much for your help yesterday!",
    "Room temperature": "A: I never actually switched the oven on.\n"
    "B: So we're having it at room temperature, the traditional way.",
    "야근": "A: 오늘도 야근이래.\nB: 와, 진짜 행복하다.",
}
_SMALL_MODEL = f"{EMBEDDED_PREFIX}smollm2-135m"
_KEY = '<p><label for="key">Key</label><br><input id="key" type="password" autocomplete="off"></p>'


def read_static(name: str) -> str:
    """Return a file of the pages."""
    return files("deadpan.serve").joinpath("static", name).read_text(encoding="utf-8")


def playground_page(settings: ServeSettings, reader: str, taught: str) -> str:
    """Return the page where a person types a conversation and sees what each detector makes of it."""
    examples = "".join(
        f'<button type="button" class="chip" data-text="{escape(text)}">{escape(name)}</button>'
        for name, text in _EXAMPLES.items()
    )
    caution = (
        "It is very small and only meant for trying this out: what it says is rarely right. deadpan models "
        "pull qwen2.5-coder-1.5b (1.1 GB) adds a better one."
        if reader == _SMALL_MODEL
        else "It can be wrong, and says so less often than it should."
    )
    reading = (
        _fill("reading.html", reader=escape(reader), caution=caution)
        if reader
        else '<p class="note">No language model is available: deadpan models pull qwen2.5-coder-1.5b adds '
        "one that says what the speaker means.</p>"
    )
    key = _KEY if settings.keys else ""
    body = _fill(
        "playground.html", longest=str(LONGEST_TEXT), key=key, examples=examples, reading=reading, taught=escape(taught)
    )  # fmt: skip
    return _page("Is it sarcastic?", "Type what somebody said, and see what each detector makes of it and why.", body)


def docs_page(document: dict[str, Any], address: str) -> str:
    """Return the description of every path, made from the OpenAPI document; examples call `address`."""
    parts = [f"<p>{escape(document['info']['description'])}</p>"]
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            parts.append(f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(about['description'])}</p>")
            parts += _examples(f"{address}{path}", about)
            rows = "".join(
                f"<tr><td>{escape(status)}</td><td>{escape(answer['description'])}</td></tr>"
                for status, answer in about["responses"].items()
            )
            head = "<thead><tr><th>status</th><th>meaning</th></tr></thead>"
            parts.append(f'<div class="table"><table>{head}<tbody>{rows}</tbody></table></div>')
    parts.append(
        "<h2>Errors</h2><p>Every error is JSON with a code for programs, a message for people, the field "
        "that is wrong, and the request id, which is also in the X-Request-Id header of every answer.</p>"
    )
    error = {"error": {"code": "no_text", "message": "the text is empty", "field": "text"}, "request_id": "9f1c"}
    parts.append(f'<pre tabindex="0"><code>{escape(json.dumps(error, indent=1))}</code></pre>')
    return _page("The service", "Call the detectors from a program.", "\n".join(parts))


def _examples(url: str, about: dict[str, Any]) -> list[str]:
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    found = []
    key = " -H 'authorization: Bearer KEY'" if about.get("security") else ""
    for name, example in content.get("examples", {}).items():
        data = json.dumps(example["value"], ensure_ascii=False).replace("'", "'\\''")
        command = f"curl {url} -H 'content-type: application/json'{key} \\\n  -d '{data}'"
        found.append(f'<h3>{escape(name)}</h3><pre tabindex="0"><code>{escape(command)}</code></pre>')
    return found


def _page(title: str, lead: str, body: str) -> str:
    return _fill("page.html", title=escape(title), lead=escape(lead), body=body, version=__version__)


def _fill(name: str, **values: str) -> str:
    return Template(read_static(name)).substitute(values)
