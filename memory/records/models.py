"""The memory itself: one atomic statement worth keeping, with provenance.

This is the cold row: text and everything a person reads. What a search touches for every candidate
stands in `memory.index.models`, in narrow rows of their own.
"""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from accounts.identifiers import new_id
from memory.entities.names import Name
from memory.taxonomy import Verdict

LONGEST_TAG = 64  # characters


def _between_0_and_1(field: str) -> models.CheckConstraint:
    return models.CheckConstraint(
        condition=Q(**{f"{field}__gte": 0, f"{field}__lte": 1}), name=f"memory_{field}_0_to_1"
    )


class Memory(models.Model):
    """One memory."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey(
        "teams.Project",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="memories",
        db_index=False,
    )
    external_id = models.CharField(max_length=200, blank=True)
    type = models.CharField(max_length=24)
    content = models.TextField()
    citation = models.CharField(max_length=40)
    content_hash = models.CharField(max_length=64)
    tags = ArrayField(models.CharField(max_length=LONGEST_TAG), default=list)
    related_files = ArrayField(models.CharField(max_length=400), default=list)
    related_modules = ArrayField(models.CharField(max_length=200), default=list)
    structure = models.CharField(max_length=12, default="narrative")
    attributes = models.JSONField(default=dict)

    scope = models.CharField(max_length=12)
    audience = models.UUIDField()
    team_id = models.UUIDField(null=True, blank=True)
    reach = models.CharField(max_length=12, default="global")
    work_unit = models.JSONField(default=dict)
    methodology = models.CharField(max_length=40, blank=True)
    phase = models.CharField(max_length=20, blank=True)

    confidence = models.FloatField(default=0.8)
    confidence_floor = models.FloatField(default=0.0)
    confirmations = models.PositiveIntegerField(default=0)
    last_confirmed_at = models.DateTimeField(null=True, blank=True)
    verification = models.CharField(max_length=12, default="unverified")
    verified_at = models.DateTimeField(null=True, blank=True)
    needs_review = models.BooleanField(default=False)
    user_verified = models.BooleanField(default=False)
    taint_reason = models.CharField(max_length=200, blank=True)
    authority = models.PositiveSmallIntegerField(default=3)

    importance = models.FloatField(default=0.5)
    surprise = models.FloatField(default=0.5)
    tier = models.CharField(max_length=12, default="short_term")
    governance = models.PositiveSmallIntegerField(default=3)
    pinned = models.BooleanField(default=False)
    decay_half_life_days = models.FloatField(null=True, blank=True)

    event_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    stated_at = models.DateTimeField(null=True)  # when its words were last written; null: not kept
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField(null=True, blank=True)

    status = models.CharField(max_length=12, default="active")
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="predecessors"
    )
    stale_at = models.DateTimeField(null=True, blank=True)
    archived_reason = models.CharField(max_length=200, blank=True)
    version = models.PositiveIntegerField(default=1)

    source = models.CharField(max_length=20)
    source_interface = models.CharField(max_length=20)
    session_id = models.UUIDField(null=True, blank=True)
    # where in a conversation of other people's a text was said: their ids of it and of its sitting
    thread = models.CharField(max_length=200, blank=True, default="", db_default="")
    session = models.CharField(max_length=200, blank=True, default="", db_default="")
    position = models.PositiveIntegerField(null=True, blank=True)
    provenance_sessions = ArrayField(models.UUIDField(), default=list)
    commit_sha = models.CharField(max_length=64, blank=True)
    source_uri = models.CharField(max_length=500, blank=True)
    source_hash = models.CharField(max_length=64, blank=True)
    source_line = models.PositiveIntegerField(null=True, blank=True)
    author_user = models.UUIDField(null=True, blank=True)
    author_agent = models.CharField(max_length=120, blank=True)

    names_version = models.PositiveSmallIntegerField(default=0)  # of who read what it names
    enriched_by = models.PositiveSmallIntegerField(default=0, db_default=0)  # the nightly reader
    names: tuple[Name, ...] = ()  # what a new text names, on its way to the mentions

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("audience", "project", "content_hash"),
                condition=Q(status="active") & ~Q(type="episode"),
                nulls_distinct=False,
                name="memory_content_once",
            ),
            models.UniqueConstraint(
                fields=("audience", "project", "external_id"),
                condition=~Q(external_id="") & Q(status="active"),
                nulls_distinct=False,
                name="memory_external_id_once",
            ),
            _between_0_and_1("confidence"),
            _between_0_and_1("importance"),
            _between_0_and_1("surprise"),
            models.CheckConstraint(
                condition=Q(governance__gte=1, governance__lte=4), name="memory_governance_1_to_4"
            ),
        )
        indexes = (
            models.Index(fields=("names_version",), name="memory_names_version"),
            models.Index(
                fields=("enriched_by",), condition=Q(status="active"), name="memory_enriched_by"
            ),
            models.Index(fields=("project", "status", "-created_at", "id"), name="memory_recent"),
            models.Index(fields=("status", "-created_at", "id"), name="memory_recent_all"),
            models.Index(
                fields=("project", "id"), condition=Q(needs_review=True), name="memory_review"
            ),
            models.Index(
                fields=("project", "id"),
                condition=Q(status="active")
                & (
                    Q(verification__in=("stale", "contradicted"))
                    | ~Q(taint_reason="")
                    | Q(stale_at__isnull=False)
                    | Q(needs_review=True)
                ),
                name="memory_attention",
            ),
            models.Index(
                fields=("project", "id"),
                condition=Q(status="active") & ~Q(related_modules=[]),
                name="memory_of_module",
            ),
            models.Index(
                fields=("project", "id"),
                condition=Q(status="active")
                & (Q(pinned=True) | Q(governance=1) | Q(type="reflection")),
                name="memory_standing",
            ),
            models.Index(
                fields=("session_id",), condition=Q(session_id__isnull=False), name="memory_session"
            ),
            models.Index(fields=("audience",), condition=~Q(reach="global"), name="memory_limited"),
            models.Index(
                fields=("thread", "session", "position", "id"),
                condition=Q(position__isnull=False),
                name="memory_conversation",
            ),
            GinIndex(fields=("related_files",), name="memory_files"),
            GinIndex(fields=("tags",), name="memory_tags"),
        )
        ordering = ("-created_at", "id")


class MemoryVersion(models.Model):
    """What a memory said before a change; the memory row holds the newest version."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.TextField()
    fields = models.JSONField(default=dict)
    reason = models.CharField(max_length=200, blank=True)
    changed_by = models.UUIDField(null=True, blank=True)
    changed_agent = models.CharField(max_length=120, blank=True)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("memory", "number"), name="memory_version_once"),
        )
        ordering = ("-number", "id")


class MemoryLink(models.Model):
    """A typed relation between two memories.

    `before` is what a target was when the source took its place, by field.
    """

    source = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_out")
    target = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_in")
    kind = models.CharField(max_length=20)
    confidence = models.FloatField(default=1.0)
    automatic = models.BooleanField(default=False)
    cosine = models.FloatField(null=True, blank=True)
    description = models.CharField(max_length=200, blank=True)
    before = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("source", "target", "kind"), name="memory_link_once"),
            models.CheckConstraint(
                condition=~Q(source=F("target")), name="memory_link_not_to_itself"
            ),
        )
        ordering = ("-created_at", "id")


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


SAME: Final = "same"  # of the verdict that two names are one thing


BESIDE: Final = (Verdict.SNOOZE.value, Verdict.UNLINK.value)  # nothing is decided of the memory


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
