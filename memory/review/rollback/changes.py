"""What was changed of memories, and what they said before it, as it can be rolled back.

A version is what a memory said before a change. Those that a rollback has taken back, and the one
that it made itself, are over: a later rollback looks past them, by the verdict that is kept of it
and never by the words of a reason, which anybody may write.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, IntegerField, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from memory.records.models import Memory, MemoryVersion
from memory.records.queries.memories import AUDIENCE
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.records.versions import BROUGHT_BACK
from memory.review.rollback.endorsements import judgments
from memory.review.rollback.permissions import Choice, Chosen
from memory.review.rollback.rules import REWRITTEN, SAID_AGAIN, Change, Left, goes_back_to

IS_SAME: Final = "is_same"  # of a version that was asked for: its memory has its text
_RUN: Final = (SAID_AGAIN, REWRITTEN)  # the first and the last version of a run that is over


def changed(*, what: Chosen) -> Exists:
    """Return the condition that who is rolled back has changed a memory, and it still stands."""
    return Exists(_standing().filter(_changes(what), memory=OuterRef("pk")).order_by())


def others_changes(*, what: Chosen) -> QuerySet[MemoryVersion]:
    """Return what somebody else has changed of a memory, and it still stands."""
    rows = _standing().filter(memory=OuterRef("pk"), changed_by__isnull=False)
    rows = rows.exclude(changed_by__in=what.mine)
    if is_of_times_alone(what=what):  # whoever wrote within the time is rolled back
        return rows.exclude(_changes(what)).order_by()
    return rows.exclude(changed_by=F("memory__author_user")).order_by()


def versions_before(*, ids: Iterable[UUID], what: Chosen) -> Mapping[UUID, MemoryVersion | Left]:
    """Return what each changed memory goes back to, without the text, or why it is left. In a unit.

    The same statements for one as for many.
    """
    wanted = frozenset(ids)
    judged = judgments(ids=wanted, what=what)
    ends: dict[UUID, int | Left] = {
        one: goes_back_to(changes=changes, judgments=judged.get(one, ()))
        for one, changes in _changes_of(wanted, what).items()
    }
    rows = Memory.objects.filter(pk__in=wanted).defer("content", "citation").order_by("id")
    found = _versions(ends)
    return {row.id: _end(row, ends.get(row.id, Left.CHANGED), found) for row in rows}


def is_known(*, what: Chosen) -> bool:
    """Say whether changes can be rolled back so: they are known of persons and times.

    No version says in which session it was made.
    """
    choice = what.choice
    return not choice.session and not choice.token and what.derived is None


def is_of_times_alone(*, what: Chosen) -> bool:
    """Say whether whoever wrote within a time is rolled back."""
    choice = what.choice
    named = (what.person, choice.token, choice.session, what.derived)
    return all(one is None for one in named)


def within(*, name: str, choice: Choice) -> Q:
    """Return the condition that a moment is within the time that is chosen."""
    since = Q() if choice.since is None else Q(**{f"{name}__gte": choice.since})
    return since if choice.until is None else since & Q(**{f"{name}__lt": choice.until})


def _changes_of(ids: frozenset[UUID], what: Chosen) -> Mapping[UUID, list[Change]]:
    """Return the changes of memories that stand."""
    rows = _standing().filter(memory__in=ids).annotate(theirs=Q(_changes(what)))
    found: dict[UUID, list[Change]] = {}
    told = rows.values_list("memory_id", "number", "changed_by", "changed_at", "theirs")
    for memory_id, number, by, at, is_theirs in told.order_by("memory_id", "number"):
        one = Change(number=number, made_by=by, made_at=at, is_theirs=is_theirs)
        found.setdefault(memory_id, []).append(one)
    return found


def _versions(ends: Mapping[UUID, int | Left]) -> Mapping[UUID, MemoryVersion]:
    """Return the versions that memories go back to, and of each whether the text is the same."""
    numbers = {one: end for one, end in ends.items() if not isinstance(end, Left)}
    rows = MemoryVersion.objects.filter(memory__in=numbers, number__in=set(numbers.values()))
    rows = rows.defer("content").annotate(**{IS_SAME: Q(content=F("memory__content"))})
    found = {(row.memory_id, row.number): row for row in rows.order_by()}
    return {one: found[one, number] for one, number in numbers.items()}


def _end(row: Memory, end: int | Left, found: Mapping[UUID, MemoryVersion]) -> MemoryVersion | Left:
    if isinstance(end, Left):
        return end
    version = found[row.id]
    if version.fields.get(AUDIENCE) != str(row.audience):
        return Left.MOVED
    told = {name: version.fields[name] for name in BROUGHT_BACK if name in version.fields}
    same = getattr(version, IS_SAME) and all(
        getattr(row, name) == value for name, value in told.items()
    )
    return Left.SAME if same else version


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
