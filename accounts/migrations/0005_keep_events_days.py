"""For how long an organization keeps what agents did; none said: as long as what was said."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column without a default: no row is rewritten, and older programs write none."""

    dependencies = [("accounts", "0004_why_jobs_failed")]

    operations = [
        migrations.AddField(
            model_name="organization",
            name="keep_events_days",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
