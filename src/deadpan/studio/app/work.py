"""Pages of people who take part: arrival and consent, items, the survey, and ten items for anybody to try."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import logout
from django.core import signing
from django.core.paginator import Paginator
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from deadpan.draws import draw
from deadpan.errors import DataError
from deadpan.studio import models
from deadpan.studio.app.accounts import return_link, taken_part
from deadpan.studio.app.forms import QuestionnaireForm
from deadpan.studio.app.security import clean_text, for_holders, for_members, for_workers, whole_number
from deadpan.studio.app.templating import guideline_html
from deadpan.studio.people.admission import Completion, completion_of, filled_completion, known_participant
from deadpan.studio.people.assignment import next_assignment, progress_of, skip_assignment
from deadpan.studio.people.demographics import COUNTRIES, GENDERS, SMALLEST_GROUP, same_fact
from deadpan.studio.people.withdrawal import forget_member, record_consent, shown_code
from deadpan.studio.protocols.protocol import SurveyEntry
from deadpan.studio.records import journal
from deadpan.studio.records.progress import pay_of, pay_rule
from deadpan.studio.records.studies import item_of, protocol_of, screen_of, settings_of


@for_members(models.OWNER, models.ADJUDICATOR, models.ANNOTATOR, models.PARTICIPANT)
def next_step(request: HttpRequest) -> HttpResponse:
    """Redirect to what comes next: consent, the survey, an item, or the end."""
    member, study = request.member, request.study
    if member.role == models.OWNER:
        return redirect("dashboard", slug=study.slug)
    if member.role == models.ADJUDICATOR:
        return redirect("adjudicate", slug=study.slug)
    if study.is_draft:
        return _end(request, "draft")
    if member.consented_at is None:
        return redirect("consent", slug=study.slug)
    if member.state == models.REFUSED:
        return _end(request, "refused")
    if _asks_about_person(study, member, "before"):
        return redirect("about", slug=study.slug)
    if protocol_of(study).survey and (study.is_open or member.submissions.exists()):
        return redirect("survey", slug=study.slug)
    if not study.is_open:
        return _end(request, study.stage)
    assignment = next_assignment(member, timezone.now())
    if assignment is not None:
        return redirect("item", slug=study.slug, number=assignment.number)
    if member.done and _asks_about_person(study, member, "after"):
        return redirect("about", slug=study.slug)
    return _end(request, "waiting" if member.state == models.APPLICANT else "done")


def _end(request: HttpRequest, state: str) -> HttpResponse:
    member, study = request.member, request.study
    last = models.Assignment.objects.filter(member=member).exclude(state=models.RETURNED).order_by("-number").first()
    context = {
        "study": study,
        "state": state,
        "code": shown_code(member),
        "last": last,
        "pay": pay_of(member, settings_of(study)),
        "completion": completion_of(member, study, state),
    }
    return render(request, "studio/done.html", context)


@for_workers
def consent_page(request: HttpRequest) -> HttpResponse:
    """Ask for consent, and for the facts that raters must share; show it again as a copy to keep."""
    study, member = request.study, request.member
    if study.is_draft:
        return redirect("study", slug=study.slug)
    settings = settings_of(study)
    sections = consent_sections(study)
    wanted = dict(settings.match)
    missing = False
    if request.method == "POST" and request.POST.get("agree") == "no" and member.consented_at is None:
        return _disagreed(request)
    if request.method == "POST" and request.POST.get("agree") == "yes":
        facts = {name: clean_text(request.POST.get(name, ""))[:40] for name in ("country", "gender") if name in wanted}
        missing = not all(facts.values())
        if not missing:
            text = "\n\n".join(f"{section.title}\n{section.text}" for section in sections)
            record_consent(member, text, timezone.now(), **facts)
            # Those who do not match what the study asks for are told at once.
            if not all(same_fact(name, str(wanted[name]), facts[name]) for name in facts):
                models.Member.objects.filter(pk=member.pk).update(state=models.REFUSED)
            return redirect("guideline", slug=study.slug)
    context = {
        "study": study,
        "protocol": protocol_of(study),
        "sections": sections,
        "wanted": wanted,
        "settings": settings,
        "countries": COUNTRIES,
        "genders": GENDERS,
        "missing": missing,
        "agreed": models.Identity.objects.filter(member=member).first() if member.consented_at else None,
    }
    return render(request, "studio/consent.html", context)


@dataclass(frozen=True, slots=True)
class ConsentSection:
    """One part of what people agree to. The study's `own` words are in its language, others in the reader's."""

    title: str
    text: str
    own: bool = False


def consent_sections(study: Any) -> list[ConsentSection]:
    """Return what people agree to, as an ethics board wants to see it; parts the study does not name are left out."""
    settings = settings_of(study)
    about = settings.consent or str(protocol_of(study).consent)
    stored = settings.stored or _(
        "Your answers and the time they took, under a random name; the date of your consent; and, where you come from "
        "a platform, your id there, apart from the answers."
    )
    withdraw = _(
        "Taking part is voluntary. You can stop at any time, without giving a reason. You get a code: entered on "
        "the page “Withdraw from a study”, which every page links to, it erases everything you contributed."
    )
    parts = (
        # The protocol's own text is in the reader's language: people agree to what they can read.
        ConsentSection(_("What it is about"), about, bool(settings.consent)),
        ConsentSection(_("Who is responsible"), settings.controller, True),
        ConsentSection(_("Purpose"), settings.purpose, True),
        ConsentSection(_("What is stored"), str(stored), bool(settings.stored)),
        ConsentSection(_("How long it is kept"), settings.kept, True),
        ConsentSection(_("Your right to withdraw"), str(withdraw)),
        ConsentSection(_("Time and pay"), pay_rule(settings)),
        ConsentSection(_("Ethics approval"), settings.ethics, True),
        ConsentSection(_("Contact for questions"), settings.contact, True),
    )
    return [part for part in parts if part.text.strip()]


def _disagreed(request: HttpRequest) -> HttpResponse:
    """Forget somebody who does not agree, and lead them back to the platform if they came from one."""
    completion = completion_of(request.member, request.study, "refused")
    forget_member(request.member)
    if not models.Person.objects.filter(pk=request.user.pk).exists():
        logout(request)
    text = _("You did not agree, so you do not take part. Nothing about you is stored.")
    context = {"title": _("Thank you"), "text": text, "final": True, "completion": completion}
    return render(request, "studio/error.html", context)


def _asks_about_person(study: Any, member: Any, at: str) -> bool:
    """Return whether the questionnaire is due."""
    settings = settings_of(study)
    if not settings.questionnaire or settings.questionnaire_at != at:
        return False
    return not models.Identity.objects.filter(member=member).exclude(facts={}).exists()


@for_workers
def about_page(request: HttpRequest) -> HttpResponse:
    """Ask people about themselves: what the study chose, from lists, each with "rather not say"."""
    names = settings_of(request.study).questionnaire
    if not names or request.member.consented_at is None:
        return redirect("study", slug=request.study.slug)
    form = QuestionnaireForm(names, request.POST or None)
    if request.method == "POST" and form.is_valid():
        models.Identity.objects.update_or_create(member=request.member, defaults={"facts": form.cleaned_data})
        return redirect("study", slug=request.study.slug)
    return render(request, "studio/about.html", {"study": request.study, "form": form, "k": SMALLEST_GROUP})


@for_workers
def guideline(request: HttpRequest) -> HttpResponse:
    """Show the guideline with examples, and the withdrawal code to people who have agreed."""
    settings = settings_of(request.study)
    context = {
        "study": request.study,
        "protocol": protocol_of(request.study),
        "introduction": protocol_of(request.study).introduction(settings),
        "own": guideline_html(settings.guideline),
        "code": shown_code(request.member),
        "return_link": return_link(request),
        "rule": pay_rule(settings),
        "agreed": request.member.consented_at,
    }
    return render(request, "studio/guideline.html", context)


@for_workers
@require_POST
def count_page_time(request: HttpRequest) -> HttpResponse:
    """Count time on a page that no answer carries: at most what has passed since time was counted last."""
    member = request.member
    try:
        claimed = float(request.POST.get("seconds", "0"))
    except ValueError:
        claimed = 0.0
    with transaction.atomic():
        seconds, columns = journal.counted_time(member.pk, claimed, timezone.now())
        models.Member.objects.filter(pk=member.pk).update(page_seconds=F("page_seconds") + round(seconds, 3), **columns)
    return HttpResponse(status=204)


# ---------------------------------------------------------------- items


_ITEMS_PER_PAGE = 50
_LONGEST_REASON = 300


@for_holders
def item(request: HttpRequest, number: int) -> HttpResponse:
    """Show one item with this person's answers, and nothing of other people's."""
    assignment, study, member = request.assignment, request.study, request.member
    screen = screen_of(assignment.item, study, journal.option_order(assignment))
    answers = journal.current_answers(member.pk, assignment.item.pk)
    complete = journal.is_complete(screen.questions, answers)
    said = _opinions(assignment, screen.questions, complete)
    done, total = progress_of(member, study)
    if request.headers.get("X-Ahead"):
        # Fetched before it is needed: when it is shown, those before it are done.
        before = models.Assignment.objects.filter(member=member, state=models.OPEN, number__lt=number)
        done = min(total, done + before.filter(item__kind__in=(models.MAIN, models.QUALIFICATION)).count())
    context = {
        "study": study,
        "screen": screen,
        "questions": [
            {
                "q": q,
                "answer": answers.get(q.name, ""),
                "asked": q.asked(answers),
                "long": _is_long(q),
                "suggested": said.get(q.name, ""),
            }
            for q in screen.questions
        ],
        # Marked words are suggested where they are marked.
        "opinions": [
            (q.text, _in_words(q, said[q.name])) for q in screen.questions if q.name in said and q.kind != "spans"
        ],
        "most_choices": min(9, max((len(q.choices) for q in screen.questions), default=0)),
        "number": number,
        "done": done,
        "total": total,
        "minutes": _minutes_left(member, done, total),
        "complete": complete,
        "round": member.state == models.APPLICANT,
        "flag": assignment.flag,
        "return_link": return_link(request),
    }
    return render(request, "studio/item.html", context)


def _opinions(assignment: Any, questions: Sequence[Any], complete: bool) -> dict[str, str]:
    """Return what models answer by question; nothing before the person did, unless the study says so."""
    shown = settings_of(assignment.member.study).model_answers
    if shown == "hidden" or (shown == "after" and not complete):
        return {}
    said = dict(assignment.item.opinions.order_by("-pk").values_list("question", "answer"))
    # An import knows the item's turns only by number: marks outside of them are left out here.
    return {q.name: said[q.name] for q in questions if q.name in said and q.allows(said[q.name], said)}


def _in_words(question: Any, answer: str) -> str:
    """Return an answer as people read it."""
    return next((str(choice.label) for choice in question.choices if choice.value == answer), answer)


def _is_long(question: Any) -> bool:
    """Return whether the options are texts to read rather than words on a button."""
    return any(len(str(choice.label)) > 24 for choice in question.choices)


def _minutes_left(member: Any, done: int, total: int) -> int | None:
    """Return the minutes left at this person's pace; None before three items are done."""
    finished = member.done + member.round_done + member.checks
    if done < 3 or done >= total or not member.seconds:
        return None
    pace = float(member.seconds) / finished
    left: float = pace * (total - done) / 60
    return math.ceil(left)


