"""Columns for erasure, counters, quotas, platforms, imports, cached figures and disagreements."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("studio", "0003_stored_models"),)

    operations = (
        migrations.CreateModel(
            name="StoredCase",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("question", models.CharField(max_length=60)),
                ("counts", models.JSONField()),
                ("share", models.FloatField()),
                ("decided", models.TextField(blank=True, default="")),
            ],
            options={
                "db_table": "studio_case",
            },
        ),
        migrations.CreateModel(
            name="StoredFigures",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("language", models.CharField(max_length=10)),
                ("stamp", models.CharField(max_length=64)),
                ("page", models.TextField()),
                ("seconds", models.FloatField(default=0.0)),
                ("computed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("wanted_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "db_table": "studio_figures",
            },
        ),
        migrations.CreateModel(
            name="StoredImport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("file", models.CharField(blank=True, max_length=200)),
                ("actor", models.CharField(max_length=150)),
                ("rows", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("removed_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "studio_import",
            },
        ),
        migrations.RemoveIndex(
            model_name="storeditem",
            name="items_to_give",
        ),
        migrations.AddField(
            model_name="assignment",
            name="flag",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AddField(
            model_name="assignment",
            name="reason",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AddField(
            model_name="identity",
            name="platform",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="invite",
            name="group",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
        migrations.AddField(
            model_name="invite",
            name="note",
            field=models.CharField(blank=True, default="", max_length=120),
        ),
        migrations.AddField(
            model_name="invite",
            name="revoked_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="invite",
            name="uses",
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AddField(
            model_name="member",
            name="checks",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="member",
            name="done",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="member",
            name="group",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
        migrations.AddField(
            model_name="member",
            name="invite",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="members",
                to="studio.invite",
            ),
        ),
        migrations.AddField(
            model_name="member",
            name="language",
            field=models.CharField(blank=True, default="", max_length=10),
        ),
        migrations.AddField(
            model_name="member",
            name="page_seconds",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="member",
            name="round_done",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="member",
            name="seconds",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="member",
            name="seen_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="storeditem",
            name="family",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AddField(
            model_name="storeditem",
            name="finished",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="storeditem",
            name="language",
            field=models.CharField(blank=True, default="", max_length=10),
        ),
        migrations.AddField(
            model_name="storedstudy",
            name="cases_upto",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="storedstudy",
            name="is_closed",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="storedstudy",
            name="main_items",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="storedstudy",
            name="round_items",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tombstone",
            name="done",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tombstone",
            name="judgments",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="tombstone",
            name="role",
            field=models.CharField(
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
        migrations.AddField(
            model_name="tombstone",
            name="seconds",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="tombstone",
            name="submissions",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="state",
            field=models.CharField(
                choices=[
                    ("open", "Open"),
                    ("done", "Done"),
                    ("returned", "Returned"),
                    ("skipped", "Skipped"),
                ],
                default="open",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="identity",
            name="crowd_id",
            field=models.CharField(blank=True, db_index=True, max_length=120),
        ),
        migrations.AlterField(
            model_name="invite",
            name="role",
            field=models.CharField(
                choices=[
                    ("owner", "owner"),
                    ("annotator", "annotator"),
                    ("adjudicator", "adjudicator"),
                    ("participant", "participant"),
                ],
                max_length=11,
            ),
        ),
        migrations.AlterField(
            model_name="member",
            name="role",
            field=models.CharField(
                choices=[
                    ("owner", "owner"),
                    ("annotator", "annotator"),
                    ("adjudicator", "adjudicator"),
                    ("participant", "participant"),
                ],
                max_length=11,
            ),
        ),
        migrations.AlterField(
            model_name="member",
            name="state",
            field=models.CharField(
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
        migrations.AlterField(
            model_name="storeditem",
            name="kind",
            field=models.CharField(
                choices=[("main", "Main"), ("qualification", "Qualification"), ("attention", "Attention")],
                default="main",
                max_length=13,
            ),
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
            model_name="storeditem",
            index=models.Index(fields=["study", "kind", "position"], name="items_in_order"),
        ),
        migrations.AddIndex(
            model_name="storeditem",
            index=models.Index(fields=["study", "family"], name="items_of_a_family"),
        ),
        migrations.AddField(
            model_name="storedcase",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="cases", to="studio.storeditem"
            ),
        ),
        migrations.AddField(
            model_name="storedcase",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="cases", to="studio.storedstudy"
            ),
        ),
        migrations.AddField(
            model_name="storedfigures",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="figures", to="studio.storedstudy"
            ),
        ),
        migrations.AddField(
            model_name="storedimport",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="imports", to="studio.storedstudy"
            ),
        ),
        migrations.AddField(
            model_name="storedjudgment",
            name="batch",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="judgments",
                to="studio.storedimport",
            ),
        ),
        migrations.AddIndex(
            model_name="storedcase",
            index=models.Index(fields=["study", "decided", "share", "item"], name="cases_to_decide"),
        ),
        migrations.AddConstraint(
            model_name="storedcase",
            constraint=models.UniqueConstraint(fields=("item", "question"), name="a_case_once"),
        ),
        migrations.AddConstraint(
            model_name="storedfigures",
            constraint=models.UniqueConstraint(fields=("study", "language"), name="figures_a_language"),
        ),
    )
