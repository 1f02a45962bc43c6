"""Which memory names which thing, and which version of the reader has read it (0: none)."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

SCRIPT = Path(__file__).with_name("0004_mentions.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create their table, the version, and the functions that searches ask."""

    dependencies = (("memory", "0003_methodologies"),)
    operations = (
        migrations.CreateModel(
            name="Mention",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "memory_id",
                        "type_code",
                        "key",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="memory.memory",
                    ),
                ),
                ("type_code", models.SmallIntegerField()),
                ("key", models.CharField(max_length=120)),
                ("name", models.CharField(max_length=120)),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
            ],
            options={
                "ordering": ("memory_id", "type_code", "key"),
                "indexes": [
                    models.Index(fields=["key", "audience"], name="memory_mention_named")
                ],
            },
        ),
        migrations.AddField("memory", "names_version", models.PositiveSmallIntegerField(default=0)),
        migrations.AddIndex(
            "memory", models.Index(fields=["names_version"], name="memory_names_version")
        ),
        migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),
    )
