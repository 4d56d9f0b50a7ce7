"""Ten items for anybody to try, as the leaderboard page offers it: a score at once, and nothing is stored."""

from __future__ import annotations

import secrets
from typing import Any

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language

from deadpan.draws import draw
from deadpan.studio.models import MAIN, StoredItem, StoredStudy
from deadpan.studio.records.studies import item_of, protocol_of, screen_of, settings_of

TEN = 10
SALT = "deadpan.studio.try"


def try_ten(request: HttpRequest, slug: str) -> HttpResponse:
    """Show ten items of a public quiz, or the score of the answers that were sent."""
    study = StoredStudy.objects.filter(slug=slug, is_open=True).first()
    if study is None or not getattr(settings_of(study), "public_try", False):
        raise Http404
    if request.method != "POST":
        chosen = _chosen(study, secrets.token_hex(8))
        return _page(request, study, chosen)
    try:
        keys = signing.loads(request.POST.get("items", ""), salt=SALT, max_age=24 * 3600)
        chosen = sorted(
            StoredItem.objects.filter(study=study, pk__in=keys), key=lambda row: keys.index(row.pk)
        )
    except (signing.BadSignature, ValueError, TypeError):
        raise Http404 from None
    return _page(request, study, chosen, request.POST)


def _chosen(study: Any, seed: str) -> list[Any]:
    """Return ten items in the reader's language where there are some, no two of one family."""
    language = (get_language() or "")[:2]
    rows = StoredItem.objects.filter(study=study, kind=MAIN).values_list("pk", "family", "language")
    mine = [row for row in rows if row[2] in ("", language)] or list(rows)
    families: set[str] = set()
    keys: list[int] = []
    for pk, family, _ in sorted(mine, key=lambda row: draw(0, f"{seed}\x1f{row[0]}")):
        if len(keys) < TEN and not (family and family in families):
            families.add(family)
            keys.append(pk)
    return list(StoredItem.objects.filter(pk__in=keys))


def _page(request: HttpRequest, study: Any, rows: list[Any], given: Any = None) -> HttpResponse:
    protocol, cards, right = protocol_of(study), [], 0
    for row in rows:
        screen = screen_of(row, study, f"try:{row.pk}")
        question = screen.questions[0]
        key = protocol.key_of(item_of(row, study))
        answer = given.get(f"a.{row.pk}", "") if given is not None else ""
        right += given is not None and bool(answer) and answer == key
        best = next((choice.label for choice in question.choices if choice.value == key), "")
        card = {"pk": row.pk, "screen": screen, "question": question, "answer": answer, "best": best}
        cards.append({**card, "right": answer == key})
    context = {
        "study": study,
        "cards": cards,
        "score": right if given is not None else None,
        "items": signing.dumps([row.pk for row in rows], salt=SALT),
        "total": len(rows),
    }
    return render(request, "studio/try.html", context)
