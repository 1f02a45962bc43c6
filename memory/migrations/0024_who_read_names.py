"""Which reader of the night has read a memory (0: none), and which reader found a mention."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add both columns; what has not been read is found by an index of a few bytes a memory."""

    dependencies = (("memory", "0023_experiments"),)
    operations = (
        migrations.AddField(
            "memory",
            "enriched_by",
            models.PositiveSmallIntegerField(default=0, db_default=0),
        ),
        migrations.AddField(
            "mention",
            "read_by",
            models.PositiveSmallIntegerField(default=0, db_default=0),
        ),
        migrations.AddIndex(
            "memory",
            models.Index(
                fields=["enriched_by"],
                condition=models.Q(("status", "active")),
                name="memory_enriched_by",
            ),
        ),
    )
