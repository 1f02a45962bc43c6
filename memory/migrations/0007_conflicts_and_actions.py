"""Conflicts between memories, and what became of each candidate."""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q

import accounts.identifiers


class Migration(migrations.Migration):
    """Create their tables."""

    dependencies = (("memory", "0006_fewer_indexes"),)
    operations = (
        migrations.CreateModel(
            name="ActionLog",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("user_id", models.UUIDField(null=True)),
                ("token_id", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("source", models.CharField(max_length=20)),
                ("source_interface", models.CharField(max_length=20)),
                ("outcome", models.CharField(max_length=12)),
                ("gate", models.CharField(blank=True, max_length=16)),
                ("cause", models.CharField(blank=True, max_length=24)),
                ("memory_id", models.UUIDField(null=True)),
                ("other_id", models.UUIDField(null=True)),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [
                    models.Index(fields=["project_id", "-id"], name="memory_action_place"),
                    django.contrib.postgres.indexes.BrinIndex(
                        fields=["at"], name="memory_action_at"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Conflict",
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
                ("project_id", models.UUIDField(blank=True, null=True)),
                ("audience", models.UUIDField()),
                ("kind", models.CharField(max_length=12)),
                ("cause", models.CharField(max_length=12)),
                ("cosine", models.FloatField(blank=True, null=True)),
                ("found_at", models.DateTimeField()),
                ("verdict", models.CharField(blank=True, max_length=12)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("settled_by", models.UUIDField(blank=True, null=True)),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                ("before", models.JSONField(default=dict)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "newer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conflicts_as_newer",
                        to="memory.memory",
                    ),
                ),
                (
                    "older",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conflicts_as_older",
                        to="memory.memory",
                    ),
                ),
            ],
            options={
                "ordering": ("-found_at", "id"),
                "indexes": [
                    models.Index(
                        condition=Q(("verdict", "")),
                        fields=["audience", "project_id", "id"],
                        name="memory_conflict_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("older", "newer"), name="memory_conflict_once"),
                    models.CheckConstraint(
                        condition=Q(("older", F("newer")), _negated=True),
                        name="memory_conflict_not_with_itself",
                    ),
                    models.CheckConstraint(
                        condition=Q(
                            Q(("settled_at__isnull", True), ("verdict", "")),
                            Q(Q(("verdict", ""), _negated=True), ("settled_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="memory_conflict_settled_or_not",
                    ),
                ],
            },
        ),
    )
