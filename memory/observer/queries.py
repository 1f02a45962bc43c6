"""The steps of a session in few enough bars to look at, and the known dead ends that it entered.

A step is what the agent's program calls one; where it counts none, each call of a tool is a step.
When there are more steps than bars, a bar stands for several that follow one another. Bars share
out the sequence numbers of the session, so each event belongs to exactly one of them. They are
drawn from the checkpoint and the events behind it, as the observer reads them, so that a page says
what signals were found in. When the session has been decided about, its bars are kept with what it
showed, and outlive its events. What was given to the agent stands where it was given, as far as the
caller may see the memories; what was given before the first event stands at the first bar.

A dead end was known where the session's opener could see it, of its project or of none, kept by a
person or in no need of one, and stored before the session began. What was entered is put down in
the session, and counted for each dead end at the session's first end. Nothing is asked and nobody
is told: it is a figure.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import Min, Q

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.queries import DeliveryEntry, delivery_log
from memory.observer import dead_ends, detections, reentered_dead_ends
from memory.observer.reentered_dead_ends import KnownEnd, Reentry
from memory.records.queries.views import countable
from memory.sessions import queries as sessions
from memory.sessions.actions import scratchpads
from memory.sessions.models import GivenOut, Session, Turn
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act
from memory.taxonomy import MemoryType, Status
from teams import permissions

BARS_MOST: Final = 40  # of a timeline: wide enough to be hit, on one line of a page
READ_MOST: Final = 10_000  # events behind a checkpoint that are read for a page; not measured
STORED_AS: Final = "ribbon"  # in what a session is said to have shown


class Mark(StrEnum):
    """What a bar is made of, in the order in which it is drawn and read out."""

    READ = "read"
    SEARCH = "search"
    EDIT = "edit"
    TEST = "test"
    RUN = "run"
    OTHER = "other"
    ERROR = "error"
    DEAD_END = "dead_end"


CALLS: Final = (Mark.READ, Mark.SEARCH, Mark.EDIT, Mark.TEST, Mark.RUN, Mark.OTHER)
_BY_ACT: Final[Mapping[Act, Mark]] = {
    Act.READ: Mark.READ,
    Act.GREP: Mark.SEARCH,
    Act.GLOB: Mark.SEARCH,
    Act.EDIT: Mark.EDIT,
    Act.TEST: Mark.TEST,
    Act.RUN: Mark.RUN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Some steps that follow one another: their events by number, and what was done in them."""

    first: int
    last: int
    first_step: int
    last_step: int
    steps: int
    marks: Mapping[Mark, int]

    @property
    def calls(self) -> int:
        """How many tools were called."""
        return sum(self.marks.get(mark, 0) for mark in CALLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One bar, and what was given to the agent in it."""

    bar: Bar
    given: tuple[DeliveryEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The timeline of a session.

    `beyond` events are not drawn because there are too many. `are_kept`: they are still there, one
    by one.
    """

    beyond: int
    bars: tuple[Shown, ...]
    are_kept: bool


def show_steps(*, caller: Caller, session_id: UUID) -> Steps:
    """Return the timeline of a session. Raises NotFound also for one the caller may not see."""
    permissions.require(caller=caller, act=permissions.Act.READ)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        given = delivery_log(caller=caller, session_id=row.id).entries
        are_kept = Turn.done.filter(session_id=row.id).exists()
        bars, beyond = stored_bars(row=row), 0
        if bars is None and are_kept:
            state = scratchpads.settled(opened=scratchpads.read(row=row, most=READ_MOST))
            bars, beyond = draw(scratchpad=state), max(0, row.events - state.applied)
    return Steps(beyond=beyond, bars=place_given(bars or (), given), are_kept=are_kept)


def draw(*, scratchpad: Scratchpad) -> tuple[Bar, ...]:
    """Draw the bars of what a session did so far; empty where no tool was called."""
    steps = _steps_of(scratchpad)
    if not steps:
        return ()
    each = -(-len(steps) // BARS_MOST)
    parts = [steps[place : place + each] for place in range(0, len(steps), each)]
    firsts = (1, *(part[0][0].sequence for part in parts[1:]))
    lasts = (*(first - 1 for first in firsts[1:]), scratchpad.through)
    # The last call of an approach that was given up; the remark itself comes behind.
    failed = {end.evidence[-2].sequence for end in dead_ends.find_dead_ends(scratchpad=scratchpad)}
    ends = Counter(bisect_right(firsts, sequence) - 1 for sequence in failed)
    return tuple(
        _bar(part, firsts[place], lasts[place], ends[place]) for place, part in enumerate(parts)
    )


def _steps_of(scratchpad: Scratchpad) -> list[list[Deed]]:
    """Return calls in a row by their steps; a call without one is a step of its own."""
    steps: list[list[Deed]] = []
    for deed in scratchpad.deeds.values():
        if steps and deed.step and steps[-1][0].step == deed.step:
            steps[-1].append(deed)
        else:
            steps.append([deed])
    return steps


def _bar(steps: list[list[Deed]], first: int, last: int, dead_ends: int) -> Bar:
    deeds = [deed for step in steps for deed in step]
    marks = Counter(_BY_ACT.get(deed.act, Mark.OTHER) for deed in deeds)
    marks[Mark.ERROR] = sum(deed.is_error for deed in deeds)
    marks[Mark.DEAD_END] = dead_ends
    return Bar(
        first=first,
        last=last,
        first_step=min(deed.step for deed in deeds),
        last_step=max(deed.step for deed in deeds),
        steps=len(steps),
        marks={mark: marks[mark] for mark in Mark if marks[mark]},
    )


def stored_bars(*, row: Session) -> tuple[Bar, ...] | None:
    """Return the bars that were kept when all of a session was decided about; else None."""
    observed: Mapping[str, Any] = row.observed or {}
    if STORED_AS not in observed or observed.get("events") != row.events:
        return None
    return tuple(Bar(**bar) for bar in observed[STORED_AS])


def place_given(bars: tuple[Bar, ...], given: tuple[DeliveryEntry, ...]) -> tuple[Shown, ...]:
    """Return the bars with what was given in each."""
    firsts = [bar.first for bar in bars]
    by_place = detections.group(
        (max(0, bisect_right(firsts, one.after_event or 0) - 1), (one,)) for one in given
    )
    return tuple(
        Shown(bar=bar, given=tuple(by_place.get(place, ()))) for place, bar in enumerate(bars)
    )


KNOWN_MOST: Final = 500  # dead ends, the newest; default, not measured


def find_reentries(*, caller: Caller, row: Session, scratchpad: Scratchpad) -> tuple[Reentry, ...]:
    """Find the dead ends that a session entered and could have avoided. In a unit."""
    known = _known_ends(caller, row)
    if not known:
        return ()
    thoughts = Turn.done.filter(session=row, body__kind="reasoning").order_by("sequence")
    texts = thoughts.values_list("sequence", "body__text")[: reentered_dead_ends.SAID_MOST]
    said = [(sequence, text or "") for sequence, text in texts]
    entered = reentered_dead_ends.find(scratchpad=scratchpad, said=said, known=known)
    # Told before is what was given before the event was stored, whatever its number or clock.
    logged = GivenOut.objects.filter(
        session_id=row.id, memory_id__in=[one.memory_id for one in entered]
    )
    firsts = logged.order_by().values_list("memory_id").annotate(first=Min("after_row"))
    first = {str(memory_id): after for memory_id, after in firsts if after is not None}
    events = Turn.done.filter(session=row, sequence__in=[one.sequence for one in entered])
    stored = dict(events.order_by().values_list("sequence", "pk"))
    return tuple(
        replace(one, told=first[one.memory_id] < stored.get(one.sequence, 0))
        if one.memory_id in first
        else one
        for one in entered
    )


def _known_ends(caller: Caller, row: Session) -> tuple[KnownEnd, ...]:
    """Return the dead ends that the caller could know when a session began, the newest."""
    here = Q(project_id=row.project_id) | Q(project_id__isnull=True)
    rows = countable(caller=caller).filter(
        here,
        type=MemoryType.DEAD_END.value,
        status=Status.ACTIVE.value,
        stale_at__isnull=True,
        needs_review=False,
        taint_reason="",
        created_at__lt=row.opened_at,
    )
    newest = rows.exclude(session_id=row.id).order_by("-created_at", "id")
    found = newest.values_list("id", "content", "attributes")[:KNOWN_MOST]
    return tuple(
        KnownEnd(id=str(id), content=content, approach=str(attributes.get("approach", "")))
        for id, content, attributes in found
    )
