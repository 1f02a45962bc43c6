"""Sessions know their group and their figures, the ledger what was withheld and what came of it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Make room for comparing sessions that are given memories with those that are not."""

    dependencies = (("memory", "0022_conflicts_rest"),)
    operations = (
        migrations.AddField(
            "session",
            "experiment_group",
            models.CharField(max_length=8, blank=True, default="", db_default=""),
        ),
        migrations.AddField("session", "figures", models.JSONField(null=True)),
        migrations.AddField(
            "givenout", "withheld", models.BooleanField(default=False, db_default=False)
        ),
        migrations.AddField(
            "givenout",
            "outcome",
            models.CharField(max_length=12, blank=True, default="", db_default=""),
        ),
        migrations.AddIndex(
            "session",
            models.Index(
                fields=["project", "opened_at"],
                condition=models.Q(("experiment_group__in", ("control", "passive", "full"))),
                name="memory_session_compared",
            ),
        ),
    )
