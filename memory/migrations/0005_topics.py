"""Topics, their memories, and how memories join them between two nights."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django.halfvec
from django.db import migrations, models

import accounts.identifiers

SCRIPT = Path(__file__).with_name("0005_topics.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create their tables and the function that writers call."""

    dependencies = (("memory", "0004_mentions"),)
    operations = (
        migrations.CreateModel(
            name="Topic",
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
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField(null=True)),
                (
                    "words",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), size=None
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to="memory.embeddingmodel",
                    ),
                ),
                ("center", pgvector.django.halfvec.HalfVectorField(null=True)),
                ("reach", models.FloatField(default=1.0)),
                ("sorted_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("id",),
                "indexes": [
                    models.Index(fields=["audience", "project_id"], name="memory_topic_place")
                ],
            },
        ),
        migrations.CreateModel(
            name="TopicMember",
            fields=[
                (
                    "memory",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="topic_member",
                        serialize=False,
                        to="memory.memory",
                    ),
                ),
                (
                    "topic",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="memory.topic",
                    ),
                ),
                ("holds", models.SmallIntegerField()),
                ("closeness", models.FloatField(null=True)),
            ],
            options={"ordering": ("memory_id",)},
        ),
        migrations.RunSQL(SCRIPT, migrations.RunSQL.noop),
    )
