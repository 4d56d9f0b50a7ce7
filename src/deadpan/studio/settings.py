"""Django's settings, from a home folder and a database address. Debug is off and cannot be put on."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from deadpan.errors import ConfigError

PACKAGE = Path(__file__).parent
DATABASE = "studio.sqlite3"
SECRET = "secret.key"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def settings_for(
    home: Path, url: str = "", hosts: tuple[str, ...] = (), plain_http: bool = False
) -> dict[str, Any]:
    """Everything Django is told. `plain_http` lets cookies travel without TLS, for a network one trusts."""
    return {
        "DEBUG": False,
        "SECRET_KEY": secret_key(home),
        "ALLOWED_HOSTS": [*LOOPBACK, *hosts],
        "CSRF_TRUSTED_ORIGINS": [f"https://{host}" for host in hosts if host != "*"],
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https") if hosts and not plain_http else None,
        "DATABASES": {"default": database_settings(home, url)},
        "INSTALLED_APPS": [
            "django.contrib.contenttypes",
            "django.contrib.auth",
            "django.contrib.sessions",
            "django.contrib.staticfiles",
            "deadpan.studio",
        ],
        "MIDDLEWARE": [
            "django.middleware.security.SecurityMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "deadpan.studio.security.PolicyMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.locale.LocaleMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [PACKAGE / "templates"],
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.template.context_processors.i18n",
                    ],
                    "builtins": ["deadpan.studio.templating"],
                },
            }
        ],
        "ROOT_URLCONF": "deadpan.studio.urls",
        "STATIC_URL": "/static/",
        "STATIC_ROOT": None,
        "WHITENOISE_USE_FINDERS": True,
        "WHITENOISE_AUTOREFRESH": False,
        "AUTH_USER_MODEL": "studio.Person",
        "AUTHENTICATION_BACKENDS": ["deadpan.studio.security.PasswordBackend"],
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.Argon2PasswordHasher"],
        "AUTH_PASSWORD_VALIDATORS": [
            {
                "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
                "OPTIONS": {"min_length": 10},
            },
            {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
        ],
        "LOGIN_URL": "login",
        "CSRF_FAILURE_VIEW": "deadpan.studio.views.mishap.csrf",
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "USE_TZ": True,
        "TIME_ZONE": "UTC",
        "USE_I18N": True,
        "LANGUAGE_CODE": "en",
        "LANGUAGES": [("en", "English"), ("ko", "한국어")],
        "LOCALE_PATHS": [PACKAGE / "locale"],
        **_safety(plain_http),
        "DATA_UPLOAD_MAX_MEMORY_SIZE": 512 * 1024,
        "LOGGING": {"version": 1, "disable_existing_loggers": False, **_log()},
    }


def _safety(plain_http: bool) -> dict[str, Any]:
    """Cookies no script and no other site can read, and what browsers are told to refuse."""
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
    }


def _log() -> dict[str, Any]:
    """Errors to standard error, without what people wrote."""
    return {
        "handlers": {"screen": {"class": "logging.StreamHandler", "level": "ERROR"}},
        "loggers": {"django": {"handlers": ["screen"], "level": "ERROR", "propagate": False}},
    }


def secret_key(home: Path) -> str:
    """The key that signs cookies: made once, readable by its owner only, never in the repository."""
    path = home / SECRET
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        home.mkdir(parents=True, exist_ok=True)
    key = secrets.token_urlsafe(48)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was faster
        return path.read_text(encoding="ascii").strip()
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(key)
    return key


def database_settings(home: Path, url: str) -> dict[str, Any]:
    """SQLite in the home folder, or PostgreSQL by postgres://user:password@host:port/name."""
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(home / DATABASE),
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "timeout": 30,
                # A writer waits its turn from the start: an upgrade in mid-transaction could not wait.
                "transaction_mode": "IMMEDIATE",
                # FULL: an acknowledged save is on the disk, also when the power goes.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
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
        "CONN_HEALTH_CHECKS": True,
    }
