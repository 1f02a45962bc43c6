"""A session's scratchpad as it is stored: a checkpoint, and the events behind it.

The checkpoint spares reading events again and is never the truth: one that cannot be read, or that
an event came too late for, is thrown away, and all events are folded from the first.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from memory.sessions import checkpoint, end_to_end, event_storage, file_paths, fold
from memory.sessions.actions import chain
from memory.sessions.events import Event, EventKind
from memory.sessions.models import Session, Stream, Turn
from memory.sessions.scratchpad import Scratchpad, SessionType, Setting, Taint, begin

log = logging.getLogger(__name__)

BEFORE: Final = -1  # the sequence of whatever happened before the first event
CHUNK: Final = 2_000  # events of one read
PRODUCT_MOST: Final = 500  # results of tools that drive the product, the first; ours
DRIVES: Final = rf"(^|__)({'|'.join(sorted(end_to_end.TOOLS))})$"
_TYPES: Final = {one.value: one for one in SessionType}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A scratchpad as it was stored, with the events that came since, in their order."""

    session_id: UUID
    scratchpad: Scratchpad
    events: tuple[Event, ...]


def setting_of(*, row: Session) -> Setting:
    """Return what is known of a session before its events; a type we do not know is a terminal."""
    root, folder = file_paths.standing(root=row.root, folder=row.cwd)
    return Setting(
        type=_TYPES.get(row.type, SessionType.TERMINAL),
        root=root,
        folder=folder,
        planned_steps=len(row.plan or ()),
    )


def named(*, row: Session, paths: Iterable[str], folder: str = "") -> tuple[str, ...]:
    """Return paths that a session's agent says by their names in its repository.

    `folder` is where it works now; where the session began, if it is not said.
    """
    root, folder = file_paths.standing(root=row.root, folder=folder or row.cwd)
    return tuple(file_paths.relative(path=path, root=root, folder=folder) for path in paths)


def read(*, row: Session, most: int | None = None) -> Opened:
    """Read a session's scratchpad and the events behind it, all or the first of them. In a unit."""
    known = _checkpoint(row)
    start = _begun(row) if known is None else known
    behind = Turn.done.filter(session_id=row.id, sequence__gt=start.through)
    rows = behind.order_by("sequence").values_list("sequence", "body")
    events = tuple(
        event_storage.from_row(sequence=sequence, row=body or {})
        for sequence, body in rows[:most].iterator(chunk_size=CHUNK)
        if sequence not in start.pending
    )
    return Opened(session_id=row.id, scratchpad=start, events=events)


def is_cut(*, row: Session) -> bool:
    """Say whether some of what a session's agent did is forgotten already. In a unit."""
    return row.events > Turn.done.filter(session_id=row.id).count()


def of_the_product(*, row: Session) -> tuple[Event, ...]:
    """Return the results of tools that drive the running product, the first of them. In a unit.

    A result that does not say its tool is that of its call.
    """
    done = Turn.done.filter(session_id=row.id)
    driven = done.filter(body__name__regex=DRIVES)
    calls = driven.filter(body__kind=EventKind.TOOL_CALL.value).exclude(body__call=None)
    names = dict(calls.order_by().values_list("body__call", "body__name")[:PRODUCT_MOST])
    is_result = Q(body__name__regex=DRIVES) | Q(body__call__in=list(names))
    rows = done.filter(is_result, body__kind=EventKind.TOOL_RESULT.value).order_by("sequence")
    found = (
        event_storage.from_row(sequence=sequence, row=body or {})
        for sequence, body in rows.values_list("sequence", "body")[:PRODUCT_MOST]
    )
    return tuple(one if one.name else replace(one, name=names[one.call]) for one in found)


def folded(*, opened: Opened) -> Scratchpad:
    """Return the state after all events; those that wait for others still wait."""
    return fold.fold(scratchpad=opened.scratchpad, events=opened.events)


def settled(*, opened: Opened) -> Scratchpad:
    """Return the state once nothing more comes."""
    return fold.settle(scratchpad=folded(opened=opened))


def keep(*, row: Session, scratchpad: Scratchpad, now: datetime) -> bool:
    """Keep a scratchpad as the checkpoint of a locked session; say whether it was kept. In a unit.

    It is not when an event has come meanwhile that belongs before its end.
    """
    before = Turn.done.filter(session_id=row.id, sequence__lte=scratchpad.through).count()
    if before != scratchpad.applied:
        return False
    Turn.checkpoints.filter(session_id=row.id).delete()
    Turn.checkpoints.create(
        session_id=row.id,
        stream=Stream.CHECKPOINT,
        sequence=scratchpad.through,
        role="",
        text=checkpoint.dump(scratchpad=scratchpad).decode(),
        at=now,
    )
    row.folded = scratchpad.applied + len(scratchpad.pending)
    return True


def _begun(row: Session) -> Scratchpad:
    """Return the state before all events; forgotten ones, and parts before, leave their taint."""
    carried = chain.carried(row=row)
    start = replace(
        begin(setting=setting_of(row=row)),
        written=carried.written,
        sent=BEFORE if carried.has_sent else 0,
    )
    reason = carried.tainted_by or (row.observed or {}).get("tainted_by", "")
    if not reason or not (carried.tainted_by or is_cut(row=row)):
        return start
    return replace(start, taint=Taint(sequence=0, step=0, reason=reason))


def _checkpoint(row: Session) -> Scratchpad | None:
    """Return the state that was kept, None where there is none that can be read."""
    kept = Turn.checkpoints.filter(session_id=row.id).order_by("-sequence").first()
    if kept is None:
        return None
    try:
        known = checkpoint.load(data=kept.text.encode())
    except ValueError as error:
        log.warning("A checkpoint is read anew from its events: %s", error)
        return None
    return replace(known, setting=setting_of(row=row))
