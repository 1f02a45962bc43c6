"""Which memory names which thing: all that is stored of entities.

An entity is what the mentions of one type and key have in common. It has no row of its own: such a
row would belong to nobody in particular, and would tell everyone that something of that name
exists, how often it is named and how it is spelled, whoever may read the memories that say so. So
its names and its counts are those of the mentions that the one who asks may see. And two writers
who name the same new thing do not wait for each other.
"""

from django.db import models

from memory.entities.names import LONGEST


class Mention(models.Model):
    """A memory names a thing: its type, the key of its spellings, and how it is written there.

    Whose memory it is stands here too, so that others' mentions of a name cost a search nothing;
    both change with the memory's text or place, for which the mentions are written anew. `read_by`
    is the reader that found it: 0 is the patterns of every write, else a model of the night.
    """

    pk = models.CompositePrimaryKey("memory_id", "type_code", "key")
    memory = models.ForeignKey(
        "memory.Memory", on_delete=models.CASCADE, related_name="mentions", db_index=False
    )
    type_code = models.SmallIntegerField()
    key = models.CharField(max_length=LONGEST)
    name = models.CharField(max_length=LONGEST)
    audience = models.UUIDField()
    project_id = models.UUIDField(null=True)
    read_by = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        indexes = (models.Index(fields=("key", "audience"), name="memory_mention_named"),)
        ordering = ("memory_id", "type_code", "key")
