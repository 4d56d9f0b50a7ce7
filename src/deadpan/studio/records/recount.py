"""Counters of members, items and studies, computed again from the journal and the assignments."""

from __future__ import annotations

COUNTERS = (
    "UPDATE studio_member SET seconds = COALESCE((SELECT SUM(j.seconds) FROM studio_judgment j "
    "WHERE j.member_id = studio_member.id), 0)",
    *(
        f"UPDATE studio_member SET {column} = (SELECT COUNT(*) FROM studio_assignment a JOIN studio_item i "
        f"ON i.id = a.item_id WHERE a.member_id = studio_member.id AND a.state = 'done' "
        f"AND i.kind = '{kind}')"
        for column, kind in (("done", "main"), ("round_done", "qualification"), ("checks", "attention"))
    ),
    "UPDATE studio_item SET finished = (SELECT COUNT(*) FROM studio_assignment a "
    "WHERE a.item_id = studio_item.id AND a.state = 'done')",
    *(
        f"UPDATE studio_study SET {column} = (SELECT COUNT(*) FROM studio_item i "
        f"WHERE i.study_id = studio_study.id AND i.kind = '{kind}')"
        for column, kind in (("main_items", "main"), ("round_items", "qualification"))
    ),
    "UPDATE studio_invite SET uses = uses_left WHERE uses < uses_left",
)
"""Statements for SQLite and PostgreSQL alike."""
