"""Where in a conversation a text was said."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Add the thread, the sitting and the place in it, and find neighbors by index."""

    dependencies = [("memory", "0002_reflection")]
    operations = [
        migrations.AddField(
            "memory",
            "thread",
            models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddField(
            "memory",
            "session",
            models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddField(
            "memory", "position", models.PositiveIntegerField(blank=True, null=True)
        ),
        migrations.AddIndex(
            "memory",
            models.Index(
                condition=Q(position__isnull=False),
                fields=["thread", "session", "position", "id"],
                name="memory_conversation",
            ),
        ),
    ]
