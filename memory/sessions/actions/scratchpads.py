"""A session's scratchpad as it is stored: a checkpoint, and the events behind it.

The checkpoint spares reading events again and is never the truth: one that cannot be read, or that
an event came too late for, is thrown away, and events are folded from the one before it, or from
the first.

Events of a transcript come as long as the session runs, and stand before all that hooks and
subagents tell. So the state after its lines alone is kept beside the last one: what comes next is
folded on from there.

A session that was full goes on in another one: to its agent both are one context. A part keeps what
it begins with from the ones before it (`Carried`), since their events are forgotten sooner.
"""

import logging
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter

from memory.sessions import file_paths, reducers
from memory.sessions.events import Event, from_row
from memory.sessions.models import Session, Stream, Turn
from memory.sessions.reducers import FIRST_OF_HOOKS
from memory.sessions.scratchpad import Scratchpad, SessionType, Setting, Taint, dump, load

log = logging.getLogger(__name__)
BEFORE: Final = -1  # the sequence of whatever happened before the first event
CHUNK: Final = 2_000  # events of one read
_TYPES: Final = {one.value: one for one in SessionType}
CARRIED: Final = "carried"  # in what a session has shown


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedScratchpad:
    """A scratchpad as it was stored, with the events that came since, in their order."""

    scratchpad: Scratchpad
    events: tuple[Event, ...]


def setting_of(*, row: Session) -> Setting:
    """Return what is known of a session before its events; a type we do not know is a terminal."""
    root, folder = file_paths.working_folder(root=row.root, folder=row.cwd)
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
    root, folder = file_paths.working_folder(root=row.root, folder=folder or row.cwd)
    return tuple(file_paths.relative(path=path, root=root, folder=folder) for path in paths)


def read(*, row: Session, most: int | None = None) -> OpenedScratchpad:
    """Read a session's scratchpad and the events behind it, all or the first of them. In a unit."""
    known = _checkpoint(row)
    start = _begun(row) if known is None else known
    behind = Turn.done.filter(session_id=row.id, sequence__gt=start.through)
    rows = behind.order_by("sequence").values_list("sequence", "body")
    events = tuple(
        from_row(sequence=sequence, row=body or {})
        for sequence, body in rows[:most].iterator(chunk_size=CHUNK)
        if sequence not in start.pending
    )
    return OpenedScratchpad(scratchpad=start, events=events)


def is_cut(*, row: Session) -> bool:
    """Say whether some of what a session's agent did is forgotten already. In a unit."""
    return row.events > Turn.done.filter(session_id=row.id).count()


def folded(*, opened: OpenedScratchpad) -> Scratchpad:
    """Return the state after all events; those that wait for others still wait."""
    return reducers.fold(scratchpad=opened.scratchpad, events=opened.events)


def settled(*, opened: OpenedScratchpad) -> Scratchpad:
    """Return the state once nothing more comes."""
    return reducers.settle(scratchpad=folded(opened=opened))


def fold_by_writer(*, opened: OpenedScratchpad) -> tuple[Scratchpad, ...]:
    """Return the states to keep, the last one after all events.

    Before it, the state after the lines of a transcript, unless what came last is folded already.
    """
    if opened.scratchpad.through >= FIRST_OF_HOOKS:
        return (folded(opened=opened),)
    place = bisect_left(opened.events, FIRST_OF_HOOKS, key=lambda event: event.sequence)
    lines = reducers.fold(scratchpad=opened.scratchpad, events=opened.events[:place])
    if place == len(opened.events):
        return (lines,)
    return lines, reducers.fold(scratchpad=lines, events=opened.events[place:])


def keep(*, row: Session, states: tuple[Scratchpad, ...], now: datetime) -> bool:
    """Keep states as the checkpoints of a locked session; say whether they were kept. In a unit.

    They are not when an event has come meanwhile that belongs before their end. `states` are those
    of `fold_by_writer`.
    """
    first, last = states[0], states[-1]
    before = Turn.done.filter(session_id=row.id, sequence__lte=last.through).count()
    if before != last.applied:
        return False
    is_anew = first.through < FIRST_OF_HOOKS  # else the one after the lines stays
    old = Turn.checkpoints.filter(session_id=row.id)
    old.filter(sequence__gte=0 if is_anew else FIRST_OF_HOOKS).delete()
    # what hooks told only waits in a second one that ends among the lines, and may yet move there
    for one in states if last.through >= FIRST_OF_HOOKS else (first,):
        row.folded = one.applied + len(one.pending)
        Turn.checkpoints.create(
            session_id=row.id,
            stream=Stream.CHECKPOINT,
            sequence=one.through,
            role="",
            text=dump(scratchpad=one).decode(),
            body={"folded": row.folded},
            at=now,
        )
    return True


def _begun(row: Session) -> Scratchpad:
    """Return the state before all events; forgotten ones, and parts before, leave their taint."""
    before = carried(row=row)
    start = replace(
        Scratchpad(setting=setting_of(row=row)),
        written=before.written,
        sent=BEFORE if before.has_sent else 0,
    )
    reason = before.tainted_by or (row.observed or {}).get("tainted_by", "")
    if not reason or not (before.tainted_by or is_cut(row=row)):
        return start
    return replace(start, taint=Taint(sequence=0, step=0, reason=reason))


def _checkpoint(row: Session) -> Scratchpad | None:
    """Return the state that was kept, None where there is none that can be read."""
    kept = Turn.checkpoints.filter(session_id=row.id).order_by("-sequence").first()
    if kept is None:
        return None
    try:
        known = load(data=kept.text.encode())
    except ValueError as error:
        log.warning("A checkpoint is read anew from its events: %s", type(error).__name__)
        return None
    return replace(known, setting=setting_of(row=row))


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What the parts before came to; `opened_at` is when the first of them began.

    `tainted_by` says what outside content they saw, `written` which files outside of the repository
    they wrote, `has_sent` whether they sent a subagent.
    """

    parts: tuple[UUID, ...]
    opened_at: datetime
    tainted_by: str = ""
    written: frozenset[str] = frozenset()
    has_sent: bool = False


_CARRIED: Final = TypeAdapter(Carried)


def carried(*, row: Session) -> Carried:
    """Return what a session begins with; that of no other part for one that was never full."""
    kept = (row.observed or {}).get(CARRIED)
    if kept is None:
        return Carried(parts=(), opened_at=row.opened_at)
    return _CARRIED.validate_python(kept)


def all_of(*, row: Session) -> tuple[UUID, ...]:
    """Return the ids of a session and of the parts before it."""
    return (row.id, *carried(row=row).parts)


def carry_over(*, row: Session, scratchpad: Scratchpad) -> dict[str, Any]:
    """Return what the next part of a full session has shown before its events."""
    part = Carried(
        parts=all_of(row=row),
        opened_at=carried(row=row).opened_at,
        tainted_by=scratchpad.taint_reason,
        written=scratchpad.written,
        has_sent=bool(scratchpad.sent),
    )
    kept = _CARRIED.dump_python(part, mode="json")
    kept["written"].sort()
    return {"tainted_by": part.tainted_by, CARRIED: kept}
