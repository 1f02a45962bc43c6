"""Nodes and edges of code and knowledge: one table each.

A file is a node, and what it defines are nodes that name it. Of a file's text nothing is kept but
its hash, and in `details` what it refers to, from which its edges are made anew. Rows are numbered
and small, because a project has fifty thousand nodes and several times as many edges. Indexes hold
no further columns: behind row-level security every row is read anyhow, to compare its organization.
"""

from typing import Any

from django.db import models
from django.db.models import Q

from graph.code.values import LONGEST_LABEL, LONGEST_PATH
from teams.models import Project

HASH_LENGTH = 64  # SHA-256, in hexadecimal digits


class Node(models.Model):
    """A thing of a project: a file, what a file defines, or the project's code as a whole.

    `qualified` is the path of a file, else the name with all that it stands in. Of a file, `hash`
    is what was read, and `wanted` what the newest manifest says it is, while that has not come. A
    file is stale from the moment its manifest says it changed until its edges are made anew.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    kind = models.CharField(max_length=12)
    label = models.CharField(max_length=LONGEST_LABEL)
    qualified = models.CharField(max_length=LONGEST_PATH)
    file = models.ForeignKey(
        "self", null=True, on_delete=models.CASCADE, related_name="symbols", db_index=False
    )
    language = models.CharField(max_length=20, blank=True)
    first_line = models.PositiveIntegerField(null=True)
    last_line = models.PositiveIntegerField(null=True)
    layer = models.CharField(max_length=16)
    source = models.CharField(max_length=8)
    confidence = models.FloatField(default=1.0)
    hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    wanted = models.CharField(max_length=HASH_LENGTH, blank=True)
    size = models.PositiveIntegerField(null=True)
    details = models.JSONField(null=True)
    indexed_at = models.DateTimeField(null=True)
    stale_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("project", "kind", "qualified"),
                condition=Q(file=None),
                name="graph_node_once",
            ),
            models.UniqueConstraint(fields=("file", "qualified"), name="graph_node_once_in_file"),
        )
        indexes = (models.Index(fields=("project", "label"), name="graph_node_label"),)
        ordering = ("id",)

    @property
    def stored_details(self) -> dict[str, Any]:
        """What is kept of a file, or of the project's code as a whole, beside its columns."""
        return self.details or {}

    @property
    def expected(self) -> str:
        """The hash of a file as the newest manifest says it."""
        return self.wanted or self.hash


class Edge(models.Model):
    """How one node stands to another, or to a name that no node of the project is known by.

    It is stale from the moment that one of its ends changed until the edges of the file that it
    comes from are made anew.
    """

    id = models.BigAutoField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    from_node = models.ForeignKey(
        Node, on_delete=models.CASCADE, related_name="edges", db_index=False
    )
    to_node = models.ForeignKey(
        Node, null=True, on_delete=models.CASCADE, related_name="edges_back", db_index=False
    )
    to_text = models.CharField(max_length=LONGEST_LABEL, blank=True)
    layer = models.CharField(max_length=16)
    type = models.CharField(max_length=20)
    weight = models.FloatField(default=1.0)
    confidence = models.FloatField(default=1.0)
    source = models.CharField(max_length=8)
    stale_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("from_node", "layer", "type", "to_node", "to_text"),
                nulls_distinct=False,
                name="graph_edge_once",
            ),
        )
        indexes = (
            models.Index(
                fields=("to_node", "layer", "type"),
                condition=Q(to_node__isnull=False),
                name="graph_edge_back",
            ),
            models.Index(
                fields=("project",), condition=Q(stale_at__isnull=False), name="graph_edge_stale"
            ),
        )
        ordering = ("id",)
