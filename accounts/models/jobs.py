"""The outbox: background work as rows, committed together with their cause."""

from django.db import models
from django.db.models import Q

from accounts.identifiers import new_id


class Job(models.Model):
    """One piece of background work of an organization."""

    class State(models.TextChoices):
        """Where a job stands."""

        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        QUARANTINED = "quarantined"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organization = models.ForeignKey(
        "accounts.Organization", on_delete=models.CASCADE, related_name="jobs"
    )
    name = models.CharField(max_length=60)
    queue = models.CharField(max_length=20)
    priority = models.PositiveSmallIntegerField(default=3)
    key = models.CharField(max_length=200, blank=True)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    run_after = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=80, blank=True)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    error_parts = models.JSONField(null=True, blank=True)  # of `error`, by `sentences`
    created_by = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("organization", "name", "key"),
                condition=~Q(key="") & Q(state="queued"),
                name="job_waiting_once",
            ),
        )
        indexes = (
            models.Index(
                fields=("queue", "priority", "run_after", "id"),
                condition=Q(state="queued"),
                name="job_due",
            ),
            models.Index(fields=("lease_until",), condition=Q(state="running"), name="job_leased"),
            models.Index(fields=("organization", "-created_at", "id"), name="job_of_organization"),
        )
        ordering = ("-created_at", "id")


class Slot(models.Model):
    """A run of a scheduled job: its existence means that some process has taken it."""

    name = models.CharField(max_length=60)
    starts_at = models.DateTimeField()
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("name", "starts_at"), name="slot_taken_once"),
        )
        ordering = ("-starts_at", "name", "id")