@for_holders
@require_POST
def save_item(request: HttpRequest, number: int) -> HttpResponse:
    """Save answers. An acknowledged answer is on the disk."""
    wants_json = request.content_type == "application/json"
    try:
        given = _parse_answers(request, wants_json)
        if not request.study.is_open:
            raise DataError(_("The study is closed. Nothing was changed."))
        saved = journal.save_answers(request.assignment, request.study, now=timezone.now(), **given)
    except DataError as wrong:
        if wants_json:
            return JsonResponse({"error": str(wrong)}, status=400)
        return render(request, "studio/error.html", {"title": _("Not saved"), "text": str(wrong)}, status=400)
    except DatabaseError:
        # Nothing was written. The browser keeps the answer and tries again.
        return JsonResponse({"error": _("The server could not write. Your answer is kept here.")}, status=503)
    if wants_json:
        return JsonResponse({"saved": True, "complete": saved.complete, "answers": saved.answers})
    if saved.complete:
        return redirect("next", slug=request.study.slug)
    return redirect("item", slug=request.study.slug, number=number)


def _parse_answers(request: HttpRequest, as_json: bool) -> dict[str, Any]:
    """Return answers, seconds and key, from the script or from the plain form."""
    if not as_json:
        answers = {k[2:]: clean_text(v) for k, v in request.POST.items() if k.startswith("q.")}
        return {"answers": answers, "seconds": 0.0, "key": clean_text(request.POST.get("key", ""))}
    try:
        body = json.loads(request.body)
        # The body may be any JSON, nested thousands of levels deep too.
        answers, key = body["answers"], body["key"]
        times = {name: float(body.get(name, 0)) for name in ("seconds", "ago")}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise DataError("expected answers, seconds and a key") from None
    if not isinstance(key, str) or not isinstance(answers, dict):
        raise DataError("expected answers, seconds and a key")
    if not all(isinstance(value, str) for value in answers.values()):
        raise DataError("answers are text")
    return {"answers": {name: clean_text(value) for name, value in answers.items()}, "key": clean_text(key), **times}


