"""Coming in and going out: login, the first owner, invitations."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.password_validation import validate_password
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from deadpan.studio.invites import find_invite, use_invite
from deadpan.studio.models import PARTICIPANT, Invite, Person
from deadpan.studio.security import attempt_key, count_failure, too_many


class LoginForm(forms.Form):
    """Name and password."""

    name = forms.CharField(
        label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label=_("Password"), widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )


class AccountForm(forms.Form):
    """A new account."""

    name = forms.CharField(
        label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label=_("Password (10 characters or more)"),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        validators=[validate_password],
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if Person.objects.filter(name=name).exists():
            raise forms.ValidationError(gettext("Somebody has this name. If it is you, log in first."))
        return name


def _sign_in(request: HttpRequest, person: Any) -> None:
    """A new session key with the new rights: one known from before is worth nothing."""
    login(request, person, backend="deadpan.studio.security.PasswordBackend")


def enter(request: HttpRequest) -> HttpResponse:
    """The login page."""
    form = LoginForm(request.POST or None)
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    status = 200
    if request.method == "POST" and form.is_valid():
        key = attempt_key(request, form.cleaned_data["name"])
        at = timezone.now()
        if too_many(key, at):
            form.add_error(None, gettext("Too many tries. Wait ten minutes."))
            status = 429
        else:
            person = authenticate(request, **form.cleaned_data)
            if person is not None:
                _sign_in(request, person)
                local = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
                return redirect(wanted if local else "home")
            count_failure(key, at)
            form.add_error(None, gettext("Name and password do not match."))
    return render(request, "studio/login.html", {"form": form, "next": wanted}, status=status)


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    """Log out."""
    logout(request)
    return redirect("login")


def start(request: HttpRequest, token: str) -> HttpResponse:
    """The first owner, by the link the first start printed."""
    invite = find_invite(token, timezone.now())
    if invite is None or invite.study is not None:
        raise Http404
    form = AccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            if not Invite.objects.filter(pk=invite.pk, uses_left=1).update(uses_left=0):
                raise Http404
            person = Person.objects.make(is_owner=True, **form.cleaned_data)
        _sign_in(request, person)
        return redirect("home")
    return render(
        request, "studio/account.html", {"form": form, "title": gettext("Make the owner's account")}
    )


def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation. Annotators make an account; participants need none."""
    invite = find_invite(token, timezone.now())
    if invite is None or invite.study is None:
        raise Http404
    needs_account = invite.role != PARTICIPANT and not request.user.is_authenticated
    form = AccountForm(request.POST or None) if needs_account else None
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            with transaction.atomic():
                person = _person(request, form)
                member = use_invite(invite, person)
                if member is None:
                    raise Http404
        except IntegrityError:  # the name was taken a moment ago
            return redirect("join", token=token)
        if not request.user.is_authenticated:
            _sign_in(request, person)
        return redirect("study", slug=invite.study.slug)
    context = {"form": form, "study": invite.study, "role": invite.role}
    return render(request, "studio/join.html", context)


def _person(request: HttpRequest, form: AccountForm | None) -> Any:
    if request.user.is_authenticated:
        return request.user
    if form is None:
        return Person.objects.make(f"guest-{secrets.token_hex(8)}")
    return Person.objects.make(**form.cleaned_data)
