"""Where the audit log of an organization ends."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Create the heads; the steps of the tenant schema fill them."""

    dependencies = (("accounts", "0001_initial"),)
    operations = (
        migrations.CreateModel(
            name="AuditRoot",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="audit_root",
                        serialize=False,
                        to="accounts.organization",
                    ),
                ),
                ("count", models.BigIntegerField(default=0)),
                ("hash", models.CharField(blank=True, max_length=64)),
            ],
            options={"ordering": ("organization",)},
        ),
    )
