"""A conflict can be snoozed as a memory can."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Let verdicts be about conflicts."""

    dependencies = (("memory", "0021_what_was_superseded"),)
    operations = (
        migrations.AddField(
            "reviewverdict",
            "conflict",
            models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="rests",
                to="memory.conflict",
            ),
        ),
        migrations.AddIndex(
            "reviewverdict",
            models.Index(
                condition=Q(conflict__isnull=False),
                fields=["conflict", "decided_by"],
                name="memory_verdict_of_conflict",
            ),
        ),
    )