@for_workers
@require_POST
def undo_last(request: HttpRequest) -> HttpResponse:
    """Undo the last save and show the item it was about. A study that takes no answers changes none."""
    if not request.study.is_open:
        return redirect("study", slug=request.study.slug)
    assignment = journal.undo_last_save(request.member, request.study, timezone.now())
    if assignment is None:
        return redirect("study", slug=request.study.slug)
    return redirect("item", slug=request.study.slug, number=assignment.number)


@for_workers
def next_item(request: HttpRequest) -> HttpResponse:
    """Redirect to the next item: one they had before, or a new one."""
    later = _later(request)
    if later is not None:
        return redirect("item", slug=request.study.slug, number=later.number)
    return redirect("study", slug=request.study.slug)


def _later(request: HttpRequest) -> Any:
    """Return the person's next item after the one the address names, if they have one."""
    mine = models.Assignment.objects.filter(member=request.member, number__gt=_after(request))
    return mine.exclude(state=models.RETURNED).order_by("number").first()


def _after(request: HttpRequest) -> int:
    return whole_number(request.GET.get("after", ""), 10**9)


@for_workers
def ahead(request: HttpRequest) -> HttpResponse:
    """Show the item after this one before this one is finished, so that nobody waits for it; 204: none."""
    if not request.study.is_open or request.member.consented_at is None:
        return HttpResponse(status=204)
    following = _later(request) or next_assignment(request.member, timezone.now(), after=_after(request))
    if following is None:
        return HttpResponse(status=204)
    return redirect("item", slug=request.study.slug, number=following.number)


