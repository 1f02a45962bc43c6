"""When a session was told its plan of files and what was left unfinished, which is once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the moment; a session of before may be told once more."""

    dependencies = (("memory", "0024_who_read_names"),)
    operations = (migrations.AddField("session", "prefetched_at", models.DateTimeField(null=True)),)
