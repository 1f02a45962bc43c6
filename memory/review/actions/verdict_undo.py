"""Undo a verdict of the review inbox: all it touched is as it was before.

Only who decided takes it back: a token what it decided itself, a person in person also what their
tokens decided, and no agent what its person decided in person; and only while nobody has changed
one of the memories since. The version goes on, because a version never means two things; every
other field is restored.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Conflict, NotFound
from accounts.messages import message
from accounts.queries import credentials
from memory.intake.actions import apply_decision
from memory.records import writes
from memory.records.actions import archive_row
from memory.records.models import Memory, MemoryLink, MemoryVersion, ReviewVerdict
from memory.records.queries import pending
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import to_view
from memory.records.verdict_log import TAKEN, DecidedMemory, read_field
from memory.taxonomy import Verdict
from teams.permissions import Act, require

TAKEN_BACK: Final = message("the correction was taken back")  # why a successor is archived


def undo(*, caller: Caller, review_id: UUID, now: datetime) -> DecidedMemory:
    """Take back one's own verdict; return the memory as it is again.

    Raises NotFound for somebody else's, Conflict when it is undone, something changed since, or it
    is a part of a rollback.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        made = lock_own_verdict(caller=caller, review_id=review_id)
        (decided,) = _undo_each(caller, (made,), now)
        writes.record(caller=caller, act="memory.review_undone", memory_id=decided.memory.id)
        return decided


def undo_call(*, caller: Caller, review_id: UUID, now: datetime) -> tuple[DecidedMemory, ...]:
    """Take back all that was decided in the same call as this verdict, or nothing of it.

    One timestamp and one person make one call. Raises what `undo` raises.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        first = lock_own_verdict(caller=caller, review_id=review_id)
        ids = verdicts_of_call(made=first).order_by("memory_id", "id").values_list("id", flat=True)
        call = tuple(lock_own_verdict(caller=caller, review_id=one) for one in tuple(ids))
        done = _undo_each(caller, call or (first,), now)
        by_verb = {"undone": tuple(one.memory.id for one in done)}
        writes.record_bulk(caller=caller, act="memory.bulk_review_undone", memory_ids=by_verb)
    return done


def verdicts_of_call(*, made: ReviewVerdict) -> QuerySet[ReviewVerdict]:
    """Return the verdicts of one call that are not undone, by one of them."""
    return ReviewVerdict.objects.filter(
        decided_by=made.decided_by,
        decided_at=made.decided_at,
        verdict=made.verdict,
        undone_at__isnull=True,
    )


def lock_own_verdict(*, caller: Caller, review_id: UUID) -> ReviewVerdict:
    """Return a verdict that is the caller's to take back, locked. In a unit. Raises NotFound."""
    mine = Q(decided_by=pending.decider(caller=caller))
    if is_person(caller=caller):
        mine |= Q(decided_by__in=credentials.own_token_ids(caller=caller))
    elif caller.token_id is None:
        mine &= ~Q(decided_agent="")
    rows = ReviewVerdict.objects.select_for_update().filter(
        mine, pk=review_id, memory__isnull=False
    )
    made = rows.first()
    if made is None:
        raise NotFound(
            detail="There is no such verdict of yours.",
            hint="Only the person who decided can undo it. Others can decide again.",
        )
    return made


def memory_of(*, made: ReviewVerdict) -> UUID:
    """Return the id of the memory that a verdict of the inbox is about."""
    if made.memory_id is None:
        raise TypeError("a verdict of the inbox is about a memory")
    return made.memory_id


def check_untouched(*, row: Memory, version: object) -> None:
    """Refuse where somebody has changed a memory since. Raises Conflict."""
    if row.version != version:
        raise Conflict(
            detail="It has changed since; nothing was undone.",
            hint="Look at its history, and change it by hand.",
        )


def undone_already() -> Conflict:
    """Return the refusal of what is undone."""
    return Conflict(detail="This is undone already.", hint="No action is needed.")


def restore_fields(*, row: Memory, kept: Mapping[str, Any]) -> None:
    """Give a held memory the fields back that a verdict has kept of it. In a unit."""
    fields = kept["fields"]
    for name, value in fields.items():
        setattr(row, name, read_field(name=name, value=value))
    names = tuple(name.removesuffix("_id") for name in fields if name != "updated_at")
    writes.save_unique(row=row, fields=names, now=row.updated_at)
    writes.index_words(rows=(row,))


def _undo_each(
    caller: Caller, call: tuple[ReviewVerdict, ...], now: datetime
) -> tuple[DecidedMemory, ...]:
    """Undo locked verdicts. In a unit. Raises NotFound, Conflict.

    Every memory that undoing writes is locked first, in the order in which everybody does.
    """
    if any(made.verdict == Verdict.ROLL_BACK for made in call):
        raise Conflict(
            detail="This is a part of a rollback; nothing was undone.",
            hint="Undo the whole rollback.",
        )
    ids = {memory_of(made=made) for made in call}
    for before in (made.before for made in call if made.undone_at is None):
        ids |= {UUID(str(one)) for one in before.get("made", ())}
        ids |= {UUID(str(one["id"])) for one in before.get("touched", ())}
        edges = before.get(TAKEN, ())
        ids |= {UUID(str(one[end])) for one in edges for end in ("source_id", "target_id")}
    for id in sorted(ids):
        lock_memory(caller=caller, memory_id=id)
    if any(made.undone_at is not None for made in call):
        raise undone_already()
    return tuple(_take_back(caller, made, now) for made in call)


def _take_back(caller: Caller, made: ReviewVerdict, now: datetime) -> DecidedMemory:
    """Undo one verdict whose memories are held. In a unit."""
    for one in made.before.get("made", []):
        row = lock_memory(caller=caller, memory_id=UUID(one))
        check_untouched(row=row, version=1)
        archive_row(caller=caller, row=row, reason=TAKEN_BACK, now=now)
    for kept in sorted(made.before.get("touched", []), key=lambda one: str(one["id"])):
        row = lock_memory(caller=caller, memory_id=UUID(str(kept["id"])))
        check_untouched(row=row, version=kept["version"])
        restore_fields(row=row, kept=kept)
    apply_decision.put_edges(edges=made.before.get(TAKEN, ()))
    MemoryLink.objects.filter(pk__in=made.before.get("links", [])).delete()
    MemoryVersion.objects.filter(pk__in=made.before.get("versions", [])).delete()
    made.undone_at = now
    made.save(update_fields=["undone_at"])
    row = lock_memory(caller=caller, memory_id=memory_of(made=made))
    if made.verdict != Verdict.SNOOZE:
        writes.announce(caller=caller, kind="memory.restored", rows=(row,))
    return DecidedMemory(
        memory=to_view(row, now=now),
        verdict=Verdict(made.verdict),
        review_id=made.id,
        conflict_id=made.conflict_id,
    )
