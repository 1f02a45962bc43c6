"""The action log: what became of each candidate that came to the door.

It says when, from whom and through what, how it ended and at which gate; never what was said. Kept
for some time only, so no row holds on to a memory.
"""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models


class ActionLog(models.Model):
    """What became of one candidate. Appended, never changed.

    `audience`: who may see the row; of a refused candidate its sender, who alone knows of it.
    `certainty`: 0..1, how sure it was what the candidate is to `other_id`; NULL where that is none.
    """

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    audience = models.UUIDField()
    project_id = models.UUIDField(null=True)
    user_id = models.UUIDField(null=True)
    token_id = models.UUIDField(null=True)
    agent = models.CharField(max_length=120, blank=True)
    source = models.CharField(max_length=20)
    source_interface = models.CharField(max_length=20)
    outcome = models.CharField(max_length=12)
    gate = models.CharField(max_length=16, blank=True)
    cause = models.CharField(max_length=24, blank=True)
    memory_id = models.UUIDField(null=True)
    other_id = models.UUIDField(null=True)
    certainty = models.FloatField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=("project_id", "-id"), name="memory_action_place"),
            BrinIndex(fields=("at",), name="memory_action_at"),
        )
        ordering = ("-id",)
