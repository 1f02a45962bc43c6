"""After which event and row a memory was given, and what a session has added to sums."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Make room for both; what was given before has no place in the order."""

    dependencies = (("memory", "0025_prefetched"),)
    operations = (
        migrations.AddField("givenout", "after_event", models.PositiveIntegerField(null=True)),
        migrations.AddField("givenout", "after_row", models.BigIntegerField(null=True)),
        migrations.AlterField(
            "turn",
            "stream",
            models.PositiveSmallIntegerField(
                choices=[(0, "Said"), (1, "Done"), (2, "Checkpoint"), (3, "Counted")],
                default=0,
                db_default=0,
            ),
        ),
    )
