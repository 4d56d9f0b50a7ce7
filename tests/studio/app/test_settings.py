"""Settings that depend on how the studio is reached."""

from __future__ import annotations

import pytest

from deadpan.studio.app.settings import settings_for


@pytest.mark.parametrize(
    ("hosts", "plain_http", "strict"), [(("study.example",), False, True), (("lab",), True, False), ((), False, False)]
)
def test_browsers_are_told_to_come_by_tls_only_where_there_is_tls(site, tmp_path, hosts, plain_http, strict):
    from django.test import Client, override_settings

    chosen = settings_for(tmp_path, hosts=hosts, plain_http=plain_http)
    names = ("SECURE_HSTS_SECONDS", "SECURE_PROXY_SSL_HEADER", "ALLOWED_HOSTS")
    with override_settings(**{name: chosen[name] for name in names}):
        host = hosts[0] if hosts else "localhost"
        safe = Client(headers={"host": host, "x-forwarded-proto": "https"}).get("/login")
        plain = Client(headers={"host": host, "x-forwarded-proto": "http"}).get("/login")
    assert safe.status_code == plain.status_code == 200
    assert ("Strict-Transport-Security" in safe.headers) is strict
    assert "Strict-Transport-Security" not in plain.headers


@pytest.mark.parametrize(
    ("hosts", "plain_http", "prefix"), [(("study.example",), False, "__Host-"), (("lab",), True, ""), ((), False, "")]
)
def test_cookies_of_a_named_host_have_its_prefix(site, tmp_path, hosts, plain_http, prefix):
    """A browser takes such a cookie over TLS only, and from no other host of the domain."""
    from django.test import Client, override_settings

    chosen = settings_for(tmp_path, hosts=hosts, plain_http=plain_http)
    changed = {name: value for name, value in chosen.items() if "_COOKIE_" in name}
    with override_settings(ALLOWED_HOSTS=["*"], **changed):
        cookies = Client().post("/language", {"language": "ko", "next": "/"}).cookies
        cookies |= Client().get("/login").cookies
    assert sorted(cookies) == sorted(
        ("__Host-csrftoken", "__Host-language") if prefix else ("csrftoken", "django_language")
    )
    for cookie in cookies.values():
        assert bool(cookie["secure"]) is not plain_http
        assert cookie["path"] == "/" and not cookie["domain"]
