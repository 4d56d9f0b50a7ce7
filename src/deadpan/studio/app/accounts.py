"""Accounts: login, the first owner, passwords, guests, joining by an invitation, and withdrawal."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core import signing
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from deadpan.page import stylesheet
from deadpan.studio import models
from deadpan.studio.app.security import LoginAttempt, clean_text
from deadpan.studio.people.admission import (
    GUEST,
    any_invite,
    find_invite,
    is_preview,
    known_participant,
    platform_ids,
    use_invite,
)
from deadpan.studio.people.assignment import next_assignment, progress_of
from deadpan.studio.people.withdrawal import member_of_code, withdraw
from deadpan.studio.records.imports import IMPORTED_NAME
from deadpan.studio.records.progress import places_done

_BACKEND = "deadpan.studio.app.security.PasswordBackend"
_RETURN_SALT = "deadpan.studio.return"


class LoginForm(forms.Form):
    """Name and password."""

    name = forms.CharField(label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"}))
    password = forms.CharField(
        label=_("Password"),
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request, self.throttled = request, False
        self.person: Any = None

    def clean(self) -> dict[str, Any]:
        """Check the password, unless there were too many tries."""
        cleaned: dict[str, Any] = super().clean() or {}
        if self.request is None or not {"name", "password"} <= cleaned.keys():
            return cleaned
        attempt = LoginAttempt(self.request, cleaned["name"], timezone.now())
        if attempt.refused:
            self.throttled = True
            raise forms.ValidationError(gettext("Too many attempts. Wait ten minutes."))
        self.person = authenticate(self.request, **cleaned)
        if self.person is None:
            raise forms.ValidationError(gettext("Name and password do not match."))
        attempt.succeeded()
        return cleaned

    def get_user(self) -> Any:
        """Return who logged in, for Django's view."""
        return self.person


