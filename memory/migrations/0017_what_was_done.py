"""Sessions keep what their agents did beside what was said."""

from django.db import migrations, models


def _words(longest: int) -> "models.CharField[str, str]":
    return models.CharField(max_length=longest, blank=True, default="", db_default="")


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
        migrations.AddField("session", "cwd", _words(400)),
        migrations.AddField("session", "branch", _words(200)),
        migrations.AddField("session", "commit", _words(64)),
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
