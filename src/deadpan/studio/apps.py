"""The Django app of the studio."""

from __future__ import annotations

from django.apps import AppConfig


class StudioConfig(AppConfig):
    """Configuration of the app."""

    name = "deadpan.studio"
    label = "studio"
    default_auto_field = "django.db.models.BigAutoField"
