"""Undo a rollback: all that one call took back stands again as it was, or nothing of it (4.3, 9.2).

In the order that is the reverse of what was done: what got its text before is put back one by one,
then what was archived comes back at once. Only who
rolled back undoes it, and only while nobody has changed one of the memories since.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, NotFound
from memory.records.actions import writes
from memory.records.models import Memory
from memory.records.queries.views import countable
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.review.actions import conflict_reopen, reactivate, undo, unlink, verdict
from memory.review.rollback.rules import ASKED_AT, JOB, REWRITTEN
from memory.taxonomy import Status
from teams.permissions import Act, require

FIELDS: Final = (
    "status", "archived_reason", "valid_until", "superseded_by_id", "confidence", "updated_at",
)  # fmt: skip
Held = Mapping[UUID, Memory]


def undo_rollback(*, caller: Caller, review_id: UUID, now: datetime) -> int:
    """Undo all that was rolled back in one call; return how many memories that is.

    Raises NotFound for somebody else's, Conflict when it is undone or something changed since.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        several = _of_one_call(caller, review_id)
        conflicts = conflict_reopen.hold_opened(befores=tuple(one.before for one in several))
        held = _held(caller, several)
        _check_untouched(held, several)
        for made in several:  # the last thing that was done goes first
            if REWRITTEN in made.before:
                undo.say_again(caller=caller, made=made, row=held[undo.about(made=made)], now=now)
        _restore(caller, held, tuple(one for one in several if REWRITTEN not in one.before))
        for made in several:
            conflict_reopen.settle_again(
                caller=caller, before=made.before, held=conflicts, rows=held
            )
        ReviewVerdict.objects.filter(pk__in=[one.pk for one in several]).update(undone_at=now)
        by_verb = {"undone": tuple(undo.about(made=one) for one in several)}
        writes.record_together(caller=caller, act="memory.bulk_review_undone", memory_ids=by_verb)
    return len(several)


def _of_one_call(caller: Caller, review_id: UUID) -> tuple[ReviewVerdict, ...]:
    """Return the verdicts of the call that this one is of, locked. Raises NotFound, Conflict."""
    first = undo.own(caller=caller, review_id=review_id)
    if first.verdict != Verdict.ROLL_BACK:
        raise NotFound(
            detail="There is no such rollback of yours.",
            hint="Who rolled back undoes it, by the id that the call answered with.",
        )
    if first.undone_at is not None:
        raise Conflict(detail="This is undone already.", hint="Nothing is left to do.")
    if not jobs.hold_ended(name=JOB, carrying={ASKED_AT: first.decided_at.isoformat()}):
        raise Conflict(
            detail="A job still takes back what was chosen; nothing was undone.",
            hint="Undo it when the job has ended. One that waits can be cancelled.",
        )
    rows = ReviewVerdict.objects.select_for_update(of=("self",)).filter(
        decided_by=first.decided_by,
        decided_at=first.decided_at,
        verdict=first.verdict,
        undone_at__isnull=True,
    )
    return tuple(rows.order_by("memory_id", "id"))


def _held(caller: Caller, several: tuple[ReviewVerdict, ...]) -> Held:
    """Lock every memory that was touched, in the order in which all others do. Raises NotFound."""
    ids = {UUID(str(kept["id"])) for made in several for kept in made.before["touched"]}
    rows = countable(caller=caller).select_for_update(of=("self",)).filter(pk__in=ids)
    held = {row.id: row for row in rows.order_by("id")}
    if held.keys() != ids:
        raise NotFound(
            detail="One of the memories is gone, or you see it no more; nothing was undone.",
            hint="Restore the others on their pages.",
        )
    return held


def _check_untouched(held: Held, several: tuple[ReviewVerdict, ...]) -> None:
    """Return where each memory is as this call left it, which may have touched it twice.

    Raises Conflict.
    """
    left: dict[UUID, int] = {}
    for made in several:
        for kept in made.before["touched"]:
            id = UUID(str(kept["id"]))
            left[id] = max(left.get(id, 0), int(kept["version"]))
    for id, version in left.items():
        undo.check_untouched(row=held[id], version=version)


def _restore(caller: Caller, held: Held, away: tuple[ReviewVerdict, ...]) -> None:
    """Give what was archived, and what stood again for it, its fields back, and the edges."""
    touched: dict[UUID, Memory] = {}
    for made in away:
        for kept in made.before["touched"]:
            row = held[UUID(str(kept["id"]))]
            touched[row.id] = row
            _fill(row, kept["fields"])
    replaced = tuple(row for row in touched.values() if row.status != Status.ACTIVE)
    standing = tuple(row for row in touched.values() if row.status == Status.ACTIVE)
    try:
        with transaction.atomic():  # what is replaced again makes room first
            for rows in (replaced, standing):
                reactivate.save_all(rows=rows, fields=(*_columns(), "version"))
    except IntegrityError as error:
        raise writes.not_unique() from error
    writes.announce(caller=caller, kind="memory.superseded", rows=replaced)
    writes.announce(caller=caller, kind="memory.restored", rows=standing)
    for made in away:
        unlink.put_back(before=made.before)


def _fill(row: Memory, fields: Mapping[str, Any]) -> None:
    for name in FIELDS:
        setattr(row, name, verdict.read_back(name=name, value=fields[name]))
    row.version += 1


def _columns() -> tuple[str, ...]:
    return tuple(name.removesuffix("_id") for name in FIELDS)
