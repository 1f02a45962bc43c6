"""What people decide about memories and names, and what it takes to undo it.

A snooze is one as well: for whoever said it the memory waits no more until its moment comes. So is
that of a conflict, which is written down with the side that fewer people see.
Whoever may see the memory may know of the decision; what `before` holds are fields of memories,
without their text.

That two names are one thing is such a decision too: for the whole organization or for one person,
its `audience`. It holds the keys of both names, and joins only what a reader sees anyway.
"""

from django.db import models
from django.db.models import Q

from accounts.identifiers import new_id
from memory.records.conflict_models import Conflict
from memory.records.models import Memory


class ReviewVerdict(models.Model):
    """One decision about one memory, or about two names; then `before` says which.

    `decided_by` is a token, or a person who decided without one; that two names are one thing is
    its person's, whichever token they used.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    memory = models.ForeignKey(
        Memory, null=True, blank=True, on_delete=models.CASCADE, related_name="verdicts"
    )
    conflict = models.ForeignKey(
        Conflict,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="rests",
        db_index=False,
    )
    audience = models.UUIDField(null=True, blank=True)
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
            models.Index(
                fields=("audience",),
                condition=Q(verdict="same", undone_at__isnull=True),
                name="memory_verdict_same",
            ),
            models.Index(
                fields=("conflict", "decided_by"),
                condition=Q(conflict__isnull=False),
                name="memory_verdict_of_conflict",
            ),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(until__isnull=False) | ~Q(verdict="snooze"),
                name="memory_verdict_snoozed_until",
            ),
            models.CheckConstraint(
                condition=Q(verdict="same", memory__isnull=True, audience__isnull=False)
                | (~Q(verdict="same") & Q(memory__isnull=False)),
                name="memory_verdict_of_memory_or_names",
            ),
        )
        ordering = ("-decided_at", "id")
