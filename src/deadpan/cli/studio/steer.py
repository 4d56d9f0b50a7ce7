"""Steering a study: its settings, items, imports and people; everything the pages of the leader do."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from deadpan.cli.command import Command
from deadpan.cli.studio.home import about_study, actor, opens_studio
from deadpan.cli.terminal.output import show

ROLES = ("annotator", "adjudicator", "participant", "owner")


def _command(name: str, about: str, call: str, *parameters: Any, opens: Any = about_study) -> click.Command:
    """Return a command that calls a function of `life.commands` about one study or account."""

    def run(study: Any, as_json: bool, **given: Any) -> None:
        show(getattr(import_module("deadpan.studio.life.commands"), call)(study, actor(), **given), as_json)

    command = opens(run)
    for parameter in reversed((click.argument("name"), *parameters)):
        command = parameter(command)
    return click.command(name, cls=Command, help=about)(command)


SITE = click.option("--site", default="", help="Address of the studio. [default: where it was served last]")
COMMANDS = (
    _command(
        "invite", "Create a link that lets people into a study. It is shown once.", "invite",
        click.option("--role", default="annotator", show_default=True, type=click.Choice(ROLES),
                     help="What they may do."),
        click.option("--uses", default=1, type=click.IntRange(1, 10_000), help="Number of people it admits."),
        click.option("--days", default=30, type=click.IntRange(1, 365), help="Days until it expires."),
        click.option("--group", default="", help="A group of people, for the setting per_group."),
        SITE,
    ),
    _command(
        "set", "Change the settings of a study while it runs; open, pause or close it.", "change_words",
        click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE",
                     help="A setting of the protocol."),
        click.option("--title", default="", help="Title people see at the top."),
        click.option("--stage", type=click.Choice(["open", "paused", "closed"]), help="New stage."),
    ),
    _command(
        "add", "Add items from a FILE: a table, items or Label Studio tasks.", "add_file",
        click.argument("file", type=click.Path(path_type=Path, exists=True)),
    ),
    _command(
        "members", "List members and invitations; remove or restore a member, end an invitation.", "members",
        click.option("--remove", metavar="PSEUDONYM", help="Remove a member; their answers stay."),
        click.option("--restore", metavar="PSEUDONYM", help="Restore a member."),
        click.option("--revoke", type=int, metavar="INVITE", help="End an invitation."),
    ),
    _command(
        "imports", "List the imports of a study, or remove one with everything it added.", "imports",
        click.option("--remove", type=int, metavar="IMPORT", help="Remove this import."),
    ),
    _command("log", "Show what the study leaders did, latest first.", "log"),
    _command(
        "applicants", "Show how applicants did in the qualification round; admit or refuse.", "applicants",
        click.option("--admit", multiple=True, metavar="PSEUDONYM", help="Admit this applicant."),
        click.option("--refuse", multiple=True, metavar="PSEUDONYM", help="Refuse this applicant."),
        click.option("--admit-proposed", is_flag=True, help="Admit everyone the table proposes."),
    ),
    _command(
        "password", "Create a link to set a new password for an account, including the owner's.", "password",
        SITE,
        opens=lambda run: opens_studio(existing=True)(lambda name, **given: run(study=name, **given)),
    ),
)  # fmt: skip
