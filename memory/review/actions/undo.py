"""Undo a verdict of the review inbox: all it touched is as it was before.

Only who decided takes it back: a token what it decided itself, a person in person also what their
tokens decided, and no agent what its person decided in person; and only while nobody has changed
one of the memories since. The version goes on, because a version never means two things; every
other field is restored.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Conflict, NotFound
from accounts.messages import message
from accounts.queries import credentials
from memory.records.actions import archive, revise, writes
from memory.records.models import Memory, MemoryLink, MemoryVersion
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import to_view
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.review.actions import unlink
from memory.review.actions import verdict as review_verdict
from memory.review.actions.verdict import Decided
from memory.review.queries import pending
from memory.review.rollback.rules import REWRITTEN
from teams.permissions import Act, require

TAKEN_BACK = message("the correction was taken back")  # why a successor is archived


def undo(*, caller: Caller, review_id: UUID, now: datetime) -> Decided:
    """Take back one's own verdict; return the memory as it is again.

    Raises NotFound for somebody else's, Conflict when it is undone, something changed since, or it
    is a part of a rollback.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        made = own(caller=caller, review_id=review_id)
        _check_alone(made)
        _hold(caller, (made,))
        decided = take_back(caller=caller, made=made, now=now)
        writes.record(caller=caller, act="memory.review_undone", memory_id=decided.memory.id)
        return decided


def undo_together(*, caller: Caller, review_id: UUID, now: datetime) -> tuple[Decided, ...]:
    """Take back all that was decided in the same call as this verdict, or nothing of it.

    One moment and one person make one call. Raises what `undo` raises.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        first = own(caller=caller, review_id=review_id)
        _check_alone(first)
        ids = (
            ReviewVerdict.objects.filter(
                decided_by=first.decided_by,
                decided_at=first.decided_at,
                verdict=first.verdict,
                undone_at__isnull=True,
            )
            .order_by("memory_id", "id")
            .values_list("id", flat=True)
        )
        several = tuple(own(caller=caller, review_id=one) for one in ids)
        _hold(caller, (first, *several))
        done = tuple(take_back(caller=caller, made=one, now=now) for one in several)
        by_verb = {"undone": tuple(one.memory.id for one in done)}
        writes.record_together(caller=caller, act="memory.bulk_review_undone", memory_ids=by_verb)
    return done


def take_back(*, caller: Caller, made: ReviewVerdict, now: datetime) -> Decided:
    """Undo one verdict whose memories are held. In a unit."""
    for one in made.before.get("made", []):
        _put_away(caller, UUID(one), now)
    for kept in sorted(made.before.get("touched", []), key=lambda one: str(one["id"])):
        row = lock_memory(caller=caller, memory_id=UUID(str(kept["id"])))
        check_untouched(row=row, version=kept["version"])
        _restore(row, kept)
    unlink.put_back(before=made.before)
    MemoryLink.objects.filter(pk__in=made.before.get("links", [])).delete()
    MemoryVersion.objects.filter(pk__in=made.before.get("versions", [])).delete()
    made.undone_at = now
    made.save(update_fields=["undone_at"])
    row = lock_memory(caller=caller, memory_id=about(made=made))
    if made.verdict != Verdict.SNOOZE:
        writes.announce(caller=caller, kind="memory.restored", rows=(row,))
    view = to_view(row, now=now)
    verdict = Verdict(made.verdict)
    return Decided(memory=view, verdict=verdict, review_id=made.id, conflict_id=made.conflict_id)


def own(*, caller: Caller, review_id: UUID) -> ReviewVerdict:
    """Return a verdict that is the caller's to take back, locked. In a unit. Raises NotFound."""
    rows = ReviewVerdict.objects.select_for_update().filter(
        _of(caller), pk=review_id, memory__isnull=False
    )
    made = rows.first()
    if made is None:
        raise NotFound(
            detail="There is no such verdict of yours.",
            hint="Who decided takes it back; others decide anew.",
        )
    return made


def _check_alone(made: ReviewVerdict) -> None:
    """Return where a verdict is no part of a rollback, of which all is undone. Raises Conflict."""
    if made.verdict == Verdict.ROLL_BACK:
        raise Conflict(
            detail="This is a part of a rollback; nothing was undone.",
            hint="Undo the whole rollback.",
        )


def _hold(caller: Caller, several: tuple[ReviewVerdict, ...]) -> None:
    """Lock every memory of verdicts, in the order in which all others lock them. In a unit.

    Raises NotFound, Conflict for what is undone already.
    """
    for one in sorted({id for made in several for id in _concerned(made)}):
        lock_memory(caller=caller, memory_id=one)
    if any(made.undone_at is not None for made in several):
        raise Conflict(detail="This is undone already.", hint="Nothing is left to do.")


def _concerned(made: ReviewVerdict) -> frozenset[UUID]:
    """Return the memories that undoing a verdict writes; its own alone where it is undone."""
    kept = {} if made.undone_at is not None else made.before
    told = [*kept.get("made", []), *(one["id"] for one in kept.get("touched", []))]
    return frozenset(
        {about(made=made), *(UUID(str(one)) for one in told), *unlink.ends_of(before=kept)}
    )


def about(*, made: ReviewVerdict) -> UUID:
    """Return the memory that a verdict of the inbox is about."""
    if made.memory_id is None:
        raise TypeError("a verdict of the inbox is about a memory")
    return made.memory_id


def _of(caller: Caller) -> Q:
    """Return the condition that a verdict is the caller's to take back."""
    mine = Q(decided_by=pending.decider(caller=caller))
    if is_person(caller=caller):
        return mine | Q(decided_by__in=credentials.own_token_ids(caller=caller))
    return mine if caller.token_id is not None else mine & ~Q(decided_agent="")


def say_again(*, caller: Caller, made: ReviewVerdict, row: Memory, now: datetime) -> None:
    """Let a held memory that went back to an earlier text say what it said then. In a unit.

    Both are forgotten, and all else of it is as it was.
    """
    number = made.before[REWRITTEN]
    version = row.versions.get(number=number)
    revise.go_back(caller=caller, row=row, version=version, reason="", now=now)
    row.versions.filter(number__gte=number).delete()
    for kept in made.before["touched"]:
        _restore(row, kept)


def _restore(row: Memory, kept: Mapping[str, Any]) -> None:
    """Give a held memory the fields back that a verdict has kept of it."""
    fields = kept["fields"]
    for name, value in fields.items():
        setattr(row, name, review_verdict.read_back(name=name, value=value))
    names = tuple(name.removesuffix("_id") for name in fields if name != "updated_at")
    writes.save_unique(row=row, fields=names, now=row.updated_at)
    writes.index_words(rows=(row,))


def _put_away(caller: Caller, memory_id: UUID, now: datetime) -> None:
    row = lock_memory(caller=caller, memory_id=memory_id)
    check_untouched(row=row, version=1)
    archive.apply(caller=caller, row=row, reason=TAKEN_BACK, now=now)


def check_untouched(*, row: Memory, version: object) -> None:
    """Return where nobody has changed a memory since. Raises Conflict."""
    if row.version == version:
        return
    raise Conflict(
        detail="It has changed since; nothing was undone.",
        hint="Look at its history, and change it by hand.",
    )
