"""A studio of one's own for every test, and people who walk in by a link."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = ["test_*.py", "*/test_*.py"]
if all(find_spec(library) for library in ("django", "argon2", "whitenoise", "csp")):
    from deadpan.studio.app.database import open_studio

    collect_ignore_glob = []
    # Models can be imported only once Django knows its settings; each test then names its own home.
    _FIRST = Path(tempfile.mkdtemp(prefix="deadpan-studio-"))
    atexit.register(shutil.rmtree, _FIRST, ignore_errors=True)
    open_studio(_FIRST, "", migrate=False)

    from django.db.backends.signals import connection_created

    @connection_created.connect
    def _no_waiting_for_the_disk(connection, **about) -> None:
        """A commit that survives a loss of power waits for the disk; no test in this process causes one."""
        if connection.vendor == "sqlite":
            connection.connection.execute("PRAGMA synchronous=OFF")


def numbered(count: int, **extra):
    """Items with a context, every other one labelled sarcastic; `make` gives them the protocol's type."""
    from deadpan.formats.study import AnnotateItem
    from deadpan.records import Turn

    kind = extra.pop("kind", AnnotateItem)
    return [
        kind(
            f"i{at}",
            Turn("B", f"Oh sure, reply number {at} is a delight."),
            (Turn("A", f"Opening line {at}"),),
            label=at % 2 == 0,
            **extra,
        )
        for at in range(count)
    ]


def as_items(protocol: str, items):
    """The items as those of a protocol: fields that its type has are copied, others dropped."""
    from dataclasses import fields

    from deadpan.formats.study import item_type

    kind = item_type(protocol)
    names = {field.name for field in fields(kind)}

    def converted(item):
        own = {field.name: getattr(item, field.name) for field in fields(item) if field.name in names}
        return kind(**own)

    return [item if isinstance(item, kind) else converted(item) for item in items]


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """A migrated, empty database: made once, copied for every test."""
    home = tmp_path_factory.mktemp("template")
    open_studio(home, "")
    from django.conf import settings
    from django.db import connection

    # Argon2 as in production is tested by itself; elsewhere its slowness buys nothing.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]
    connection.close()
    return home / "studio.sqlite3"


class Site:
    """The studio as people meet it."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def make(self, protocol: str, items=(), name: str = "s", draft: bool = False, **study):
        from deadpan.formats.study import Study
        from deadpan.studio.records.studies import create_study

        described = Study(protocol, study.pop("title", "A study"), **study)
        return create_study(name, described, as_items(protocol, items), "test", draft=draft)

    def client(self, **settings):
        from django.test import Client

        return Client(headers={"host": "localhost"}, **settings)

    def link(self, study, role: str = "annotator", uses: int = 1) -> str:
        from django.utils import timezone

        from deadpan.studio.people.admission import make_invite

        return f"/join/{make_invite(study, role, uses, timezone.now(), 'test')}"

    def person(self, study, role: str = "annotator", name: str = "", consent: bool = True, client=None):
        """Somebody who followed a link and agreed."""
        from deadpan.studio.models import Person

        client = client or self.client()
        who = name or f"p{Person.objects.count()}"
        done = client.post(self.link(study, role), {"name": who, "password": "correct horse battery"})
        assert done.status_code == 302, done.content
        if consent and role in ("annotator", "participant"):
            assert client.post(f"/s/{study.slug}/consent", {"agree": "yes"}).status_code == 302
        return client

    def owner(self):
        """The studio's owner, logged in."""
        from django.utils import timezone

        from deadpan.studio.people.admission import start_token

        client = self.client()
        token = start_token(timezone.now())
        done = client.post(f"/start/{token}", {"name": "owner", "password": "correct horse battery"})
        assert done.status_code == 302, done.content
        return client

    def member(self, client):
        from deadpan.studio.models import Member

        return Member.objects.get(person_id=client.session["_auth_user_id"])

    def open_item(self, client, study) -> str:
        """The address of the item this person should do; empty when there is none."""
        response = client.get(f"/s/{study.slug}/")
        return response.url if response.status_code == 302 else ""

    def save(self, client, address: str, key: str = "", seconds: float = 0.0, **answers):
        """Save as the script in the page does."""
        import uuid

        body = {"answers": answers, "seconds": seconds, "key": key or uuid.uuid4().hex}
        return client.post(f"{address}/save", body, content_type="application/json")

    def answer_all(self, client, study, answer) -> int:
        """Answer everything there is; `answer(item_id)` gives the answers. How many items."""
        from deadpan.studio.models import Assignment

        count = 0
        while address := self.open_item(client, study):
            number = int(address.rsplit("/", 1)[1])
            item = Assignment.objects.get(member=self.member_of(client, study), number=number).item
            saved = self.save(client, address, **answer(item.item_id))
            assert saved.status_code == 200 and saved.json()["complete"], saved.content
            count += 1
        return count

    def member_of(self, client, study):
        from deadpan.studio.models import Member

        return Member.objects.get(person_id=client.session["_auth_user_id"], study=study)


@pytest.fixture
def site(template, tmp_path):
    """An empty studio in its own home."""
    from django.core.cache import cache
    from django.db import connections
    from django.utils import translation

    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(template, home / "studio.sqlite3")
    open_studio(home, "", migrate=False)
    cache.clear()
    translation.activate("en")
    yield Site(home)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        connections.close_all()


@pytest.fixture
def items():
    """Makes numbered items."""
    return numbered


@pytest.fixture
def judged(site):
    """A study of four items and two people, with one disagreement."""
    study = site.make("reader-judgment", numbered(4), raters_per_item=2)
    for at in range(2):
        client = site.person(study)
        site.answer_all(
            client, study, lambda item, at=at: {"sarcastic": "sarcastic" if item != "i3" or at else "not sarcastic"}
        )
    return study
