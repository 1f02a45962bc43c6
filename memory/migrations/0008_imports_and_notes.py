"""Imports with their rows, and the versions of notes."""

import django.db.models.deletion
from django.db import migrations, models

import accounts.identifiers


class Migration(migrations.Migration):
    """Create their tables."""

    dependencies = (("memory", "0007_conflicts_and_actions"),)
    operations = (
        migrations.CreateModel(
            name="Import",
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
                ("scope", models.CharField(max_length=12)),
                ("team_id", models.UUIDField(null=True)),
                ("name", models.CharField(max_length=200)),
                ("files", models.JSONField(default=list)),
                ("state", models.CharField(default="queued", max_length=12)),
                ("total", models.PositiveIntegerField(default=0)),
                ("job_id", models.UUIDField(null=True)),
                ("created_by", models.UUIDField(null=True)),
                ("user_id", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("source_interface", models.CharField(max_length=20)),
                ("created_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ("-created_at", "id"),
                "indexes": [
                    models.Index(
                        fields=["project_id", "-created_at", "id"], name="memory_import_recent"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="NoteVersion",
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
                ("note", models.UUIDField()),
                ("audience", models.UUIDField()),
                ("project_id", models.UUIDField()),
                ("path", models.CharField(max_length=400)),
                ("number", models.PositiveIntegerField()),
                ("is_current", models.BooleanField(default=True)),
                ("text", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                ("pushed_by", models.UUIDField(null=True)),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("pushed_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("path", "-number", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("note", "number"), name="memory_note_version_once"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)),
                        fields=("audience", "project_id", "path"),
                        name="memory_note_path_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("file", models.CharField(blank=True, max_length=400)),
                ("line", models.PositiveIntegerField(null=True)),
                ("candidate", models.JSONField(default=dict)),
                ("outcome", models.CharField(blank=True, max_length=12)),
                ("gate", models.CharField(blank=True, max_length=24)),
                ("reason", models.TextField(blank=True)),
                ("hint", models.TextField(blank=True)),
                ("memory_id", models.UUIDField(null=True)),
                ("memory_version", models.PositiveIntegerField(null=True)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rows",
                        to="memory.import",
                    ),
                ),
            ],
            options={
                "ordering": ("batch_id", "number"),
                "indexes": [
                    models.Index(
                        condition=models.Q(("memory_id__isnull", False)),
                        fields=["memory_id"],
                        name="memory_import_of_memory",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("batch", "number"), name="memory_import_row_once"
                    )
                ],
            },
        ),
    )
