"""Topics: what memories of one place are about.

A place is an audience and a project, and a topic belongs to one, so whoever may see a memory of it
may see them all. Nothing is counted here and no word is taken for granted: how many memories a
topic has, and which of its words at least two of them have, is looked up when it is told. So what
was archived, moved or rewritten is gone from counts and names at once.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from pgvector.django import HalfVectorField

from accounts.identifiers import new_id
from memory.index.models import EmbeddingModel
from memory.topics.clustering import LONGEST


class Topic(models.Model):
    """A topic of a place: its words, and the center of its vectors in one model.

    A memory joins it whose cosine with the center is at least `reach`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    audience = models.UUIDField()
    project_id = models.UUIDField(null=True)
    words = ArrayField(models.CharField(max_length=LONGEST))
    model = models.ForeignKey(EmbeddingModel, null=True, on_delete=models.SET_NULL)
    center = HalfVectorField(null=True)
    reach = models.FloatField(default=1.0)
    sorted_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=("audience", "project_id"), name="memory_topic_place"),)
        ordering = ("id",)


class TopicMember(models.Model):
    """The one topic of a memory: which of the topic's words it has (bits), and how central it is.

    The memory is named without a constraint, because a constraint would have the sorting wait for
    writers of memories, who wait for the sorting.
    """

    memory = models.OneToOneField(
        "memory.Memory",
        on_delete=models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="topic_member",
    )
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="members")
    holds = models.SmallIntegerField()
    closeness = models.FloatField(null=True)

    class Meta:
        ordering = ("memory_id",)