class AccountForm(forms.Form):
    """A new account."""

    name = forms.CharField(label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"}))
    password = forms.CharField(
        label=_("Password (10 characters or more)"),
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if models.Person.objects.filter(name=name).exists() or name.casefold().startswith((GUEST, IMPORTED_NAME)):
            raise forms.ValidationError(gettext("This name is taken. If it is yours, log in first."))
        return name

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, models.Person(name=self.cleaned_data.get("name", "")))
        return password


class Login(LoginView):
    """The login page."""

    template_name = "studio/login.html"
    authentication_form = LoginForm
    next_page = reverse_lazy("home")

    def form_invalid(self, form: LoginForm) -> HttpResponse:
        """Show the page again; too many tries have a status of their own."""
        response = super().form_invalid(form)
        response.status_code = 429 if form.throttled else 200
        return response


class OwnPasswordForm(PasswordChangeForm):
    """The old password and a new one; guesses of the old one are limited as at the login."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        """Check the old password, unless there were too many tries."""
        attempt = LoginAttempt(self.request, str(self.user.name), timezone.now())
        if attempt.refused:
            raise forms.ValidationError(gettext("Too many attempts. Wait ten minutes."))
        old: str = super().clean_old_password()
        attempt.succeeded()
        return old


class ChangePassword(PasswordChangeView):
    """Change one's own password; other sessions of the account end."""

    template_name = "studio/password.html"
    form_class = OwnPasswordForm
    success_url = reverse_lazy("account")

    def get_form_kwargs(self) -> dict[str, Any]:
        """Tell the form who asks."""
        return {**super().get_form_kwargs(), "request": self.request}


def sign_in(request: HttpRequest, person: Any) -> None:
    """Log in with a new session key, so that a session fixed earlier is useless."""
    login(request, person, backend=_BACKEND)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """Log out; a guest, who has no password, is shown the link back first."""
    link = return_link(request) if request.user.is_authenticated else ""
    logout(request)
    if link:
        return render(request, "studio/left.html", {"return_link": link})
    return redirect("login")


def start(request: HttpRequest, token: str) -> HttpResponse:
    """Create the first owner, by the link that the first start printed."""
    invite = find_invite(token, timezone.now())
    if invite is None or invite.study is not None:
        raise Http404
    form = AccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            # One statement checks and takes it: of two visitors only one becomes the owner.
            if not models.Invite.objects.filter(pk=invite.pk, uses_left=1).update(uses_left=0):
                raise Http404
            person = models.Person.objects.make(is_owner=True, **form.cleaned_data)
        sign_in(request, person)
        return redirect("home")
    return render(request, "studio/account.html", {"form": form, "title": gettext("Create the study leader's account")})


@login_required
def account_page(request: HttpRequest) -> HttpResponse:
    """Show one's account: the name, the password, and a guest's link back."""
    context = {"guest": is_guest(request.user), "return_link": return_link(request)}
    return render(request, "studio/profile.html", context)


# ---------------------------------------------------------------- guests


def is_guest(person: Any) -> bool:
    """Return whether this person came by a link and has no password."""
    return str(person.name).startswith(GUEST) and not person.has_usable_password()


def return_link(request: HttpRequest) -> str:
    """Return the link with which a guest comes back; empty for somebody who has a password."""
    if not is_guest(request.user):
        return ""
    # The unusable password is random: making a new one ends all links of the guest.
    token = signing.dumps([request.user.pk, request.user.password], salt=_RETURN_SALT, compress=True)
    return str(request.build_absolute_uri(reverse("return", args=[token])))


def return_guest(request: HttpRequest, token: str) -> HttpResponse:
    """Log a guest in again by their own link, after a press of a button: a link preview is not a visit."""
    try:
        pk, password = signing.loads(token, salt=_RETURN_SALT, max_age=settings.STUDIO_RETURN_AGE)
    except (signing.BadSignature, ValueError, TypeError):
        raise Http404 from None
    person = models.Person.objects.filter(pk=pk, password=password).first()
    if person is None:
        raise Http404
    if request.method == "POST":
        sign_in(request, person)
        return redirect("home")
    return render(request, "studio/back.html", {})


# ---------------------------------------------------------------- joining


# Roles that need a password, because they see other people's work.
_TRUSTED = (models.OWNER, models.ADJUDICATOR)


def join(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation. Annotators make an account; participants need none."""
    invite = any_invite(token)
    if invite is None or invite.study is None:
        raise Http404
    if (known := _known_member(request, invite)) is not None:
        return known
    if not invite.usable(timezone.now()):
        return _used_up(request, invite)
    if is_preview(request.GET):
        return render(request, "studio/join.html", {"study": invite.study, "preview": True})
    outsider = not request.user.is_authenticated or (invite.role in _TRUSTED and is_guest(request.user))
    form = AccountForm(request.POST or None) if invite.role != models.PARTICIPANT and outsider else None
    if request.method == "POST" and (form is None or form.is_valid()):
        return _admit(request, invite, form, outsider)
    context = {"form": form, "study": invite.study, "role": invite.role}
    return render(request, "studio/join.html", context)


def _known_member(request: HttpRequest, invite: Any) -> HttpResponse | None:
    """Return the next page for somebody who is already in the study: their link works again."""
    if request.user.is_authenticated:
        if models.Member.objects.filter(study=invite.study, person=request.user, role=invite.role).exists():
            return redirect("study", slug=invite.study.slug)
        return None
    # A link for one person is that person's own: a guest who used it comes back by it.
    if request.method == "POST" and invite.uses == 1 and invite.revoked_at is None:
        member = invite.members.select_related("person").first()
        if member is not None and is_guest(member.person):
            if _has_finished(member):
                # Whoever finds the link must see neither the answers nor the code.
                return render(request, "studio/join_again.html", {"study": invite.study, "finished": True})
            sign_in(request, member.person)
            return redirect("study", slug=invite.study.slug)
    return None


def _has_finished(member: Any) -> bool:
    """Return whether this person has handed in everything the study has for them."""
    if member.submissions.exists():
        return True
    return bool(member.done) and next_assignment(member, timezone.now()) is None


def _used_up(request: HttpRequest, invite: Any) -> HttpResponse:
    """Say that a link is used, withdrawn or too old, and what to do."""
    if invite.members.exists() and invite.revoked_at is None:
        mine = invite.uses == 1 and is_guest(invite.members.select_related("person").first().person)
        context = {"study": invite.study, "again": mine, "form": None}
        return render(request, "studio/join_again.html", context, status=200 if mine else 404)
    raise Http404


def _admit(request: HttpRequest, invite: Any, form: AccountForm | None, outsider: bool) -> HttpResponse:
    crowd_id, visit = platform_ids(request.GET)
    if invite.role == models.PARTICIPANT and crowd_id:
        earlier = known_participant(invite.study, crowd_id)
        if earlier is not None and (not request.user.is_authenticated or earlier.person != request.user):
            title = gettext("You have taken part already")
            # A start page would ask somebody without an account to log in: there is no way on from here.
            context = {"title": title, "text": taken_part(), "final": not request.user.is_authenticated}
            return render(request, "studio/error.html", context, status=409)
    try:
        with transaction.atomic():
            person = _person(request, form, outsider)
            member = use_invite(invite, person)
            if member is None:
                raise Http404
            if crowd_id:
                models.Identity.objects.update_or_create(
                    member=member, defaults={"crowd_id": crowd_id, "platform": visit}
                )
            if not member.language:
                models.Member.objects.filter(pk=member.pk).update(language=_language(invite.study))
    except IntegrityError:  # somebody else took the name at the same time
        return redirect("join", token=request.resolver_match.kwargs["token"])
    if person != request.user:
        sign_in(request, person)
    return redirect("study", slug=invite.study.slug)


def taken_part() -> str:
    """Return what somebody is told who comes with an id that has taken part."""
    return str(gettext("Somebody with this id has already taken part. If it was you, use the link you were given."))


def _language(study: Any) -> str:
    """Return the reader's language if the study has items in it; else everybody gets everything."""
    language = (get_language() or "")[:2]
    own = study.items.exclude(language="")
    return language if own.filter(language=language).exists() else ""


def _person(request: HttpRequest, form: AccountForm | None, outsider: bool) -> Any:
    if form is not None:
        return models.Person.objects.make(**form.cleaned_data)
    if request.user.is_authenticated and not outsider:
        return request.user
    return models.Person.objects.make(f"{GUEST}{secrets.token_hex(8)}")


# ---------------------------------------------------------------- pages of no study


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """List the person's studies with their progress; for an owner, all studies with theirs."""
    mine = (
        models.Member.objects.filter(person=request.user)
        .exclude(state__in=(models.WITHDRAWN, models.REMOVED))
        .select_related("study")
    )
    memberships = [{"m": member, "progress": progress_of(member, member.study)} for member in mine]
    studies = models.StoredStudy.objects.order_by("-created_at") if request.user.is_owner else []
    done = places_done() if request.user.is_owner else {}
    rows = [{"study": study, "places": done.get(study.pk, (0, 0))} for study in studies]
    return render(request, "studio/home.html", {"memberships": memberships, "studies": rows})


def style_sheet(request: HttpRequest) -> HttpResponse:
    """Return the style sheet of every deadpan page."""
    return HttpResponse(stylesheet(), content_type="text/css", headers={"Cache-Control": "max-age=3600"})


def withdrawal(request: HttpRequest) -> HttpResponse:
    """Withdraw with the code, after one question; no login is needed."""
    message, done, status, found = "", False, 200, None
    code = clean_text(request.POST.get("code", ""))[:60]
    if request.method == "POST":
        at = timezone.now()
        attempt = LoginAttempt(request, "withdraw", at)
        if attempt.refused:
            message, status = gettext("Too many attempts. Wait ten minutes."), 429
        elif (found := member_of_code(code)) is None:
            message = gettext("No such code, or it was used already. Check it letter by letter.")
        else:
            attempt.succeeded()
            done = request.POST.get("sure") == "yes" and withdraw(code, at)
        if done and request.user.is_authenticated and not models.Person.objects.filter(pk=request.user.pk).exists():
            logout(request)
    context = {"message": message, "done": done, "found": found, "code": code}
    return render(request, "studio/withdraw.html", context, status=status)
