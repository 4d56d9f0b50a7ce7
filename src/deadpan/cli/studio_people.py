"""Who is let into a study: links, and the decision after the qualification round."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.output import emit, json_option, table
from deadpan.cli.studio_home import actor, find_study, home_option, name_argument
from deadpan.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

ROLES = ("annotator", "adjudicator", "participant", "owner")


@click.command()
@name_argument
@click.option("--role", default="annotator", show_default=True, type=click.Choice(ROLES))
@click.option(
    "--uses", default=1, show_default=True, type=click.IntRange(1, 10_000), help="For how many people."
)
@click.option("--days", default=30, show_default=True, type=click.IntRange(1, 365), help="How long it works.")
@click.option(
    "--site", default="http://127.0.0.1:8000", show_default=True, help="Where the studio is served."
)
@home_option
@json_option
def invite(name: str, role: str, uses: int, days: int, site: str, home: Path, as_json: bool) -> None:
    """A link that lets people into a study. It is shown once: only its hash is kept."""
    study = find_study(home, name)
    from deadpan.studio.invites import make_invite

    token = make_invite(study, role, uses, datetime.now(UTC), actor(), days)
    link = f"{site.rstrip('/')}/join/{token}"
    emit(as_json, {"link": link, "role": role, "uses": uses}, lambda out: out.print(link, soft_wrap=True))


@click.command()
@name_argument
@click.option("--admit", multiple=True, metavar="PSEUDONYM", help="Let this applicant in; may be repeated.")
@click.option("--refuse", multiple=True, metavar="PSEUDONYM", help="Turn this applicant away.")
@click.option("--admit-proposed", is_flag=True, help="Let in everybody whom the table proposes.")
@home_option
@json_option
def applicants(
    name: str,
    admit: tuple[str, ...],
    refuse: tuple[str, ...],
    admit_proposed: bool,
    home: Path,
    as_json: bool,
) -> None:
    """Who took the qualification round, how they match the others, and your decision."""
    study = find_study(home, name)
    from deadpan.studio.qualification import applicants as everybody
    from deadpan.studio.qualification import decide, has_round

    if not has_round(study):
        raise ConfigError(f"{name} has no qualification round: everybody who joins is in")
    chosen = dict.fromkeys(admit, True) | dict.fromkeys(refuse, False)
    if len(chosen) < len({*admit}) + len({*refuse}):
        raise ConfigError("the same applicant is admitted and refused: choose one")
    found = everybody(study)
    if admit_proposed:
        chosen = {
            a.member.pseudonym: True for a in found if a.passed and a.member.state == "applicant"
        } | chosen
    known = {a.member.pseudonym for a in found}
    for pseudonym in chosen:
        if pseudonym not in known:
            raise ConfigError(f"no applicant {pseudonym!r} in {name}; see deadpan studio applicants {name}")
    for pseudonym, let_in in chosen.items():
        decide(study, pseudonym, let_in, actor())
    data = [_row(a) for a in everybody(study)]

    def show(out: Console) -> None:
        head = ("pseudonym", "answered", "match with the others", "proposal", "state")
        rows = [(r["pseudonym"], r["answered"], r["shown"], r["proposal"], r["state"]) for r in data]
        out.print(table(head, rows, numbers=("answered",)) if rows else "no applicant yet")

    emit(as_json, [{key: value for key, value in row.items() if key != "shown"} for row in data], show)


def _row(applicant: Any) -> dict[str, Any]:
    return {
        "pseudonym": applicant.member.pseudonym,
        "answered": applicant.answered,
        "match": applicant.match.as_dict(),
        "shown": str(applicant.match),
        "proposal": "admit" if applicant.passed else "not yet",
        "state": applicant.member.state,
    }
