"""How long a token of an organization may live; what was allowed so far stays allowed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column with a constant default: no row is rewritten."""

    dependencies = [("accounts", "0002_audit_root")]

    operations = [
        migrations.AddField(
            model_name="organization",
            name="longest_token_days",
            field=models.PositiveSmallIntegerField(default=365),
        ),
    ]
