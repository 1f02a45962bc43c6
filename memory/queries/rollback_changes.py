"""What was changed of memories, and what they said before it, as it can be rolled back (spec 4.3).

A version is what a memory said before a change. Those that a rollback has taken back, and the one
that it made itself, are over: a later rollback looks past them, by the verdict that is kept of it
and never by the words of a reason, which anybody may write.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from memory.lifecycle.review import Verdict
from memory.lifecycle.rolling_back import REWRITTEN, SAID_AGAIN, Left
from memory.lifecycle.versions import BROUGHT_BACK
from memory.models import Memory, MemoryVersion, ReviewVerdict
from memory.queries.memories import AUDIENCE
from memory.queries.rollback_choices import Choice, Chosen

_FIRST: Final = 0  # below the number of every version
_RUN: Final = (SAID_AGAIN, REWRITTEN)  # the first and the last version of a run that is over


def changed(*, what: Chosen) -> Exists:
    """Return the condition that who is rolled back has changed a memory, and it still stands."""
    return Exists(_standing().filter(_changes(what), memory=OuterRef("pk")).order_by())


def others_changes(*, what: Chosen) -> QuerySet[MemoryVersion]:
    """Return what somebody else has changed of a memory, and it still stands."""
    rows = _standing().filter(memory=OuterRef("pk"), changed_by__isnull=False)
    rows = rows.exclude(changed_by__in=what.mine)
    if _is_of_times_alone(what):  # whoever wrote within the time is rolled back
        return rows.exclude(_changes(what)).order_by()
    return rows.exclude(changed_by=F("memory__author_user")).order_by()


def version_before(*, row: Memory, what: Chosen) -> MemoryVersion | None:
    """Return the version that holds what a memory said before its last run of changes. In a unit.

    None where the last change is not of those that are rolled back.
    """
    return _before(what).filter(memory=row).first()


def why_left(*, row: Memory, version: MemoryVersion | None) -> Left | None:
    """Say why a changed memory stays as it is, None where it goes back to a version."""
    is_same_text = version is not None and version.content == row.content
    return _why_left(row, version, is_same_text=is_same_text)


def whys_left(*, ids: tuple[UUID, ...], what: Chosen) -> Mapping[UUID, Left | None]:
    """Return `why_left` of changed memories: three statements for all, and no texts. In a unit."""
    run = _before(what).filter(memory=OuterRef("pk")).values("pk")
    rows = Memory.objects.filter(pk__in=ids).defer("content", "citation").order_by("id")
    places = dict(rows.values_list("pk", Subquery(run[:1])))
    is_same_text = Q(content=F("memory__content"))
    versions = MemoryVersion.objects.filter(pk__in=places.values()).defer("content")
    same = set(versions.filter(is_same_text).values_list("pk", flat=True))
    found = {version.memory_id: version for version in versions.order_by()}
    whys: dict[UUID, Left | None] = {}
    for row in rows:
        version = found.get(row.id)
        is_same = version is not None and version.pk in same
        whys[row.id] = _why_left(row, version, is_same_text=is_same)
    return whys


def within(*, name: str, choice: Choice) -> Q:
    """Return the condition that a moment is within the time that is chosen."""
    since = Q() if choice.since is None else Q(**{f"{name}__gte": choice.since})
    return since if choice.until is None else since & Q(**{f"{name}__lt": choice.until})


def _why_left(row: Memory, version: MemoryVersion | None, *, is_same_text: bool) -> Left | None:
    if version is None:
        return Left.CHANGED
    if version.fields.get(AUDIENCE) != str(row.audience):
        return Left.MOVED
    told = {name: version.fields[name] for name in BROUGHT_BACK if name in version.fields}
    is_same = is_same_text and all(getattr(row, name) == value for name, value in told.items())
    return Left.SAME if is_same else None


def _before(what: Chosen) -> QuerySet[MemoryVersion]:
    """Return the versions of the run of changes on top of each memory, the oldest first."""
    theirs = _changes(what)
    others = _standing().filter(~theirs, memory=OuterRef("memory")).order_by("-number")
    last = Coalesce(Subquery(others.values("number")[:1]), _FIRST)
    return _standing().filter(theirs, number__gt=last).order_by("number")


def _standing() -> QuerySet[MemoryVersion]:
    """Return the versions that no rollback has taken back, nor made."""
    told = {name: Cast(KeyTextTransform(name, "before"), IntegerField()) for name in _RUN}
    over = ReviewVerdict.objects.filter(
        memory=OuterRef("memory"), verdict=Verdict.ROLL_BACK.value, undone_at__isnull=True
    ).annotate(**{f"told_{name}": value for name, value in told.items()})
    over = over.filter(
        **{f"told_{SAID_AGAIN}__lte": OuterRef("number")},
        **{f"told_{REWRITTEN}__gte": OuterRef("number")},
    )
    return MemoryVersion.objects.filter(~Exists(over.order_by()))


def _changes(what: Chosen) -> Q:
    """Return the condition that a version was ended by who is rolled back, then."""
    made = Q(changed_at__lte=what.asked_at)
    if what.person is not None:
        made &= Q(changed_by=what.person)
    return made & within(name="changed_at", choice=what.choice)


def _is_of_times_alone(what: Chosen) -> bool:
    choice = what.choice
    named = (what.person, choice.token, choice.session, what.derived)
    return all(one is None for one in named)
