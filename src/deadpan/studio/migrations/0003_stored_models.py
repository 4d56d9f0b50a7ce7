"""Rename four models so that no other class has their names. The tables stay as they are."""

from __future__ import annotations

from typing import Any

from django.db import migrations

RENAMED = ("Study", "Item", "Judgment", "Submission")


def _rename(name: str) -> tuple[Any, Any]:
    """Pin the table first: renaming a model whose table is named does not touch the database."""
    return (
        migrations.AlterModelTable(name, f"studio_{name.lower()}"),
        migrations.RenameModel(name, f"Stored{name}"),
    )


class Migration(migrations.Migration):
    dependencies = (("studio", "0002_append_only"),)
    operations = tuple(step for name in RENAMED for step in _rename(name))
