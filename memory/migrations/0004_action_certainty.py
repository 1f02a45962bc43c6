"""How sure a decision about a candidate was."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the column; of decisions from before it is not known."""

    dependencies = [("memory", "0003_conversations")]

    operations = [
        migrations.AddField(
            model_name="actionlog",
            name="certainty",
            field=models.FloatField(null=True),
        ),
    ]
