"""The builder of a custom study's questions: a form per question, errors at their fields, until the study is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.errors import DeadpanError
from deadpan.formats.study import CustomQuestion, QuestionKind, question_problems
from deadpan.studio.app.security import for_owners, takes_files, whole_number
from deadpan.studio.records import steering
from deadpan.studio.records.questions import parse_questions
from deadpan.studio.records.studies import protocol_of, settings_of
from deadpan.validation import encode

_MOST_QUESTIONS = 50
_KIND_NAMES = {
    "choice": _("one answer"),
    "many": _("several answers"),
    "scale": _("scale with steps (Likert)"),
    "slider": _("slider"),
    "ranking": _("ranking"),
    "text": _("own words"),
    "spans": _("mark words in the text"),
}


class QuestionForm(forms.Form):
    """One question."""

    text = forms.CharField(label=_("Question"), max_length=500)
    name = forms.CharField(label=_("Name in the data: small letters, digits, hyphens"), max_length=40)
    kind = forms.ChoiceField(label=_("Kind"), choices=[(kind, _KIND_NAMES[kind]) for kind in get_args(QuestionKind)])
    options = forms.CharField(
        label=_("Answers, or labels of marked words, one per line"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    low = forms.IntegerField(label=_("Lowest value of a scale or slider"), initial=1)
    high = forms.IntegerField(label=_("Highest value"), initial=5)
    left = forms.CharField(label=_("What the lowest value means"), required=False, max_length=100)
    right = forms.CharField(label=_("What the highest value means"), required=False, max_length=100)
    required = forms.BooleanField(label=_("Must be answered"), required=False, initial=True)
    after = forms.CharField(label=_("Ask only after the question (its name)"), required=False, max_length=40)
    when = forms.CharField(
        label=_("if its answer is one of these, one per line"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    predict = forms.BooleanField(label=_("Also ask how many others will give the same answer"), required=False)
    remove = forms.BooleanField(label=_("Remove this question"), required=False)

    def question(self) -> CustomQuestion:
        """Return what was filled in."""
        c = self.cleaned_data
        ends = (c["left"], c["right"]) if c["left"] or c["right"] else ()
        return CustomQuestion(
            name=c["name"].strip(), text=c["text"].strip(), kind=c["kind"], options=_lines(c["options"]), low=c["low"],
            high=c["high"], ends=ends if all(ends) else ends[:1], required=c["required"], after=c["after"].strip(),
            when=_lines(c["when"]) if c["after"].strip() else (), predict=c["predict"],
        )  # fmt: skip


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _initial(question: CustomQuestion) -> dict[str, Any]:
    """Return a question as its form shows it."""
    ends = question.ends or ("", "")
    lists = {"options": "\n".join(question.options), "when": "\n".join(question.when)}
    return {**encode(question), **lists, "left": ends[0], "right": ends[1]}


@takes_files
@for_owners
def questions_page(request: HttpRequest) -> HttpResponse:
    """Show and change the questions of a draft, or take those of another tool's file."""
    study = request.study
    if not protocol_of(study).own_questions:
        raise Http404
    if request.method == "POST" and study.is_draft and request.FILES:
        file = next(iter(request.FILES.values()))
        try:
            found = parse_questions(file.read(), file.name)
            steering.change_study(study, {"questions": encode(found)}, request.user.name)
            return redirect("questions", slug=study.slug)
        except DeadpanError as bad:
            return _page(request, [], status=400, error=str(bad))
    if request.method == "POST" and study.is_draft:
        count = whole_number(request.POST.get("count", ""), 1, 1, _MOST_QUESTIONS)
        rows = [QuestionForm(request.POST, prefix=f"q{at}") for at in range(count)]
        if _keep(request, rows):
            return redirect("questions" if "more" in request.POST else "preview", slug=study.slug)
        return _page(request, rows, status=400)
    known = settings_of(study).questions
    rows = [QuestionForm(initial=_initial(question), prefix=f"q{at}") for at, question in enumerate(known)]
    return _page(request, [*rows, QuestionForm(prefix=f"q{len(rows)}")] if study.is_draft else rows)


def _page(request: HttpRequest, rows: Sequence[QuestionForm], status: int = 200, error: str = "") -> HttpResponse:
    context = {"study": request.study, "rows": rows, "error": error}
    return render(request, "studio/questions.html", context, status=status)


def _keep(request: HttpRequest, rows: Sequence[QuestionForm]) -> bool:
    """Store the questions; False where a field has an error, which stands at it."""
    kept = [row for row in rows if not (request.POST.get(f"{row.prefix}-remove") or _is_blank(request, row))]
    # Each is looked at, so that every mistake is shown at once.
    if sum(not row.is_valid() for row in kept):
        return False
    questions = [row.question() for row in kept]
    problems = question_problems(questions)
    for at, field, wrong in problems:
        (kept[at] if kept else rows[0]).add_error({"ends": "left"}.get(field, field), gettext(wrong))
    if problems:
        return False
    try:
        steering.change_study(request.study, {"questions": encode(questions)}, request.user.name)
    except DeadpanError as bad:
        rows[0].add_error(None, str(bad))
        return False
    return True


def _is_blank(request: HttpRequest, row: QuestionForm) -> bool:
    """Return whether nothing was written into the empty form at the end."""
    return not any(request.POST.get(f"{row.prefix}-{name}", "").strip() for name in ("text", "name", "options"))