@for_holders
@require_POST
def skip(request: HttpRequest, number: int) -> HttpResponse:
    """Give an item back with a reason; it goes to somebody else."""
    reason = clean_text(request.POST.get("reason", ""))[:_LONGEST_REASON]
    if not reason:
        text = _("Say why you skip this item. Nothing was changed.")
        return render(request, "studio/error.html", {"title": _("Not skipped"), "text": text}, status=400)
    if request.study.is_open:
        skip_assignment(request.assignment, reason)
    return redirect("next", slug=request.study.slug)


@for_holders
@require_POST
def flag(request: HttpRequest, number: int) -> HttpResponse:
    """Tell the study leader that something is wrong with an item; an empty text takes it back."""
    text = clean_text(request.POST.get("flag", ""))[:_LONGEST_REASON]
    models.Assignment.objects.filter(pk=request.assignment.pk).update(flag=text)
    return redirect("item", slug=request.study.slug, number=number)


@for_workers
def answers(request: HttpRequest) -> HttpResponse:
    """List this person's own items and answers, the latest first."""
    mine = models.Assignment.objects.filter(member=request.member).exclude(state=models.RETURNED)
    pages = Paginator(mine.select_related("item").order_by("-number"), _ITEMS_PER_PAGE)
    page = pages.get_page(whole_number(request.GET.get("page", ""), 1))
    rows = [
        {
            "number": held.number,
            "state": held.state,
            "text": held.item.response.get("text", ""),
            "language": held.item.language,
            "answers": _answer_labels(held, request.study),
            "flag": held.flag,
        }
        for held in page
    ]
    context = {"study": request.study, "rows": rows, "page": page}
    return render(request, "studio/answers.html", context)


