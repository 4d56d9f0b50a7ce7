"""Functions behind the commands that steer a study, in the words of the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError
from deadpan.results import Result
from deadpan.studio.app.server import last_address
from deadpan.studio.people.admission import decide_applicants, invite_link
from deadpan.studio.records import steering
from deadpan.studio.records.imports import remove_import, study_imports
from deadpan.studio.records.sources import file_items


def setting(word: str) -> tuple[str, Any]:
    """Return NAME=VALUE with the value as in TOML, or as text."""
    name, mark, value = word.partition("=")
    if not mark or not name:
        raise ConfigError(f"--setting {word}: write NAME=VALUE, such as --setting rate=12.5")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def invite(study: Any, actor: str, role: str, site: str, **options: Any) -> Result:
    """Return a new link that lets people into a study."""
    return invite_link(study, role, now=datetime.now(UTC), actor=actor, site=_site(site), **options)


def _site(named: str) -> str:
    """Return the address that was named, or the one at which the studio was served last."""
    from django.conf import settings

    return named or last_address(Path(settings.STUDIO_HOME))


def change_words(study: Any, actor: str, settings: Sequence[str], title: str, stage: str | None) -> Result:
    """Change settings given as NAME=VALUE, the title and the stage."""
    return steering.change_study(study, dict(map(setting, settings)), actor, title=title, stage=stage)


def add_file(study: Any, actor: str, file: Path) -> Result:
    """Add the items of a file."""
    return steering.add_items(study, file_items(file, study.protocol), actor)


def members(study: Any, actor: str, remove: str | None, restore: str | None, revoke: int | None) -> Result:
    """Return members and invitations, after a change."""
    return steering.change_members(study, actor, datetime.now(UTC), remove, restore, revoke)


def imports(study: Any, actor: str, remove: int | None) -> Result:
    """Return the imports of a study, after a removal."""
    return study_imports(study) if remove is None else remove_import(study, remove, actor, datetime.now(UTC))


def applicants(study: Any, actor: str, **decisions: Any) -> Result:
    """Return everybody who took the qualification round, after decisions."""
    return decide_applicants(study, **decisions, actor=actor)


def log(study: Any, actor: str) -> Result:
    """Return the audit log."""
    return steering.audit_log(study)


def password(account: str, actor: str, site: str) -> Result:
    """Return a link with which somebody sets a new password."""
    return steering.reset_link(account, _site(site), datetime.now(UTC), actor)
