"""Django's settings, from a home folder and a database address. Debug is always off."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from deadpan.errors import ConfigError

_PACKAGE = Path(__file__).parent.parent
DATABASE = "studio.sqlite3"
WORKER_VARIABLE = "DEADPAN_STUDIO_WORKER"
"""Set by a server that started a worker for the figures; without one, a request computes them itself."""
_SECRET_FILE = "secret.key"
_MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "deadpan.studio.app.security.PrivacyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "deadpan.studio.app.security.UploadMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "deadpan.studio.app.security.DatabaseMiddleware",
]
_SELF, _NONE = "'self'", "'none'"
# Pages load nothing from other hosts and run only our script files.
_POLICY = {
    "default-src": [_NONE],
    "object-src": [_NONE],
    "script-src": [_SELF],
    "style-src": [_SELF],
    "img-src": [_SELF, "data:"],
    "connect-src": [_SELF],
    "form-action": [_SELF],
    "base-uri": [_NONE],
    "frame-ancestors": [_NONE],
}
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def settings_for(
    home: Path, url: str = "", hosts: tuple[str, ...] = (), plain_http: bool = False, client_header: str = ""
) -> dict[str, Any]:
    """Return all settings. `plain_http` allows cookies without TLS, for a network you trust.

    `client_header` is the header in which the proxy says who asks, as the environment names it:
    HTTP_X_FORWARDED_FOR.
    """
    return {
        "DEBUG": False,
        "STUDIO_HOME": str(home),
        "STUDIO_CLIENT_HEADER": client_header,
        "STUDIO_RETURN_AGE": 365 * 24 * 3600,
        "SECRET_KEY": secret_key(home),
        "ALLOWED_HOSTS": [*_LOOPBACK, *hosts],
        "CSRF_TRUSTED_ORIGINS": [f"https://{host}" for host in hosts if host != "*"],
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https") if hosts and not plain_http else None,
        "DATABASES": {"default": database_settings(home, url)},
        "INSTALLED_APPS": [
            "django.contrib.contenttypes",
            "django.contrib.auth",
            "django.contrib.sessions",
            "django.contrib.staticfiles",
            "csp",
            "deadpan.studio",
        ],
        "MIDDLEWARE": _MIDDLEWARE,
        "TEMPLATES": [_templates()],
        "ROOT_URLCONF": "deadpan.studio.app.urls",
        "STATIC_URL": "/static/",
        "STATIC_ROOT": None,
        "WHITENOISE_USE_FINDERS": True,
        "WHITENOISE_AUTOREFRESH": False,
        "AUTH_USER_MODEL": "studio.Person",
        "AUTHENTICATION_BACKENDS": ["deadpan.studio.app.security.PasswordBackend"],
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.Argon2PasswordHasher"],
        "AUTH_PASSWORD_VALIDATORS": [
            {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
            {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
            {"NAME": "deadpan.studio.app.security.PlainWordValidator"},
            {
                "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
                "OPTIONS": {"user_attributes": ("name",)},
            },
        ],
        "LOGIN_URL": "login",
        "CSRF_FAILURE_VIEW": "deadpan.studio.app.security.csrf_failure",
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "USE_TZ": True,
        "TIME_ZONE": "UTC",
        "USE_I18N": True,
        "LANGUAGE_CODE": "en",
        "LANGUAGES": [("en", "English"), ("ko", "한국어")],
        "LOCALE_PATHS": [_PACKAGE / "locale"],
        "LANGUAGE_COOKIE_AGE": 365 * 24 * 3600,
        "LANGUAGE_COOKIE_HTTPONLY": True,
        "LANGUAGE_COOKIE_SAMESITE": "Lax",
        **_safety(plain_http),
        **(_prefixed() if hosts and not plain_http else {}),
        # Sent over TLS only, which is what a named host has; the proxy says so in X-Forwarded-Proto.
        "SECURE_HSTS_SECONDS": 365 * 24 * 3600 if hosts and not plain_http else 0,
        "DATA_UPLOAD_MAX_MEMORY_SIZE": 512 * 1024,
        "LOGGING": {"version": 1, "disable_existing_loggers": False, **_log()},
    }


def _templates() -> dict[str, Any]:
    """Return the settings of templates."""
    return {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_PACKAGE / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "deadpan.studio.app.templating.browser_identity",
            ],
            "builtins": ["deadpan.studio.app.templating"],
        },
    }


def _safety(plain_http: bool) -> dict[str, Any]:
    """Return the settings of cookies and security headers."""
    return {
        "SESSION_COOKIE_SECURE": not plain_http,
        "CSRF_COOKIE_SECURE": not plain_http,
        "LANGUAGE_COOKIE_SECURE": not plain_http,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "CSRF_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_AGE": 14 * 24 * 3600,
        "SECURE_CONTENT_TYPE_NOSNIFF": True,
        "SECURE_REFERRER_POLICY": "same-origin",
        "X_FRAME_OPTIONS": "DENY",
        "CONTENT_SECURITY_POLICY": {"DIRECTIVES": _POLICY},
    }


def _prefixed() -> dict[str, Any]:
    """Return names of cookies that a browser takes over TLS only, and from this host only."""
    cookies = {"SESSION": "sessionid", "CSRF": "csrftoken", "LANGUAGE": "language"}
    return {f"{cookie}_COOKIE_NAME": f"__Host-{name}" for cookie, name in cookies.items()}


def _log() -> dict[str, Any]:
    """Return logging of errors to standard error, without people's answers."""
    return {
        "handlers": {"screen": {"class": "logging.StreamHandler", "level": "ERROR"}},
        "loggers": {"django": {"handlers": ["screen"], "level": "ERROR", "propagate": False}},
    }


def secret_key(home: Path) -> str:
    """Return the key that signs cookies: made once, readable by its owner only."""
    path = home / _SECRET_FILE
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        home.mkdir(parents=True, exist_ok=True)
    key = secrets.token_urlsafe(48)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process created it
        return path.read_text(encoding="ascii").strip()
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(key)
    return key


def database_settings(home: Path, url: str) -> dict[str, Any]:
    """Return the settings of SQLite in the home folder, or of PostgreSQL at postgres://user:password@host/name."""
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(home / DATABASE),
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "timeout": 30,
                # Take the write lock at the start: upgrading a read transaction cannot wait and fails.
                "transaction_mode": "IMMEDIATE",
                # FULL: an acknowledged save is on the disk even after a power failure.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                # What is deleted is overwritten: a withdrawal leaves nothing in the file.
                "PRAGMA secure_delete=ON;",
            },
        }
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise ConfigError(
            f"DATABASE_URL begins with {parts.scheme or url[:12]!r}: leave it empty for SQLite, "
            "or give postgres://user:password@host:port/name"
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": None,
        # A restarted PostgreSQL is noticed before a request fails.
        "CONN_HEALTH_CHECKS": True,
    }
