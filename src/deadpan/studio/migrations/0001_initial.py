"""The tables as they were first made."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import deadpan.studio.models


class Migration(migrations.Migration):
    initial = True

    dependencies = ()

    operations = (  # Django reads any sequence
        migrations.CreateModel(
            name="Person",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("name", models.CharField(max_length=150, unique=True)),
                ("is_owner", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(db_index=True, max_length=64)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("item_id", models.CharField(max_length=300)),
                ("position", models.PositiveIntegerField()),
                ("kind", models.CharField(default="main", max_length=13)),
                ("wanted", models.PositiveIntegerField()),
                ("taken", models.PositiveIntegerField(default=0)),
                ("context", models.JSONField(default=list)),
                ("response", models.JSONField()),
                ("options", models.JSONField(default=list)),
                ("shown", models.JSONField(default=dict)),
                ("hidden", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("protocol", models.CharField(max_length=20)),
                ("title", models.CharField(max_length=200)),
                ("version", models.CharField(max_length=40)),
                ("language", models.CharField(max_length=10)),
                ("seed", models.BigIntegerField()),
                ("raters_per_item", models.PositiveIntegerField()),
                ("settings", models.JSONField(default=dict)),
                ("is_open", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("role", models.CharField(max_length=11)),
                ("state", models.CharField(default="active", max_length=9)),
                ("pseudonym", models.CharField(default=deadpan.studio.models.pseudonym, max_length=40)),
                ("joined_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("consented_at", models.DateTimeField(null=True)),
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="members", to="studio.study"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Identity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("crowd_id", models.CharField(blank=True, max_length=120)),
                ("country", models.CharField(blank=True, max_length=80)),
                ("gender", models.CharField(blank=True, max_length=40)),
                ("consent_text", models.TextField(blank=True)),
                ("withdrawal_hash", models.CharField(blank=True, db_index=True, max_length=64)),
                (
                    "member",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="identity",
                        to="studio.member",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Judgment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("question", models.CharField(max_length=60)),
                ("answer", models.TextField(blank=True)),
                ("seconds", models.FloatField(default=0.0)),
                ("key", models.CharField(max_length=80)),
                ("source", models.CharField(default="web", max_length=12)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="studio.item",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="studio.member",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="studio.study",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="item",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="items", to="studio.study"
            ),
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("role", models.CharField(max_length=11)),
                ("uses_left", models.PositiveIntegerField(default=1)),
                ("expires_at", models.DateTimeField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "study",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invites",
                        to="studio.study",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
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
                        to="studio.study",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=80)),
                ("answers", models.JSONField()),
                ("reasons", models.JSONField(default=list)),
                ("seconds", models.FloatField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="submissions",
                        to="studio.member",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="submissions",
                        to="studio.study",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("pseudonym", models.CharField(max_length=40)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tombstones",
                        to="studio.study",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("state", models.CharField(default="open", max_length=8)),
                ("given_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("touched_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="studio.item",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="studio.member",
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
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint(fields=("study", "person"), name="one_membership_a_study"),
        ),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint(fields=("study", "pseudonym"), name="one_pseudonym_a_study"),
        ),
        migrations.AddIndex(
            model_name="judgment",
            index=models.Index(fields=["member", "item", "id"], name="journal_of_an_item"),
        ),
        migrations.AddIndex(
            model_name="judgment",
            index=models.Index(fields=["study", "id"], name="journal_of_a_study"),
        ),
        migrations.AddConstraint(
            model_name="judgment",
            constraint=models.UniqueConstraint(fields=("member", "key", "question"), name="one_save_a_key"),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["study", "kind", "taken", "position"], name="items_to_give"),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(fields=("study", "item_id"), name="one_item_an_id"),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.UniqueConstraint(fields=("member", "key"), name="one_submission_a_key"),
        ),
    )
