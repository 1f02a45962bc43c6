"""Bulk-confirm, pin or archive memories: all of them, or none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import FieldError, InvalidInput, TooLarge
from accounts.messages import message
from memory.records import writes
from memory.records.actions import archive_row, confirm_in_unit, pin_memory
from memory.records.queries.memories import lock_memory
from teams.permissions import Act, require

MOST: Final = 200  # memories a call, the largest page of a list


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkVerb:
    """What is done to each memory inside the unit, what it takes, and what it is called after."""

    needs: Act
    apply: Callable[[Caller, UUID, datetime], object]
    done: str


def _confirm(caller: Caller, memory_id: UUID, now: datetime) -> object:
    return confirm_in_unit(caller=caller, memory_id=memory_id, now=now)


def _pin(caller: Caller, memory_id: UUID, now: datetime) -> object:
    return pin_memory(caller=caller, memory_id=memory_id, pinned=True, now=now)


def _archive(caller: Caller, memory_id: UUID, now: datetime) -> object:
    row = lock_memory(caller=caller, memory_id=memory_id)
    return archive_row(caller=caller, row=row, reason="", now=now)


VERBS: Final[Mapping[str, BulkVerb]] = {
    "confirm": BulkVerb(needs=Act.CONFIRM, apply=_confirm, done="confirmed"),
    "pin": BulkVerb(needs=Act.WRITE, apply=_pin, done="pinned"),
    "archive": BulkVerb(needs=Act.WRITE, apply=_archive, done="archived"),
}


def change_in_bulk(
    *, caller: Caller, verb: str, memory_ids: tuple[UUID, ...], now: datetime
) -> int:
    """Do one verb to each memory in one transaction; return how many there were.

    Raises InvalidInput for an unknown verb or no memory, TooLarge, and what the verb itself raises.
    """
    chosen = VERBS.get(verb)
    if chosen is None or not memory_ids:
        raise InvalidInput(
            detail="There is nothing to do.",
            hint=message("Choose memories, and one of: {names}.", names=tuple(VERBS)),
            errors=(FieldError(pointer="/verb", detail="choose one", code="choice"),),
        )
    if len(memory_ids) > MOST:
        raise TooLarge(
            detail=message("{count} memories.", count=len(memory_ids)),
            hint=message("Choose at most {most}.", most=MOST),
        )
    require(caller=caller, act=chosen.needs)
    with tenancy.unit():
        for memory_id in memory_ids:
            chosen.apply(caller, memory_id, now)
        done = {chosen.done: memory_ids}
        writes.record_bulk(caller=caller, act=f"memory.bulk_{chosen.done}", memory_ids=done)
    return len(memory_ids)
