"""That two names are one thing is decided too, and undone."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Let verdicts be about names."""

    dependencies = (("memory", "0011_rare_here"),)
    operations = (
        migrations.AddField("reviewverdict", "audience", models.UUIDField(blank=True, null=True)),
        migrations.AlterField(
            "reviewverdict",
            "memory",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="verdicts",
                to="memory.memory",
            ),
        ),
        migrations.AddIndex(
            "reviewverdict",
            models.Index(
                condition=Q(verdict="same", undone_at__isnull=True),
                fields=["audience"],
                name="memory_verdict_same",
            ),
        ),
        migrations.AddConstraint(
            "reviewverdict",
            models.CheckConstraint(
                condition=Q(verdict="same", memory__isnull=True, audience__isnull=False)
                | (~Q(verdict="same") & Q(memory__isnull=False)),
                name="memory_verdict_of_memory_or_names",
            ),
        ),
    )
