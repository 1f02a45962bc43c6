"""A session is read by one job at a time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Say of a session which job reads it, and until when at most."""

    dependencies = (("memory", "0013_given_out_when"),)
    operations = (
        migrations.AddField("session", "read_by", models.UUIDField(null=True)),
        migrations.AddField("session", "read_until", models.DateTimeField(null=True)),
    )
