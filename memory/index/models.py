"""What a search reads for each candidate: narrow rows, split by how often they change.

Measured (CPU of one search over 10,000 rows): vectors of at most 384 half floats in a narrow row
cost 4 to 5 ms exactly scanned, the same vectors beside text 10 to 12 times that; counting an
access in a row that carries an index costs more than the search. Hence: vector rows, keyword rows,
usage rows, and an append-only access log that a job merges each minute.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField, SparseVectorField

LARGEST_PREFIX = 384  # dimensions of the vector a scan reads


class EmbeddingModel(models.Model):
    """A vector space. Vectors of different models are never compared.

    Searches compare those of the active one; those of one being filled are made in the background,
    and it takes over when every memory has one. `chosen`: somebody wanted it, so the
    installation's model does not replace it by itself. `overlap`: the share of its ten nearest
    that the model before it finds too.
    """

    id = models.SmallAutoField(primary_key=True)
    key = models.CharField(max_length=120, unique=True)
    dimensions = models.PositiveSmallIntegerField()
    prefix_dimensions = models.PositiveSmallIntegerField()
    active = models.BooleanField(default=False)
    filling = models.BooleanField(default=False)
    chosen = models.BooleanField(default=False)
    overlap = models.FloatField(null=True)
    activated_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("active",), condition=Q(active=True), name="embedding_model_active_once"
            ),
            models.UniqueConstraint(
                fields=("filling",), condition=Q(filling=True), name="embedding_model_filling_once"
            ),
            models.CheckConstraint(
                condition=Q(active=False) | Q(filling=False), name="embedding_model_one_part"
            ),
            models.UniqueConstraint(
                fields=("id", "prefix_dimensions"), name="embedding_model_prefix"
            ),
        )
        ordering = ("id",)


class Searchable(models.Model):
    """The filters every candidate path applies, repeated where they are read."""

    project_id = models.UUIDField(null=True)
    audience = models.UUIDField()
    type_code = models.SmallIntegerField()
    live = models.BooleanField(default=True)
    known_from = models.DateTimeField()
    known_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class MemoryVector(Searchable):
    """A memory's vector in one model: unit length, at most 384 dimensions, read by every scan."""

    memory = models.ForeignKey(
        "memory.Memory", on_delete=models.CASCADE, related_name="vectors", db_index=False
    )
    model = models.ForeignKey(
        EmbeddingModel, on_delete=models.CASCADE, related_name="vectors", db_index=False
    )
    prefix_dimensions = models.PositiveSmallIntegerField()
    unit = HalfVectorField()
    whole = HalfVectorField(null=True)
    text_hash = models.CharField(max_length=64)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("memory", "model"), name="memory_vector_once"),
        )
        indexes = (
            models.Index(
                fields=("model", "project_id", "audience"),
                condition=Q(live=True),
                name="memory_vector_live",
            ),
        )
        ordering = ("id",)


class MemoryKeyword(Searchable):
    """A memory's words: BM25 weights as a sparse vector, and the lexemes they came from.

    `facets` are what it can be narrowed by (tags, files, modules, author), as hashes.
    """

    memory = models.OneToOneField("memory.Memory", on_delete=models.CASCADE, primary_key=True)
    weights = SparseVectorField(dimensions=268_435_456)
    lexemes = SearchVectorField()
    facets = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        indexes = (
            models.Index(
                fields=("project_id", "audience"), condition=Q(live=True), name="memory_kw_live"
            ),
            GinIndex(fields=("facets",), name="memory_kw_facets"),
            GinIndex(fields=("lexemes",), name="memory_kw_words", gin_pending_list_limit=256),
        )
        ordering = ("memory_id",)


class Lexeme(models.Model):
    """In how many memories of one audience and project a word occurs; the empty word counts all.

    Kept apart by who may see them: how rare a word is must not tell what others have written.
    """

    word = models.TextField()
    audience = models.UUIDField()
    project_id = models.UUIDField(null=True)
    documents = models.PositiveIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("word", "audience", "project_id"),
                nulls_distinct=False,
                name="lexeme_counted_once",
            ),
        )
        ordering = ("word", "id")


class MemoryUsage(models.Model):
    """How often and when a memory was given to someone, and to agents; written by the merge alone.

    Agents are given it unasked or by a search of theirs; a person who lists it is none.
    """

    memory = models.OneToOneField("memory.Memory", on_delete=models.CASCADE, primary_key=True)
    access_count = models.PositiveIntegerField(default=0)
    last_accessed_at = models.DateTimeField(null=True)
    given_count = models.PositiveIntegerField(default=0, db_default=0)
    last_given_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("memory_id",)


class AccessLog(models.Model):
    """Memories that one search gave out, and to whom; append-only, unlogged, merged each minute.

    What was ranked for one project also says whether the graph took part, and whether it changed
    the first eight; `memory/search/pool.py` says what that means.
    """

    at = models.DateTimeField(auto_now_add=True)
    memories = ArrayField(models.UUIDField())
    person = models.UUIDField(null=True)
    token = models.UUIDField(null=True)
    by_program = models.BooleanField(default=False, db_default=False)
    project_id = models.UUIDField(null=True)
    graph_took_part = models.BooleanField(null=True)
    graph_changed = models.BooleanField(null=True)

    class Meta:
        ordering = ("id",)
