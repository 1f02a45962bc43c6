"""Sessions keep what their agents did beside what was said."""

from django.db import migrations, models

WORDS = {"blank": True, "default": "", "db_default": ""}


class Migration(migrations.Migration):
    """Give turns streams, and sessions what the observer knows of them."""

    dependencies = (("memory", "0016_statistics"),)
    operations = (
        migrations.AddField(
            "turn",
            "stream",
            models.PositiveSmallIntegerField(
                choices=[(0, "Said"), (1, "Done"), (2, "Checkpoint")], default=0, db_default=0
            ),
        ),
        migrations.AddField("turn", "body", models.JSONField(null=True)),
        migrations.AlterModelOptions("turn", {"ordering": ("session", "stream", "sequence")}),
        migrations.RemoveConstraint("turn", "memory_turn_once"),
        migrations.AddConstraint(
            "turn",
            models.UniqueConstraint(
                fields=("session", "stream", "sequence"), name="memory_turn_once"
            ),
        ),
        migrations.AddField("session", "cwd", models.CharField(max_length=400, **WORDS)),
        migrations.AddField("session", "branch", models.CharField(max_length=200, **WORDS)),
        migrations.AddField("session", "commit", models.CharField(max_length=64, **WORDS)),
        migrations.AddField("session", "plan", models.JSONField(null=True)),
        migrations.AddField(
            "session", "events", models.PositiveIntegerField(default=0, db_default=0)
        ),
        migrations.AddField(
            "session", "folded", models.PositiveIntegerField(default=0, db_default=0)
        ),
        migrations.AddField("session", "observed", models.JSONField(null=True)),
        migrations.AddField("session", "finalized_at", models.DateTimeField(null=True)),
    )
