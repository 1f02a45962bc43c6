"""Which version of the hook script last called with a token; none said: no hook has called yet."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column without a default: no row is rewritten, and older programs write none."""

    dependencies = [("accounts", "0005_keep_events_days")]

    operations = [
        migrations.AddField(
            model_name="token",
            name="last_used_hook",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
