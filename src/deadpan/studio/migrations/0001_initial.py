"""The tables, and the triggers with which the database refuses to change what is only ever added to."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import deadpan.studio.models

APPEND_ONLY = ("studio_judgment", "studio_event", "studio_tombstone")
ERASABLE = (
    "EXISTS (SELECT 1 FROM studio_tombstone t JOIN studio_member m ON m.study_id = t.study_id "
    "AND m.pseudonym = t.pseudonym WHERE m.id = OLD.member_id) "
    "OR EXISTS (SELECT 1 FROM studio_import i WHERE i.id = OLD.batch_id AND i.removed_at IS NOT NULL)"
)
"""The judgments that may be deleted: of somebody who withdrew, or of an import that was removed."""


def key() -> Any:
    """Return the primary key of a table."""
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def add_triggers(apps: Any, editor: Any) -> None:
    """Refuse every change, and every deletion but that of an erasable judgment."""
    postgresql = editor.connection.vendor == "postgresql"
    if postgresql:
        editor.execute(
            "CREATE OR REPLACE FUNCTION studio_refuse() RETURNS trigger AS $$ BEGIN "
            "RAISE EXCEPTION 'append-only'; END; $$ LANGUAGE plpgsql"
        )
        editor.execute(
            "CREATE OR REPLACE FUNCTION studio_refuse_unless_erasable() RETURNS trigger AS $$ BEGIN "
            f"IF {ERASABLE} THEN RETURN OLD; END IF; RAISE EXCEPTION 'append-only'; END; $$ LANGUAGE plpgsql"
        )
    for table in APPEND_ONLY:
        for operation in ("UPDATE", "DELETE"):
            trigger = f"CREATE TRIGGER {table}_no_{operation.lower()} BEFORE {operation} ON {table} "
            erasable = table == "studio_judgment" and operation == "DELETE"
            if postgresql:
                refuse = "studio_refuse_unless_erasable" if erasable else "studio_refuse"
                editor.execute(f"{trigger}FOR EACH ROW EXECUTE FUNCTION {refuse}()")
            else:
                when = f"WHEN NOT ({ERASABLE}) " if erasable else ""
                editor.execute(f"{trigger}{when}BEGIN SELECT RAISE(ABORT, 'append-only'); END")


def drop_triggers(apps: Any, editor: Any) -> None:
    """Drop all triggers."""
    for table in APPEND_ONLY:
        for operation in ("update", "delete"):
            on = f" ON {table}" if editor.connection.vendor == "postgresql" else ""
            editor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{operation}{on}")


class Migration(migrations.Migration):
    initial = True

    dependencies = ()

    operations = (  # Django reads any sequence
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", key()),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("name", models.CharField(max_length=150, unique=True)),
                ("is_owner", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", key()),
                ("key", models.CharField(db_index=True, max_length=64)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                ("id", key()),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner"),
                            ("annotator", "annotator"),
                            ("adjudicator", "adjudicator"),
                            ("participant", "participant"),
                        ],
                        max_length=11,
                    ),
                ),
                ("uses", models.PositiveIntegerField(default=1)),
                ("uses_left", models.PositiveIntegerField(default=1)),
                ("group", models.CharField(blank=True, default="", max_length=40)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="StoredStudy",
            fields=[
                ("id", key()),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("protocol", models.CharField(max_length=20)),
                ("title", models.CharField(max_length=200)),
                ("version", models.CharField(max_length=40)),
                ("language", models.CharField(max_length=10)),
                ("seed", models.BigIntegerField()),
                ("cases_upto", models.BigIntegerField(default=0)),
                ("raters_per_item", models.PositiveIntegerField()),
                ("settings", models.JSONField(default=dict)),
                ("is_draft", models.BooleanField(default=False)),
                ("is_open", models.BooleanField(default=True)),
                ("is_closed", models.BooleanField(default=False)),
                ("main_items", models.PositiveIntegerField(default=0)),
                ("round_items", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={"db_table": "studio_study"},
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", key()),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner"),
                            ("annotator", "annotator"),
                            ("adjudicator", "adjudicator"),
                            ("participant", "participant"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("applicant", "applicant"),
                            ("active", "active"),
                            ("refused", "refused"),
                            ("removed", "removed"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="active",
                        max_length=9,
                    ),
                ),
                ("pseudonym", models.CharField(default=deadpan.studio.models.pseudonym, max_length=40)),
                ("group", models.CharField(blank=True, default="", max_length=40)),
                ("language", models.CharField(blank=True, default="", max_length=10)),
                ("joined_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("consented_at", models.DateTimeField(null=True)),
                ("counted_until", models.DateTimeField(null=True)),
                ("done", models.PositiveIntegerField(default=0)),
                ("round_done", models.PositiveIntegerField(default=0)),
                ("checks", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                ("page_seconds", models.FloatField(default=0.0)),
                ("claimed_seconds", models.FloatField(default=0.0)),
                (
                    "invite",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="members",
                        to="studio.invite",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="members", to="studio.storedstudy"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Identity",
            fields=[
                ("id", key()),
                ("crowd_id", models.CharField(blank=True, db_index=True, max_length=120)),
                ("platform", models.JSONField(default=dict)),
                ("country", models.CharField(blank=True, max_length=80)),
                ("gender", models.CharField(blank=True, max_length=40)),
                ("facts", models.JSONField(default=dict)),
                ("consent_text", models.TextField(blank=True)),
                ("consent_version", models.PositiveIntegerField(null=True)),
                ("withdrawal_hash", models.CharField(blank=True, db_index=True, max_length=64)),
                (
                    "member",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="identity", to="studio.member"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StoredItem",
            fields=[
                ("id", key()),
                ("item_id", models.CharField(max_length=300)),
                ("position", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[("main", "Main"), ("qualification", "Qualification"), ("attention", "Attention")],
                        default="main",
                        max_length=13,
                    ),
                ),
                ("wanted", models.PositiveIntegerField()),
                ("taken", models.PositiveIntegerField(default=0)),
                ("finished", models.PositiveIntegerField(default=0)),
                ("family", models.CharField(blank=True, default="", max_length=300)),
                ("language", models.CharField(blank=True, default="", max_length=10)),
                ("context", models.JSONField(default=list)),
                ("response", models.JSONField()),
                ("options", models.JSONField(default=list)),
                ("shown", models.JSONField(default=dict)),
                ("hidden", models.JSONField(default=dict)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="items", to="studio.storedstudy"
                    ),
                ),
            ],
            options={"db_table": "studio_item"},
        ),
        migrations.CreateModel(
            name="StoredImport",
            fields=[
                ("id", key()),
                ("file", models.CharField(blank=True, max_length=200)),
                ("actor", models.CharField(max_length=150)),
                ("rows", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("removed_at", models.DateTimeField(null=True)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="imports", to="studio.storedstudy"
                    ),
                ),
            ],
            options={"db_table": "studio_import"},
        ),
        migrations.CreateModel(
            name="StoredFigures",
            fields=[
                ("id", key()),
                ("language", models.CharField(max_length=10)),
                ("stamp", models.CharField(max_length=64)),
                ("page", models.TextField()),
                ("seconds", models.FloatField(default=0.0)),
                ("computed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("wanted_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="figures", to="studio.storedstudy"
                    ),
                ),
            ],
            options={"db_table": "studio_figures"},
        ),
        migrations.CreateModel(
            name="StoredCase",
            fields=[
                ("id", key()),
                ("question", models.CharField(max_length=60)),
                ("counts", models.JSONField()),
                ("place", models.FloatField()),
                ("model", models.TextField(blank=True, default="")),
                ("decided", models.TextField(blank=True, default="")),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="cases", to="studio.storeditem"
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="cases", to="studio.storedstudy"
                    ),
                ),
            ],
            options={"db_table": "studio_case"},
        ),
        migrations.CreateModel(
            name="StoredConsent",
            fields=[
                ("id", key()),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="consents", to="studio.storedstudy"
                    ),
                ),
            ],
            options={
                "db_table": "studio_consent",
                "constraints": [models.UniqueConstraint(fields=("study", "number"), name="one_consent_a_number")],
            },
        ),
        migrations.CreateModel(
            name="StoredOpinion",
            fields=[
                ("id", key()),
                ("model", models.CharField(max_length=100)),
                ("question", models.CharField(max_length=60)),
                ("answer", models.TextField()),
                ("score", models.FloatField(null=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="opinions", to="studio.storeditem"
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="opinions", to="studio.storedstudy"
                    ),
                ),
            ],
            options={
                "db_table": "studio_opinion",
                "constraints": [
                    models.UniqueConstraint(fields=("item", "model", "question"), name="one_opinion_a_model")
                ],
            },
        ),
        migrations.AddField(
            model_name="invite",
            name="study",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="invites", to="studio.storedstudy"
            ),
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", key()),
                ("actor", models.CharField(max_length=150)),
                ("what", models.CharField(max_length=40)),
                ("detail", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "study",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="events",
                        to="studio.storedstudy",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="StoredSubmission",
            fields=[
                ("id", key()),
                ("key", models.CharField(max_length=80)),
                ("answers", models.JSONField()),
                ("reasons", models.JSONField(default=list)),
                ("seconds", models.FloatField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="submissions", to="studio.member"
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="submissions", to="studio.storedstudy"
                    ),
                ),
            ],
            options={"db_table": "studio_submission"},
        ),
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                ("id", key()),
                ("pseudonym", models.CharField(max_length=40)),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("owner", "owner"),
                            ("annotator", "annotator"),
                            ("adjudicator", "adjudicator"),
                            ("participant", "participant"),
                        ],
                        default="",
                        max_length=11,
                    ),
                ),
                ("judgments", models.PositiveIntegerField(default=0)),
                ("submissions", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="tombstones", to="studio.storedstudy"
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                ("id", key()),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("done", "Done"), ("returned", "Returned"), ("skipped", "Skipped")],
                        default="open",
                        max_length=8,
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=300)),
                ("flag", models.CharField(blank=True, default="", max_length=300)),
                ("given_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("touched_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="studio.member"
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="studio.storeditem"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state", "touched_at"], name="assignments_idle")],
                "constraints": [
                    models.UniqueConstraint(fields=("item", "member"), name="an_item_once_a_member"),
                    models.UniqueConstraint(fields=("member", "number"), name="numbered_by_member"),
                ],
            },
        ),
        migrations.CreateModel(
            name="StoredJudgment",
            fields=[
                ("id", key()),
                ("question", models.CharField(max_length=60)),
                ("answer", models.TextField(blank=True)),
                ("seconds", models.FloatField(default=0.0)),
                ("key", models.CharField(max_length=80)),
                ("source", models.CharField(default="web", max_length=12)),
                ("note", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "batch",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="studio.storedimport",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="judgments", to="studio.storeditem"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="judgments", to="studio.member"
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="judgments", to="studio.storedstudy"
                    ),
                ),
            ],
            options={
                "db_table": "studio_judgment",
                "indexes": [
                    models.Index(fields=["member", "item", "id"], name="journal_of_an_item"),
                    models.Index(fields=["study", "id"], name="journal_of_a_study"),
                ],
                "constraints": [models.UniqueConstraint(fields=("member", "key", "question"), name="one_save_a_key")],
            },
        ),
        migrations.AddIndex(
            model_name="storeditem",
            index=models.Index(
                condition=models.Q(("taken__lt", models.F("wanted"))),
                fields=["study", "kind", "-taken", "position"],
                name="items_still_wanted",
            ),
        ),
        migrations.AddIndex(
            model_name="storeditem", index=models.Index(fields=["study", "kind", "position"], name="items_in_order")
        ),
        migrations.AddIndex(
            model_name="storeditem", index=models.Index(fields=["study", "family"], name="items_of_a_family")
        ),
        migrations.AddConstraint(
            model_name="storeditem",
            constraint=models.UniqueConstraint(fields=("study", "item_id"), name="one_item_an_id"),
        ),
        migrations.AddConstraint(
            model_name="storedfigures",
            constraint=models.UniqueConstraint(fields=("study", "language"), name="figures_a_language"),
        ),
        migrations.AddIndex(
            model_name="storedcase",
            index=models.Index(fields=["study", "decided", "place", "item"], name="cases_to_decide"),
        ),
        migrations.AddConstraint(
            model_name="storedcase", constraint=models.UniqueConstraint(fields=("item", "question"), name="a_case_once")
        ),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint(fields=("study", "person"), name="one_membership_a_study"),
        ),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint(fields=("study", "pseudonym"), name="one_pseudonym_a_study"),
        ),
        migrations.AddConstraint(
            model_name="storedsubmission",
            constraint=models.UniqueConstraint(fields=("member", "key"), name="one_submission_a_key"),
        ),
        migrations.RunPython(add_triggers, drop_triggers),
    )
