"""Which agent of a session was told, before or after it forgot, and what it was told beside."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Make room for it; what was given before was told to the first agent of its session."""

    dependencies = (("memory", "0027_graph_part"),)
    operations = (
        migrations.AddField(
            "session",
            "brief_tries",
            models.PositiveSmallIntegerField(default=0, db_default=0),
        ),
        migrations.AddField(
            "session",
            "brief_through",
            models.PositiveIntegerField(default=0, db_default=0),
        ),
        migrations.AddField(
            "session",
            "heading_tokens",
            models.PositiveIntegerField(default=0, db_default=0),
        ),
        migrations.AddField("session", "compacted_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "givenout",
            "agent",
            models.CharField(max_length=80, blank=True, default="", db_default=""),
        ),
        migrations.AddField("givenout", "compacted_at", models.DateTimeField(null=True)),
        migrations.RemoveConstraint("givenout", "memory_given_out_once"),
        migrations.AddConstraint(
            "givenout",
            models.UniqueConstraint(
                fields=("memory_id", "person", "token", "session_id", "agent", "compacted_at"),
                nulls_distinct=False,
                name="memory_given_out_once",
            ),
        ),
    )
