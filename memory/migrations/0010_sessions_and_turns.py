"""Sessions with their turns, what was given out to whom, and what models cost."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import accounts.identifiers

SCRIPT = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create their tables, and let the log of accesses say who was given what."""

    dependencies = (
        ("memory", "0009_review_verdicts"),
        ("teams", "0003_versions"),
    )

    operations = (
        migrations.AddField(
            model_name="accesslog",
            name="person",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="accesslog",
            name="token",
            field=models.UUIDField(null=True),
        ),
        migrations.CreateModel(
            name="GivenOut",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("person", models.UUIDField(null=True)),
                ("token", models.UUIDField(null=True)),
                ("memory_id", models.UUIDField()),
                ("at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
                "indexes": [
                    models.Index(fields=["person", "-at"], name="memory_given_person"),
                    models.Index(fields=["token", "-at"], name="memory_given_token"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("memory_id", "person", "token"),
                        name="memory_given_out_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("model", models.CharField(max_length=120)),
                ("project_id", models.UUIDField(null=True)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("fallbacks", models.PositiveIntegerField(default=0)),
                ("input_tokens", models.PositiveBigIntegerField(default=0)),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                ("cost", models.DecimalField(decimal_places=6, default=0, max_digits=14)),
            ],
            options={
                "ordering": ("-day", "model", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "model", "project_id"),
                        name="memory_model_use_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=accounts.identifiers.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("audience", models.UUIDField()),
                ("scope", models.CharField(max_length=12)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                ("thread", models.CharField(blank=True, max_length=200)),
                ("type", models.CharField(blank=True, max_length=40)),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("methodology", models.CharField(blank=True, max_length=40)),
                ("work_unit", models.JSONField(default=dict)),
                ("opened_by", models.UUIDField(null=True)),
                ("token_id", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("source_interface", models.CharField(max_length=20)),
                ("memory_eligible", models.BooleanField(default=True)),
                ("models_agreed", models.BooleanField(default=False)),
                ("state", models.CharField(default="open", max_length=12)),
                ("opened_at", models.DateTimeField()),
                ("active_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("consolidated_at", models.DateTimeField(null=True)),
                ("taken_through", models.PositiveIntegerField(default=0)),
                ("result", models.JSONField(default=dict)),
                (
                    "project",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sessions",
                        to="teams.project",
                    ),
                ),
            ],
            options={
                "db_table": "memory_agentsession",
                "ordering": ("-opened_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sequence", models.PositiveIntegerField()),
                ("role", models.CharField(max_length=12)),
                ("text", models.TextField()),
                ("masked", models.PositiveSmallIntegerField(default=0)),
                ("at", models.DateTimeField()),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="turns",
                        to="memory.session",
                    ),
                ),
            ],
            options={
                "ordering": ("session", "sequence"),
            },
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                fields=["audience", "-opened_at", "id"], name="memory_session_recent"
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["active_at"],
                name="memory_session_open",
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("thread", ""), _negated=True),
                fields=["thread"],
                name="memory_session_thread",
            ),
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(
                condition=models.Q(("external_id", ""), _negated=True),
                fields=("audience", "project", "external_id"),
                name="memory_session_external_id_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.UniqueConstraint(
                fields=("session", "sequence"), name="memory_turn_once"
            ),
        ),
        migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),
    )