def _answer_labels(assignment: Any, study: Any) -> list[str]:
    """Return the current answers in the words of their buttons."""
    given = journal.current_answers(assignment.member_id, assignment.item_id)
    screen = screen_of(assignment.item, study, journal.option_order(assignment))
    labels = []
    for question in screen.questions:
        value = given.get(question.name, "")
        if value:
            label = next((choice.label for choice in question.choices if choice.value == value), value)
            labels.append(str(label))
    return labels


# ---------------------------------------------------------------- the survey


_SURVEY_BEGAN = "survey_began"


@for_workers
def fill_survey(request: HttpRequest) -> HttpResponse:
    """Show and check the form. What can be corrected is shown before it is handed in."""
    study, member = request.study, request.member
    protocol, settings = protocol_of(study), settings_of(study)
    if models.StoredSubmission.objects.filter(member=member).exists():
        return redirect("thanks", slug=study.slug)
    if member.consented_at is None or member.state == models.REFUSED or not (protocol.survey and study.is_open):
        return redirect("study", slug=study.slug)
    now = timezone.now()
    began = request.session.setdefault(f"{_SURVEY_BEGAN}:{study.pk}", now.timestamp())
    form = protocol.survey_form(request.POST or None, settings)
    if models.Identity.objects.filter(member=member).exclude(crowd_id="").exists():
        form.fields.pop("crowd_id", None)  # the platform's link said who it is
    if request.method == "POST" and form.is_valid() and not _has_taken_part(form, request):
        seconds = now.timestamp() - float(began)
        # Every submission to any study here: a post may be handed in only once.
        earlier = list(models.StoredSubmission.objects.values_list("answers", flat=True))
        entry = protocol.survey_entry(form.cleaned_data, settings, seconds=seconds, now=now, earlier=earlier)
        for reason in entry.correctable:
            places: list[str | None] = [*entry.fields.get(reason, ())]
            for name in places or [None]:
                form.add_error(name, protocol.survey_reason(reason, settings))
        if not entry.correctable:
            _hand_in(request, form.cleaned_data, entry, seconds)
            return redirect("thanks", slug=study.slug)
    introduction = protocol.introduction(settings)
    context = {"study": study, "form": form, "protocol": protocol, "introduction": introduction}
    return render(request, protocol.survey_template, context)


def _has_taken_part(form: Any, request: HttpRequest) -> bool:
    """Show at its field that somebody else took part with this platform's id."""
    earlier = known_participant(request.study, form.cleaned_data.get("crowd_id", ""))
    if earlier is None or earlier.pk == request.member.pk:
        return False
    form.add_error("crowd_id", taken_part())
    return True


