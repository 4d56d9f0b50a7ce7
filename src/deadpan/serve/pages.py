"""The pages of the service: the playground, and the description for people."""

from __future__ import annotations

import json
from typing import Any

from deadpan import __version__
from deadpan.llm import EMBEDDED_PREFIX
from deadpan.page.markup import escape
from deadpan.serve.settings import ServeSettings

EXAMPLES = (
    ("A meeting", "Oh great, another meeting that could have been an email."),
    ("A thank-you", "Thank you so much for your help yesterday!"),
    ("Room temperature", "A: I never actually switched the oven on.\nB: So we're having it at room temperature, the traditional way."),
    ("야근", "A: 오늘도 야근이래.\nB: 와, 진짜 행복하다."),
)  # fmt: skip
SMALL = f"{EMBEDDED_PREFIX}smollm2-135m"


def _page(title: str, lead: str, body: str, head: str = "") -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f'<title>{escape(title)}</title>\n<link rel="stylesheet" href="/assets/look.css">\n'
        f'<link rel="stylesheet" href="/assets/playground.css">\n{head}</head>\n<body>\n<main>\n'
        f'<header><h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p></header>\n{body}\n</main>\n'
        f'<footer>deadpan {__version__} · <a href="/">Playground</a> · <a href="/docs">Service</a> · '
        '<a href="/v1/openapi.json">OpenAPI</a> · Texts are neither stored nor logged.</footer>\n</body>\n</html>\n'
    )


def playground_page(settings: ServeSettings, reader: str) -> str:
    """Return the page where a person types a conversation and sees what each detector makes of it."""
    examples = "".join(
        f'<button type="button" class="chip" data-text="{escape(text)}">{escape(name)}</button>'
        for name, text in EXAMPLES
    )
    key = (
        '<p><label for="key">Key</label><br><input id="key" type="password" autocomplete="off"></p>'
        if settings.keys
        else ""
    )
    small = (
        " It is very small and only meant for trying this out: what it says is rarely right. deadpan models "
        "pull qwen2.5-coder-1.5b (1.1 GB) adds a better one."
        if reader == SMALL
        else " It can be wrong, and says so less often than it should."
    )
    reading = (
        f'<section aria-labelledby="reading-title"><h2 id="reading-title">How a language model reads it</h2>'
        f'<p class="dim">{escape(reader)}, asked for one or two sentences.{escape(small)}</p>'
        '<p><button type="button" id="read">Ask it</button></p>'
        '<p id="reading" class="reading" aria-live="polite"></p></section>'
        if reader
        else '<p class="note">No language model is available: deadpan models pull qwen2.5-coder-1.5b adds '
        "one that says what the speaker means.</p>"
    )
    body = f"""<form id="form">
<label for="text">A sentence, or a conversation with one turn per line (“A: …”). The last turn is judged.</label>
<textarea id="text" rows="4" maxlength="{settings.longest_text}" spellcheck="false" autofocus></textarea>
{key}<p class="chips">Try: {examples}</p>
<p><button type="submit" class="go">Judge</button> <span id="state" class="dim" role="status"></span></p>
</form>
<div id="result" hidden>
<div id="conversation" class="conversation"></div>
<section aria-labelledby="detectors"><h2 id="detectors">Detectors</h2><div id="models"></div></section>
{reading}
</div>
<noscript><p class="note">This page needs JavaScript; the service does not: see /docs.</p></noscript>"""
    script = '<script src="/assets/playground.js" defer></script>\n'
    return _page("Is it sarcastic?", "Type what somebody said, and see what each detector makes of it and why.",
                 body, script)  # fmt: skip


def docs_page(document: dict[str, Any], address: str) -> str:
    """Return the description of every path, made from the OpenAPI document; examples call `address`."""
    parts = [f"<p>{escape(document['info']['description'])}</p>"]
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            parts.append(f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(about['summary'])} {escape(about.get('description', ''))}</p>")
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
    error = {
        "error": {"code": "no_text", "message": "the text is empty", "field": "text"},
        "request_id": "9f1c",
    }
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
