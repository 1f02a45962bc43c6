"""One verb for several memories at once: all of them, or none (spec 9.2, bulk)."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import FieldError, InvalidInput, TooLarge
from memory.actions.archive import archive
from memory.actions.confirm import confirm
from memory.actions.pin import pin

MOST: Final = 200  # memories a call, the largest page of a list

Verb = Callable[[Caller, UUID, datetime], object]


def _confirm(caller: Caller, memory_id: UUID, now: datetime) -> object:
    return confirm(caller=caller, memory_id=memory_id, now=now)


def _pin(caller: Caller, memory_id: UUID, now: datetime) -> object:
    return pin(caller=caller, memory_id=memory_id, pinned=True, now=now)


def _archive(caller: Caller, memory_id: UUID, now: datetime) -> object:
    return archive(caller=caller, memory_id=memory_id, reason="", if_version=None, now=now)


VERBS: Final[Mapping[str, Verb]] = {"confirm": _confirm, "pin": _pin, "archive": _archive}


def do_all(*, caller: Caller, verb: str, memory_ids: tuple[UUID, ...], now: datetime) -> int:
    """Do one verb to each memory in one transaction; return how many there were.

    Raises InvalidInput for an unknown verb or no memory, TooLarge, and what the verb itself raises.
    """
    act = VERBS.get(verb)
    if act is None or not memory_ids:
        raise InvalidInput(
            detail="There is nothing to do.",
            hint=f"Choose memories, and one of: {', '.join(VERBS)}.",
            errors=(FieldError(pointer="/verb", detail="choose one", code="choice"),),
        )
    if len(memory_ids) > MOST:
        raise TooLarge(detail=f"{len(memory_ids)} memories.", hint=f"Choose at most {MOST}.")
    with tenancy.unit():
        for memory_id in memory_ids:
            act(caller, memory_id, now)
    return len(memory_ids)
