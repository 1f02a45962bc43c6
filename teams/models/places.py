"""Projects and teams. People are referred to by id: no foreign key leaves the tenant schema."""

from django.db import models
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
