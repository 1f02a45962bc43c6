"""What was given back to a session stands in a ledger beside what was given out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Say of what was given out to which session, where, and for how many tokens."""

    dependencies = (("memory", "0018_definitions"),)
    operations = (
        migrations.AddField("session", "briefed_at", models.DateTimeField(null=True)),
        migrations.AddField("givenout", "session_id", models.UUIDField(null=True)),
        migrations.AddField(
            "givenout",
            "point",
            models.CharField(max_length=20, blank=True, default="", db_default=""),
        ),
        migrations.AddField(
            "givenout", "tokens", models.PositiveIntegerField(default=0, db_default=0)
        ),
        migrations.RemoveConstraint("givenout", "memory_given_out_once"),
        migrations.AddConstraint(
            "givenout",
            models.UniqueConstraint(
                fields=("memory_id", "person", "token", "session_id"),
                nulls_distinct=False,
                name="memory_given_out_once",
            ),
        ),
        migrations.AddIndex(
            "givenout",
            models.Index(
                fields=["session_id"],
                condition=models.Q(("session_id__isnull", False)),
                name="memory_given_session",
            ),
        ),
    )
