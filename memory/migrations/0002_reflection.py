"""What the agent of a session was asked before it stopped."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the column; sessions from before were never asked."""

    dependencies = [("memory", "0001_baseline")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="reflection",
            field=models.JSONField(null=True),
        ),
    ]
