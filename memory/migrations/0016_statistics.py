"""One table for every sum that grows over time; what models cost moves into it.

A table is dropped here in the step that copies it. That may be, since no version was released that
has it: nothing of before runs beside this during an upgrade. From a release on, what is left is
removed in a later version (CONTRIBUTING.md). The way back makes the table again, and copies.
"""

from pathlib import Path

from django.db import migrations, models

SCRIPT = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
BACK = Path(__file__).with_name("0016_statistics_back.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create the table, take the rows over, and drop the table they stood in."""

    dependencies = (("memory", "0015_imports_that_fail"),)
    operations = (
        migrations.CreateModel(
            name="Statistic",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=24)),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                ("day", models.DateField(null=True)),
                ("key", models.CharField(max_length=400)),
                ("counts", models.JSONField(default=dict)),
                ("updated_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("kind", "day", "key", "id"),
                "indexes": [
                    models.Index(fields=["kind", "project_id", "day"], name="memory_statistic_kind")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "audience", "project_id", "day", "key"),
                        name="memory_statistic_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.RunSQL(SCRIPT, BACK),
        migrations.DeleteModel("ModelUse"),
    )
