"""A session knows the folder of its repository beside the one in which its agent works."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Make room for it."""

    dependencies = (("memory", "0030_standing"),)
    operations = (
        migrations.AddField(
            "session",
            "root",
            models.CharField(max_length=400, blank=True, default="", db_default=""),
        ),
    )
