"""Nodes and edges, a table each."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Create both tables."""

    initial = True

    dependencies = (("teams", "0001_baseline"),)

    operations = (
        migrations.CreateModel(
            name="Node",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=12)),
                ("label", models.CharField(max_length=200)),
                ("qualified", models.CharField(max_length=400)),
                ("language", models.CharField(blank=True, max_length=20)),
                ("first_line", models.PositiveIntegerField(null=True)),
                ("last_line", models.PositiveIntegerField(null=True)),
                ("layer", models.CharField(max_length=16)),
                ("source", models.CharField(max_length=8)),
                ("confidence", models.FloatField(default=1.0)),
                ("hash", models.CharField(blank=True, max_length=64)),
                ("wanted", models.CharField(blank=True, max_length=64)),
                ("size", models.PositiveIntegerField(null=True)),
                ("details", models.JSONField(null=True)),
                ("indexed_at", models.DateTimeField(null=True)),
                ("stale_at", models.DateTimeField(null=True)),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="symbols",
                        to="graph.node",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="teams.project",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Edge",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("to_text", models.CharField(blank=True, max_length=200)),
                ("layer", models.CharField(max_length=16)),
                ("type", models.CharField(max_length=20)),
                ("weight", models.FloatField(default=1.0)),
                ("confidence", models.FloatField(default=1.0)),
                ("source", models.CharField(max_length=8)),
                ("stale_at", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="teams.project"
                    ),
                ),
                (
                    "from_node",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="edges",
                        to="graph.node",
                    ),
                ),
                (
                    "to_node",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="edges_back",
                        to="graph.node",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.AddIndex(
            model_name="node",
            index=models.Index(fields=["project", "label"], name="graph_node_label"),
        ),
        migrations.AddConstraint(
            model_name="node",
            constraint=models.UniqueConstraint(
                condition=models.Q(("file", None)),
                fields=("project", "kind", "qualified"),
                name="graph_node_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="node",
            constraint=models.UniqueConstraint(
                fields=("file", "qualified"), name="graph_node_once_in_file"
            ),
        ),
        migrations.AddIndex(
            model_name="edge",
            index=models.Index(
                condition=models.Q(("to_node__isnull", False)),
                fields=["to_node", "layer", "type"],
                name="graph_edge_back",
            ),
        ),
        migrations.AddIndex(
            model_name="edge",
            index=models.Index(
                condition=models.Q(("stale_at__isnull", False)),
                fields=["project"],
                name="graph_edge_stale",
            ),
        ),
        migrations.AddConstraint(
            model_name="edge",
            constraint=models.UniqueConstraint(
                fields=("from_node", "layer", "type", "to_node", "to_text"),
                name="graph_edge_once",
                nulls_distinct=False,
            ),
        ),
    )
