"""Methodologies become one kind of what is defined; communication styles are the other.

A table is dropped here in the step that copies it. That may be, since no version was released that
has it: nothing of before runs beside this during an upgrade. From a release on, what is left is
removed in a later version (CONTRIBUTING.md). The way back makes the table again, and copies.
"""

from pathlib import Path

from django.db import migrations, models

import accounts.identifiers

SCRIPT = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
BACK = Path(__file__).with_name("0018_definitions_back.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create the table, take the methodologies over, and drop the table they stood in."""

    dependencies = (("memory", "0017_what_was_done"),)
    operations = (
        migrations.CreateModel(
            name="Definition",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=accounts.identifiers.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("kind", models.CharField(max_length=12)),
                ("name", models.CharField(max_length=40)),
                ("audience", models.UUIDField()),
                ("body", models.JSONField(default=dict)),
                ("is_default", models.BooleanField(default=False)),
                ("defined_by", models.UUIDField(null=True)),
                ("defined_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("kind", "name", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("audience", "kind", "name"), name="memory_definition_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)),
                        fields=("audience", "kind"),
                        name="memory_definition_default",
                    ),
                ],
            },
        ),
        migrations.RunSQL(SCRIPT, BACK),
        migrations.DeleteModel("Methodology"),
    )
