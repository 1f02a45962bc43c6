"""Conflicts: two memories that say different things, until a person decides.

Both memories stay as they are meanwhile, and neither is told without the other. Whoever may see
both may see the conflict; nobody else learns that there is one.
"""

from django.db import models
from django.db.models import F, Q

from accounts.identifiers import new_id
from memory.records.models import Memory


class Conflict(models.Model):
    """A conflict of two memories, the one that was there and the one that came.

    `kind` is what the newer one would have done, `cause` why a person is to decide. `audience` is
    the smaller one of the two, and follows them. `before` holds what settling changed, so that it
    can be taken back.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project_id = models.UUIDField(null=True, blank=True)
    audience = models.UUIDField()
    older = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="conflicts_as_older", db_index=False
    )
    newer = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="conflicts_as_newer")
    kind = models.CharField(max_length=12)
    cause = models.CharField(max_length=12)
    cosine = models.FloatField(null=True, blank=True)
    found_at = models.DateTimeField()
    verdict = models.CharField(max_length=12, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    settled_by = models.UUIDField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    before = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("older", "newer"), name="memory_conflict_once"),
            models.CheckConstraint(
                condition=~Q(older=F("newer")), name="memory_conflict_not_with_itself"
            ),
            models.CheckConstraint(
                condition=Q(verdict="", settled_at__isnull=True)
                | (~Q(verdict="") & Q(settled_at__isnull=False)),
                name="memory_conflict_settled_or_not",
            ),
        )
        indexes = (
            models.Index(
                fields=("audience", "project_id", "id"),
                condition=Q(verdict=""),
                name="memory_conflict_open",
            ),
        )
        ordering = ("-found_at", "id")
