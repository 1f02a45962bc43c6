"""Sessions of a project that name their phase are found by when they were opened."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Make the index."""

    dependencies = (("memory", "0028_told_to_whom"),)
    operations = (
        migrations.AddIndex(
            "session",
            models.Index(
                fields=["project", "opened_at"],
                condition=models.Q(("phase", ""), _negated=True),
                name="memory_session_phases",
            ),
        ),
    )
