"""One verdict for several memories of the inbox: all of them, or none (bulk).

Either those that are selected, or all that a group holds, or what waits of one import; then the
caller says how many that are, and nothing is done when there are others by now.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, FieldError, InvalidInput, TooLarge
from accounts.messages import message
from memory.records.actions import writes
from memory.records.actions.bulk import MOST
from memory.records.actions.validation import check_reason
from memory.records.verdicts import Group
from memory.review.actions import keep, reject, snooze
from memory.review.actions.verdict import Decided
from memory.review.queries import reviews
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a verdict may need: the reason of a rejection, the end of a snooze."""

    reason: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """All that waits in a group of a project, or of an import there; the caller counted it.

    Of more than can be decided at once those that wait longest, and that many are counted.
    """

    project: str | None
    group: Group | None
    count: int
    batch: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfImport:
    """What waits of an import, at most as many as can be decided at once; the caller counted."""

    batch_id: UUID
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What is done to each memory inside the unit, what it takes, and what it is called after."""

    needs: Act
    apply: Callable[[Caller, UUID, Words, datetime], Decided]
    done: str


def _keep(caller: Caller, memory_id: UUID, words: Words, now: datetime) -> Decided:
    return keep.apply(caller=caller, memory_id=memory_id, now=now)


def _reject(caller: Caller, memory_id: UUID, words: Words, now: datetime) -> Decided:
    return reject.apply(caller=caller, memory_id=memory_id, reason=words.reason, now=now)


def _snooze(caller: Caller, memory_id: UUID, words: Words, now: datetime) -> Decided:
    until = words.until or now
    snooze.check_until(until=until, now=now)
    return snooze.apply(caller=caller, memory_id=memory_id, until=until, now=now)


VERBS: Final[Mapping[str, Verb]] = {
    "keep": Verb(needs=Act.CONFIRM, apply=_keep, done="kept"),
    "reject": Verb(needs=Act.WRITE, apply=_reject, done="rejected"),
    "snooze": Verb(needs=Act.CONFIRM, apply=_snooze, done="snoozed"),
}


def decide_all(
    *,
    caller: Caller,
    verb: str,
    chosen: tuple[UUID, ...] | Whole | OfImport,
    words: Words,
    now: datetime,
) -> tuple[Decided, ...]:
    """Decide about each memory in one transaction, in the order of their ids.

    Raises InvalidInput for an unknown verb or no memory, TooLarge, Conflict when there are more or
    fewer than counted, and what the verdict itself raises.
    """
    known = VERBS.get(verb)
    if known is None:
        raise _nothing()
    require(caller=caller, act=known.needs)
    check_reason(reason=words.reason)
    with tenancy.unit():
        ids = sorted(set(_ids(caller, chosen, now)))
        if not ids:
            raise _nothing()
        if len(ids) > MOST:
            raise TooLarge(
                detail=message("{count} memories.", count=len(ids)),
                hint=message("Choose at most {most}.", most=MOST),
            )
        decided = tuple(known.apply(caller, one, words, now) for one in ids)
        done = {known.done: tuple(ids)}
        writes.record_together(caller=caller, act=f"memory.bulk_{known.done}", memory_ids=done)
    return decided


def _ids(
    caller: Caller, chosen: tuple[UUID, ...] | Whole | OfImport, now: datetime
) -> tuple[UUID, ...]:
    if isinstance(chosen, tuple):
        return chosen
    if isinstance(chosen, OfImport):
        found = reviews.due_ids(
            caller=caller, project=None, group=None, batch=chosen.batch_id, most=MOST, now=now
        )
    else:
        found = reviews.due_ids(
            caller=caller,
            project=chosen.project,
            group=chosen.group,
            batch=chosen.batch,
            most=MOST,
            now=now,
        )
    if len(found) == chosen.count:
        return found
    raise Conflict(
        detail=message(
            "{count} wait here now, not {counted}.",
            count=len(found),
            counted=chosen.count,
        ),
        hint="Look at the list again and type the number that it says.",
    )


def _nothing() -> InvalidInput:
    return InvalidInput(
        detail="There is nothing to decide.",
        hint=message("Choose memories, and one of: {names}.", names=tuple(VERBS)),
        errors=(FieldError(pointer="/verb", detail="choose one", code="choice"),),
    )
