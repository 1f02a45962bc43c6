"""An edge to what was superseded keeps what that was, so that it comes back exactly."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the column."""

    dependencies = (("memory", "0020_words_said"),)
    operations = (migrations.AddField("memorylink", "before", models.JSONField(null=True)),)
