"""How often agents were given a memory, apart from people."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the columns; what agents were given before is not told apart."""

    dependencies = [("memory", "0005_reach")]

    operations = [
        migrations.AddField(
            "accesslog", "by_program", models.BooleanField(db_default=False, default=False)
        ),
        migrations.AddField(
            "memoryusage", "given_count", models.PositiveIntegerField(db_default=0, default=0)
        ),
        migrations.AddField("memoryusage", "last_given_at", models.DateTimeField(null=True)),
    ]
