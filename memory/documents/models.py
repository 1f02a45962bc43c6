"""Imports, their rows, and notes: documents that memories come from.

An import and a note stand in one place, an audience and a project, as the memories do that come of
them; so whoever may see those may see these. What was refused is kept without its text.
"""

from django.db import models

from accounts.identifiers import new_id


class Import(models.Model):
    """One batch: what was handed in, how far it is, and whether it was taken back."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    audience = models.UUIDField()
    project_id = models.UUIDField(null=True)
    scope = models.CharField(max_length=12)
    team_id = models.UUIDField(null=True)
    name = models.CharField(max_length=200)
    files = models.JSONField(default=list)
    state = models.CharField(max_length=12, default="queued")
    total = models.PositiveIntegerField(default=0)
    job_id = models.UUIDField(null=True)
    created_by = models.UUIDField(null=True)
    user_id = models.UUIDField(null=True)
    token_id = models.UUIDField(null=True)
    agent = models.CharField(max_length=120, blank=True)
    source_interface = models.CharField(max_length=20)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=400, blank=True, default="")

    class Meta:
        indexes = (
            models.Index(fields=("project_id", "-created_at", "id"), name="memory_import_recent"),
        )
        ordering = ("-created_at", "id")


class ImportRow(models.Model):
    """One statement of an import: what was sent, what became of it, and as which version."""

    batch = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="rows")
    number = models.PositiveIntegerField()
    file = models.CharField(max_length=400, blank=True)
    line = models.PositiveIntegerField(null=True)
    candidate = models.JSONField(default=dict)
    outcome = models.CharField(max_length=12, blank=True)
    gate = models.CharField(max_length=24, blank=True)
    reason = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    memory_id = models.UUIDField(null=True)
    memory_version = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("batch", "number"), name="memory_import_row_once"),
        )
        indexes = (
            models.Index(
                fields=("memory_id",),
                condition=models.Q(memory_id__isnull=False),
                name="memory_import_of_memory",
            ),
        )
        ordering = ("batch_id", "number")


class NoteVersion(models.Model):
    """One version of a document that memories come from; all versions share `note`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    note = models.UUIDField()
    audience = models.UUIDField()
    project_id = models.UUIDField()
    path = models.CharField(max_length=400)
    number = models.PositiveIntegerField()
    is_current = models.BooleanField(default=True)
    text = models.TextField()
    digest = models.CharField(max_length=64)
    pushed_by = models.UUIDField(null=True)
    agent = models.CharField(max_length=120, blank=True)
    pushed_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("note", "number"), name="memory_note_version_once"),
            models.UniqueConstraint(
                fields=("audience", "project_id", "path"),
                condition=models.Q(is_current=True),
                name="memory_note_path_once",
            ),
        )
        ordering = ("path", "-number", "id")
