"""Decisions of the review inbox: what somebody decided, and what it takes to undo it (spec 9.2).

A snooze is one as well: for whoever said it the memory waits no more until its moment comes.
Whoever may see the memory may know of the decision; what `before` holds are fields of memories,
without their text.
"""

from django.db import models
from django.db.models import Q

from accounts.identifiers import new_id
from memory.models.memories import Memory


class ReviewVerdict(models.Model):
    """One decision about one memory. `decided_by` is a person, or a token of nobody's."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="verdicts")
    verdict = models.CharField(max_length=8)
    decided_by = models.UUIDField()
    decided_agent = models.CharField(max_length=120, blank=True)
    decided_at = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    before = models.JSONField(default=dict)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = (
            models.Index(
                fields=("decided_by", "memory"),
                condition=Q(verdict="snooze", undone_at__isnull=True),
                name="memory_verdict_snoozed",
            ),
            models.Index(fields=("-decided_at", "id"), name="memory_verdict_decided"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(until__isnull=False) | ~Q(verdict="snooze"),
                name="memory_verdict_snoozed_until",
            ),
        )
        ordering = ("-decided_at", "id")
