"""Accounts: login, the first owner, passwords, and the way back for guests."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core import signing
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from deadpan.studio.app.throttle import Try
from deadpan.studio.models import Invite, Person
from deadpan.studio.people.invites import GUEST, find_invite

BACKEND = "deadpan.studio.app.security.PasswordBackend"
RETURN = "deadpan.studio.return"


class LoginForm(forms.Form):
    """Name and password."""

    name = forms.CharField(
        label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
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
        attempt = Try(self.request, cleaned["name"], timezone.now())
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

    name = forms.CharField(
        label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label=_("Password (10 characters or more)"),
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if Person.objects.filter(name=name).exists() or name.casefold().startswith((GUEST, "imported-")):
            raise forms.ValidationError(gettext("This name is taken. If it is yours, log in first."))
        return name

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, Person(name=self.cleaned_data.get("name", "")))
        return password


class Enter(LoginView):
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
        attempt = Try(self.request, str(self.user.name), timezone.now())
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
    login(request, person, backend=BACKEND)


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
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
            if not Invite.objects.filter(pk=invite.pk, uses_left=1).update(uses_left=0):
                raise Http404
            person = Person.objects.make(is_owner=True, **form.cleaned_data)
        sign_in(request, person)
        return redirect("home")
    return render(
        request, "studio/account.html", {"form": form, "title": gettext("Create the study leader's account")}
    )


@login_required
def account(request: HttpRequest) -> HttpResponse:
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
    token = signing.dumps([request.user.pk, request.user.password], salt=RETURN, compress=True)
    return str(request.build_absolute_uri(reverse("return", args=[token])))


def come_back(request: HttpRequest, token: str) -> HttpResponse:
    """Log a guest in again by their own link, after a press of a button: a link preview is not a visit."""
    try:
        pk, password = signing.loads(token, salt=RETURN, max_age=settings.STUDIO_RETURN_AGE)
    except (signing.BadSignature, ValueError, TypeError):
        raise Http404 from None
    person = Person.objects.filter(pk=pk, password=password).first()
    if person is None:
        raise Http404
    if request.method == "POST":
        sign_in(request, person)
        return redirect("home")
    return render(request, "studio/back.html", {})
