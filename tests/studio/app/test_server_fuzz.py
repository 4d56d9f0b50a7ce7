"""Requests that nobody meant, from everybody: no answer is a 500. A seed that found one is kept here."""

from __future__ import annotations

import json
import os
import random
import re
from itertools import product

import pytest

ODD = [
    "", "x", "-1", "0", "1", "²", "٣", "9" * 400, "1e999", "NaN", "\x00", "a\x00b", "\ud800", "%00", "é" * 300,
    "https://[x", "//evil.example", "/\\evil", "javascript:alert(1)", "foo", "../../etc/passwd", "'; DROP TABLE x;--",
    "<script>", "{}", "[]", "null", "true", "\n\r\t", "한국어", "🙃" * 50, "a=b,c", "=1+1", "owner", "annotator", "ko",
    "sarcastic", "not sarcastic", "admit", "yes", "csv", "1,2,3", "text", "reader-judgment", "author-survey", "gated", "closed", "open",
]  # fmt: skip
BODIES = [
    "", "[", "{", "null", "1", '"x"', "[]", "{}", "[" * 5000, '{"a":' * 2000, '{"answers": {"sarcastic": "\\ud800"}, "key": "k"}',
    '{"answers": {"sarcastic": "sarcastic"}, "seconds": 1e999, "key": "k"}', '{"answers": {"x": "y"}, "key": "\\u0000"}',
    '{"answers": {"sarcastic": "sarcastic"}, "seconds": ' + "9" * 5000 + ', "key": "k2"}', '{"answers": [], "key": {}}',
    '{"answers": {"sarcastic": null}, "key": "k3"}', '{"answers": {"\\ud800": "a"}, "key": "\\udfff"}',
]  # fmt: skip
SEEDS = [0, 7, 11]
"""Seeds of earlier runs, kept when they found something."""
KINDS = ("get", "form", "json", "other")
ROUNDS = 10 if "DEADPAN_FULL_SIZE" in os.environ else 1
"""How often everybody asks for every address in every way, each time with other odd values."""


def routes() -> list[str]:
    from deadpan.studio.app.urls import urlpatterns

    return [str(pattern.pattern) for pattern in urlpatterns]


def fields() -> list[str]:
    """The names of every form field and parameter in the source."""
    from pathlib import Path

    import deadpan.studio

    root = Path(deadpan.studio.__file__).parent
    text = "".join(p.read_text("utf-8") for p in [*root.rglob("*.html"), *root.glob("app/*.py")])
    found = set(re.findall(r'name="([\w.]+)"', text))
    found |= set(re.findall(r'(?:POST|GET)\.get\(\s*"(\w+)"', text))
    # The builder has a form per question, the questionnaire a field per chosen fact.
    found |= {f"q0-{name}" for name in ("text", "name", "kind", "options", "low", "high", "left", "after", "when")}
    found |= {
        "count",
        "gender",
        "q.sarcastic",
        "text0",
        "link0",
        "date0",
        "followers",
        "age",
        "minutes",
        "attention_every",
    }
    return sorted(found)


class Crowd:
    """One client per role, in a studio with an item study, a survey, questions of its own and a draft."""

    def __init__(self, site, items) -> None:
        from deadpan.studio.models import Person

        self.study = site.make("reader-judgment", items(8), raters_per_item=2)
        self.survey = site.make("author-survey", name="t")
        settings = {"questionnaire": ["age", "gender"], "qualification": 0}
        self.custom = site.make("custom", items(4), name="c", settings=settings)
        site.make("custom", items(2), name="d", draft=True)
        people = [site.person(self.study) for _ in range(2)]
        for at, client in enumerate(people):
            for _ in range(3):
                answer = "sarcastic" if at else "not sarcastic"
                site.save(client, site.open_item(client, self.study), sarcastic=answer)
        self.clients = [
            site.client(),
            site.owner(),
            people[0],
            site.person(self.study, role="adjudicator", name="judge"),
            site.person(self.survey, role="participant"),
            site.person(self.study, role="participant", consent=False),
            site.person(self.custom),
        ]
        self.links = [
            site.link(self.study, role, uses=50).rsplit("/", 1)[1] for role in ("annotator", "participant", "owner")
        ]
        for client in self.clients:
            client.raise_request_exception = False
        self.people = [Person.objects.filter(pk=c.session.get("_auth_user_id")).first() for c in self.clients]

    def one(self, rng: random.Random, at: int, route: str, kind: str, fields: list[str]) -> tuple[str, int]:
        """Send one request; return what it was, and the status."""
        client = self.clients[at]
        path = "/" + re.sub(r"<(?:(\w+):)?(\w+)>", lambda m: self._part(rng, m[1] or "str", m[2]), route)
        query = {rng.choice(fields): rng.choice(ODD) for _ in range(rng.randrange(3))}
        query = {k: v.encode("utf-8", "replace").decode() for k, v in query.items()}
        if kind == "get":
            response = client.get(path, query)
        elif kind == "form":
            form = {
                rng.choice(fields): rng.choice(ODD).encode("utf-8", "replace").decode() for _ in range(rng.randrange(8))
            }
            response = client.post(path, form, query_params=query)
        elif kind == "json":
            body = rng.choice(BODIES) if rng.random() < 0.8 else json.dumps({rng.choice(ODD): rng.choice(ODD)})
            response = client.post(path, body, content_type="application/json")
        else:
            response = client.generic(rng.choice(["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]), path)
        if path.startswith(("/logout", "/join/", "/return/", "/reset/", "/start/")):
            self._as_before(client, self.people[at])
        return f"{kind} {path[:120]} {query}", response.status_code

    def _as_before(self, client, person) -> None:
        """Log the client in again as who it is: a log-out would leave only strangers for all that follows."""
        client.cookies.clear()
        if person is not None:
            client.force_login(person, "deadpan.studio.app.security.PasswordBackend")

    def _part(self, rng: random.Random, kind: str, name: str) -> str:
        if kind == "int":
            return rng.choice(["1", "2", "3", "0", "99", "9" * 18, "9" * 30])
        if name == "slug":
            return rng.choice(["s", "s", "s", "t", "c", "c", "d", "d", "nowhere", "S-1"])
        if name == "token":
            return rng.choice([*self.links, "x", "%00", "a" * 300, "1:2:3", "%ED%A0%80"])
        return rng.choice(["sarcastic", "x", "kind", "export", "open", "a-b", "annotators"])


def run(site, items, seed: int, rounds: int, most: int | None = None) -> None:
    rng, crowd = random.Random(seed), Crowd(site, items)
    everything, names = list(product(range(len(crowd.clients)), routes(), KINDS)), fields()
    found = {}
    for _ in range(rounds):
        rng.shuffle(everything)
        for at, route, kind in everything[:most]:
            what, status = crowd.one(rng, at, route, kind, names)
            if status >= 500:
                found.setdefault(what.split(" ")[1].split("?")[0][:60], what)
    assert not found, found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_thousands_of_odd_requests_find_no_500(site, items, seed):
    run(site, items, seed, ROUNDS)


@pytest.mark.filterwarnings("ignore")
def test_odd_requests_find_no_500(site, items):
    run(site, items, 3, 1, most=250)


@pytest.mark.parametrize("where", ["foo", "https://[x", "//evil.example", "/\\evil", "\n", "x:y", "", "%", "?a=\x00"])
def test_the_language_is_set_whatever_comes_next(site, where):
    done = site.client().post("/language", {"language": "ko", "next": where})
    assert done.status_code in (204, 302) and "evil" not in done.headers.get("Location", "")
