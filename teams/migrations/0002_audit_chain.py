"""The audit log as a chain of hashes that nobody changes."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

SCRIPT = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Begin the log anew with numbers and hashes, and close it for everything but appending."""

    dependencies = (("teams", "0001_initial"),)
    operations = (
        migrations.DeleteModel(name="AuditEntry"),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("act", models.CharField(max_length=60)),
                ("object_type", models.CharField(max_length=40)),
                ("object_id", models.CharField(max_length=64)),
                ("actor_user", models.UUIDField(null=True)),
                ("token_id", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("source_interface", models.CharField(blank=True, max_length=20)),
                ("surface", models.CharField(max_length=10)),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("details", models.JSONField(default=dict)),
                (
                    "fields",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), default=list, size=None
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("previous_hash", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
            ],
            options={"ordering": ("number",)},
        ),
        migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),
    )
