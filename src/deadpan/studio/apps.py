"""Names the studio to Django."""

from __future__ import annotations

from django.apps import AppConfig


class StudioConfig(AppConfig):
    """The one app of the project."""

    name = "deadpan.studio"
    label = "studio"
    default_auto_field = "django.db.models.BigAutoField"
