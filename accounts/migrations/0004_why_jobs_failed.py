"""Why a job failed is kept as the sentences it was made of: pages say it in their language."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column without a default: no row is rewritten, and older programs write none."""

    dependencies = [("accounts", "0003_longest_token_days")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="error_parts",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
