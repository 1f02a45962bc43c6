"""What was given out is forgotten by its time, which is looked up every few minutes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Index what was given out by when it was."""

    dependencies = (("memory", "0012_same_names"),)
    operations = (
        migrations.AddIndex("givenout", models.Index(fields=["at"], name="memory_given_at")),
    )
