"""What was decided in the review inbox, and what it takes to undo it."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

import accounts.identifiers


class Migration(migrations.Migration):
    """Create its table."""

    dependencies = (("memory", "0008_imports_and_notes"),)
    operations = (
        migrations.CreateModel(
            name="ReviewVerdict",
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
                (
                    "memory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="memory.memory",
                    ),
                ),
                ("verdict", models.CharField(max_length=8)),
                ("decided_by", models.UUIDField()),
                ("decided_agent", models.CharField(blank=True, max_length=120)),
                ("decided_at", models.DateTimeField()),
                ("until", models.DateTimeField(blank=True, null=True)),
                ("before", models.JSONField(default=dict)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("-decided_at", "id"),
                "indexes": [
                    models.Index(
                        condition=Q(verdict="snooze", undone_at__isnull=True),
                        fields=["decided_by", "memory"],
                        name="memory_verdict_snoozed",
                    ),
                    models.Index(fields=["-decided_at", "id"], name="memory_verdict_decided"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(until__isnull=False) | ~Q(verdict="snooze"),
                        name="memory_verdict_snoozed_until",
                    )
                ],
            },
        ),
    )
