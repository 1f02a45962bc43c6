"""When the words of a memory were last written."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the column; of memories from before any change counts."""

    dependencies = [("memory", "0006_given")]

    operations = [migrations.AddField("memory", "stated_at", models.DateTimeField(null=True))]