def _hand_in(request: HttpRequest, cleaned: dict[str, Any], entry: SurveyEntry, seconds: float) -> None:
    """Store the submission once, even if the button is pressed twice. The platform's id is stored apart."""
    try:
        with transaction.atomic():
            models.StoredSubmission.objects.create(
                study=request.study, member=request.member, key="only", answers=entry.answers,
                reasons=list(entry.reasons), seconds=round(seconds, 1),
            )  # fmt: skip
            counted, columns = journal.counted_time(request.member.pk, seconds, timezone.now())
            mine = models.Member.objects.filter(pk=request.member.pk)
            mine.update(page_seconds=F("page_seconds") + round(counted, 3), **columns)
            if cleaned.get("crowd_id"):
                models.Identity.objects.filter(member=request.member).update(crowd_id=cleaned["crowd_id"])
    except IntegrityError:
        return


@for_workers
def thanks(request: HttpRequest) -> HttpResponse:
    """Show whether the submission can be used, the withdrawal code and the platform's completion code."""
    submission = models.StoredSubmission.objects.filter(member=request.member).first()
    if submission is None:
        return redirect("study", slug=request.study.slug)
    protocol, settings = protocol_of(request.study), settings_of(request.study)
    context = {
        "study": request.study,
        "reasons": [protocol.survey_reason(reason, settings) for reason in submission.reasons],
        "code": shown_code(request.member),
        "completion": None if submission.reasons else _way_back(request),
    }
    return render(request, "studio/thanks.html", context)


def _way_back(request: HttpRequest) -> Completion | None:
    """Return the platform's code and address."""
    settings = settings_of(request.study)
    return filled_completion(settings, request.member)


# ---------------------------------------------------------------- ten items for anybody


_TRY_ITEMS = 10
_TRY_SALT = "deadpan.studio.try"


def try_ten(request: HttpRequest, slug: str) -> HttpResponse:
    """Show ten items of a public quiz, or the score of the answers that were sent."""
    study = models.StoredStudy.objects.filter(slug=slug, is_open=True).first()
    if study is None or not getattr(settings_of(study), "public_try", False):
        raise Http404
    if request.method != "POST":
        chosen = _chosen(study, secrets.token_hex(8))
        return _try_page(request, study, chosen)
    try:
        keys = signing.loads(request.POST.get("items", ""), salt=_TRY_SALT, max_age=24 * 3600)
        # The signed list says which items were shown: nobody gets a score for others.
        chosen = sorted(models.StoredItem.objects.filter(study=study, pk__in=keys), key=lambda row: keys.index(row.pk))
    except (signing.BadSignature, ValueError, TypeError):
        raise Http404 from None
    return _try_page(request, study, chosen, request.POST)


def _chosen(study: Any, seed: str) -> list[Any]:
    """Return ten items in the reader's language where there are some, no two of one family."""
    language = (get_language() or "")[:2]
    rows = models.StoredItem.objects.filter(study=study, kind=models.MAIN).values_list("pk", "family", "language")
    mine = [row for row in rows if row[2] in ("", language)] or list(rows)
    families: set[str] = set()
    keys: list[int] = []
    for pk, family, _language in sorted(mine, key=lambda row: draw(0, f"{seed}\x1f{row[0]}")):
        if len(keys) < _TRY_ITEMS and not (family and family in families):
            families.add(family)
            keys.append(pk)
    return list(models.StoredItem.objects.filter(pk__in=keys))


def _try_page(request: HttpRequest, study: Any, rows: list[Any], given: Any = None) -> HttpResponse:
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
        "items": signing.dumps([row.pk for row in rows], salt=_TRY_SALT),
        "total": len(rows),
    }
    return render(request, "studio/try.html", context)
