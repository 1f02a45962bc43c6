"""Models of the tenant schema: projects, teams, the change feed, the audit log, kept answers.

People are referred to by id: no foreign key leaves the tenant schema.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.identifiers import new_id


class Project(models.Model):
    """A codebase, or a body of work, of an organization."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=400, blank=True)
    open_to_all = models.BooleanField(default=True)
    settings = models.JSONField(default=dict)
    created_by = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("slug", "id")


class ProjectMember(models.Model):
    """A person who belongs to a project that is not open to all."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="members")
    user_id = models.UUIDField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "user_id"), name="project_member_once"),
        )
        indexes = (models.Index(fields=("user_id",)),)
        ordering = ("created_at", "id")


class Team(models.Model):
    """A group of people who share memories across projects."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("slug", "id")


class TeamMember(models.Model):
    """A person in a team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    user_id = models.UUIDField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("team", "user_id"), name="team_member_once"),
        )
        indexes = (models.Index(fields=("user_id",)),)
        ordering = ("created_at", "id")


CONFIRMATIONS = (  # acts by which somebody says that memories are right
    "memory.confirmed",
    "memory.bulk_confirmed",
    "memory.bulk_written",
)


class Change(models.Model):
    """One entry of the change feed, in the order in which it was committed."""

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=40)
    object_id = models.UUIDField()
    project_id = models.UUIDField(null=True)
    audience = models.UUIDField()
    actor_user = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=120, blank=True)
    source_interface = models.CharField(max_length=20, blank=True)
    summary = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = (models.Index(fields=("project_id", "id")),)
        ordering = ("id",)


class AuditEntry(models.Model):
    """Who did what, when and from where, chained to the entry before. Appended, never changed."""

    number = models.BigIntegerField(primary_key=True)
    act = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)
    actor_user = models.UUIDField(null=True)
    token_id = models.UUIDField(null=True)
    agent = models.CharField(max_length=120, blank=True)
    source_interface = models.CharField(max_length=20, blank=True)
    surface = models.CharField(max_length=10)
    request_id = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=45, blank=True)
    details = models.JSONField(default=dict)
    fields = ArrayField(models.CharField(max_length=40), default=list)
    created_at = models.DateTimeField()
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        indexes = (
            models.Index(fields=("object_id", "number"), name="teams_audit_object"),
            models.Index(
                fields=("act", "object_id"),
                condition=Q(act__in=CONFIRMATIONS, token_id__isnull=True, agent=""),
                name="teams_audit_confirmed",
            ),
        )
        ordering = ("number",)


class IdempotencyKey(models.Model):
    """The answer to a write that carried an Idempotency-Key, kept for a day."""

    id = models.BigAutoField(primary_key=True)
    principal = models.CharField(max_length=80)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("principal", "key"), name="idempotency_once"),
        )
        ordering = ("id",)
