"""Undo a rollback: everything one call took back is as it was, or nothing of it.

In the order that is the reverse of what was done: rewritten memories get their text back one by
one, then what was archived is restored in bulk. Only who rolled back undoes it, and only while
nobody has changed one of the memories since.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, NotFound
from memory.intake.actions import apply_decision, revise
from memory.records import verdict_log, writes
from memory.records.models import Memory, ReviewVerdict
from memory.records.queries import views
from memory.review.actions import reactivation, settlements, verdict_undo
from memory.review.rollback.execute import ASKED_AT, JOB
from memory.taxonomy import Status, Verdict
from teams.permissions import Act, require

FIELDS: Final = (
    "status", "archived_reason", "valid_until", "superseded_by_id", "confidence", "updated_at",
)  # fmt: skip


def undo_rollback(*, caller: Caller, review_id: UUID, now: datetime) -> int:
    """Undo all that was rolled back in one call; return how many memories that is.

    Raises NotFound for somebody else's, Conflict when it is undone or something changed since.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        call = _lock_call(caller, review_id)
        conflicts = settlements.lock_reopened(befores=tuple(one.before for one in call))
        held = _lock_untouched(caller, call)
        rewritten = tuple(one for one in call if verdict_log.REWRITTEN in one.before)
        for made in rewritten:
            _restore_text(caller, made, held[verdict_undo.memory_of(made=made)], now)
        _restore_archived(caller, held, tuple(one for one in call if one not in rewritten))
        for made in call:
            settlements.settle_again(caller=caller, before=made.before, held=conflicts, rows=held)
        ReviewVerdict.objects.filter(pk__in=[one.pk for one in call]).update(undone_at=now)
        ids = {"undone": tuple(verdict_undo.memory_of(made=one) for one in call)}
        writes.record_bulk(caller=caller, act="memory.bulk_review_undone", memory_ids=ids)
    return len(call)


def _lock_call(caller: Caller, review_id: UUID) -> tuple[ReviewVerdict, ...]:
    """Return the verdicts of the call that this one belongs to, locked.

    Raises NotFound, and Conflict where it is undone or its job has not ended.
    """
    first = verdict_undo.lock_own_verdict(caller=caller, review_id=review_id)
    if first.verdict != Verdict.ROLL_BACK:
        raise NotFound(
            detail="There is no such rollback of yours.",
            hint="Only the person who rolled back can undo it. Use the id from the response.",
        )
    if first.undone_at is not None:
        raise verdict_undo.undone_already()
    if not jobs.hold_ended(name=JOB, carrying={ASKED_AT: first.decided_at.isoformat()}):
        raise Conflict(
            detail="A job still takes back what was chosen; nothing was undone.",
            hint="Undo it when the job has ended. One that waits can be cancelled.",
        )
    rows = verdict_undo.verdicts_of_call(made=first).select_for_update(of=("self",))
    return tuple(rows.order_by("memory_id", "id"))


def _lock_untouched(caller: Caller, call: tuple[ReviewVerdict, ...]) -> dict[UUID, Memory]:
    """Lock every memory a call touched, as it left them; it may have touched one twice.

    Raises NotFound where one is gone, Conflict where somebody has changed one since.
    """
    versions: dict[UUID, int] = {}
    for made in call:
        for kept in made.before["touched"]:
            id = UUID(str(kept["id"]))
            versions[id] = max(versions.get(id, 0), int(kept["version"]))
    rows = views.countable(caller=caller).select_for_update(of=("self",)).filter(pk__in=versions)
    held = {row.id: row for row in rows.order_by("id")}
    if held.keys() != versions.keys():
        raise NotFound(
            detail="One of the memories is gone, or you see it no more; nothing was undone.",
            hint="Restore the others on their pages.",
        )
    for id, version in versions.items():
        verdict_undo.check_untouched(row=held[id], version=version)
    return held


def _restore_text(caller: Caller, made: ReviewVerdict, row: Memory, now: datetime) -> None:
    """Give a held memory the text back that a rollback took away; both versions are forgotten."""
    number = made.before[verdict_log.REWRITTEN]
    version = row.versions.get(number=number)
    revise.restore_version(caller=caller, row=row, version=version, reason="", now=now)
    row.versions.filter(number__gte=number).delete()
    for kept in made.before["touched"]:
        verdict_undo.restore_fields(row=row, kept=kept)


def _restore_archived(
    caller: Caller, held: dict[UUID, Memory], away: tuple[ReviewVerdict, ...]
) -> None:
    """Give what was archived, and what was restored for it, its fields back, and the links."""
    touched: dict[UUID, Memory] = {}
    for made in away:
        for kept in made.before["touched"]:
            row = touched[UUID(str(kept["id"]))] = held[UUID(str(kept["id"]))]
            for name in FIELDS:
                value = verdict_log.read_field(name=name, value=kept["fields"][name])
                setattr(row, name, value)
            row.version += 1
    replaced = tuple(row for row in touched.values() if row.status != Status.ACTIVE)
    active = tuple(row for row in touched.values() if row.status == Status.ACTIVE)
    columns = tuple(name.removesuffix("_id") for name in FIELDS)
    try:
        with transaction.atomic():  # what is replaced again makes room first
            for rows in (replaced, active):
                reactivation.save_held(rows=rows, fields=(*columns, "version"))
    except IntegrityError as error:
        raise writes.not_unique() from error
    writes.announce(caller=caller, kind="memory.superseded", rows=replaced)
    writes.announce(caller=caller, kind="memory.restored", rows=active)
    for made in away:
        apply_decision.put_edges(edges=made.before.get(verdict_log.TAKEN, ()))
