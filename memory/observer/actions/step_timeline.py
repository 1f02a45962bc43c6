"""The steps of a session in few enough bars to look at, while it runs and after it.

A step is what the agent's program calls one; where it counts none, each call of a tool is a step.
When there are more steps than bars, a bar stands for several that follow one another. Bars share
out the sequence numbers of the session, so each event belongs to exactly one of them. They are
drawn from the checkpoint and the events behind it, as the observer reads them, so that a page says
what signals were found in. When the session has been decided about, its bars are kept with what it
showed, and outlive its events. What was given to the agent stands where it was given, as far as the
caller may see the memories.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.queries import DeliveryEntry, delivery_log
from memory.observer import dead_ends
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session, Turn
from memory.sessions.queries import sessions
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act
from teams import permissions

BARS_MOST: Final = 40  # of a ribbon, ours: wide enough to be hit, on one line of a page
READ_MOST: Final = 10_000  # events behind a checkpoint that are read for a page, ours
KEPT: Final = "ribbon"  # its name in what a session is said to have shown


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
    """Some steps that follow one another: their events by number, and what was done in them.

    `steps` counts them; `at_seconds` since 1970 is when the first began, None where nobody knows.
    """

    first: int
    last: int
    first_step: int
    last_step: int
    steps: int
    marks: Mapping[Mark, int]
    at_seconds: float | None = None

    @property
    def calls(self) -> int:
        """How many tools were called."""
        return sum(self.marks.get(mark, 0) for mark in CALLS)


def draw(*, scratchpad: Scratchpad) -> tuple[Bar, ...]:
    """Draw the ribbon of what a session did so far; empty where no tool was called."""
    units = _units(scratchpad.deeds.values())
    if not units:
        return ()
    each = -(-len(units) // BARS_MOST)
    runs = [units[place : place + each] for place in range(0, len(units), each)]
    firsts = (1, *(run[0][0].sequence for run in runs[1:]))
    lasts = (*(first - 1 for first in firsts[1:]), scratchpad.through)
    ends = Counter(bisect_right(firsts, given_up) - 1 for given_up in _given_up(scratchpad))
    return tuple(
        _bar(run, first=firsts[place], last=lasts[place], dead_ends=ends[place])
        for place, run in enumerate(runs)
    )


def at_moments(*, bars: tuple[Bar, ...], moments: Mapping[int, float]) -> tuple[Bar, ...]:
    """Say of bars when they began, by the moments of their first events; time never runs back."""
    known = (moments.get(bar.first) for bar in bars)
    forward = accumulate((moment or 0.0 for moment in known), max)
    return tuple(
        replace(bar, at_seconds=moment or None) for bar, moment in zip(bars, forward, strict=True)
    )


def placed(*, bars: tuple[Bar, ...], seconds: float) -> int | None:
    """Return the place of the bar in which a moment lies, the first for what was before all.

    None where no bar says when it began.
    """
    begun = [bar.at_seconds or 0.0 for bar in bars]
    if not any(begun):
        return None
    return max(0, bisect_right(begun, seconds) - 1)


def behind(*, bars: tuple[Bar, ...], sequence: int) -> int | None:
    """Return the place of the bar of an event, the first for what was before all; None of none."""
    if not bars:
        return None
    return max(0, bisect_right([bar.first for bar in bars], sequence) - 1)


def to_rows(*, bars: tuple[Bar, ...]) -> list[list[Any]]:
    """Write a ribbon as JSON, to be kept when its events are not."""
    return [
        [
            bar.first,
            bar.last,
            bar.first_step,
            bar.last_step,
            bar.steps,
            bar.at_seconds,
            {mark.value: count for mark, count in bar.marks.items()},
        ]
        for bar in bars
    ]


def from_rows(*, rows: Iterable[list[Any]]) -> tuple[Bar, ...]:
    """Read what `to_rows` wrote."""
    return tuple(
        Bar(
            first=row[0],
            last=row[1],
            first_step=row[2],
            last_step=row[3],
            steps=row[4],
            at_seconds=row[5],
            marks={Mark(name): count for name, count in row[6].items()},
        )
        for row in rows
    )


def _given_up(scratchpad: Scratchpad) -> frozenset[int]:
    """Return the last calls of approaches that were given up; the remark itself comes behind."""
    found = dead_ends.find(scratchpad=scratchpad)
    return frozenset(each.evidence[-2].sequence for each in found)


def _units(deeds: Iterable[Deed]) -> list[list[Deed]]:
    """Part the calls of tools into steps."""
    units: list[list[Deed]] = []
    for deed in deeds:
        if units and deed.step and units[-1][0].step == deed.step:
            units[-1].append(deed)
        else:
            units.append([deed])
    return units


def _bar(run: list[list[Deed]], *, first: int, last: int, dead_ends: int) -> Bar:
    deeds = [deed for unit in run for deed in unit]
    marks = Counter(_BY_ACT.get(deed.act, Mark.OTHER) for deed in deeds)
    marks[Mark.ERROR] = sum(deed.is_error for deed in deeds)
    marks[Mark.DEAD_END] = dead_ends
    return Bar(
        first=first,
        last=last,
        first_step=min(deed.step for deed in deeds),
        last_step=max(deed.step for deed in deeds),
        steps=len(run),
        marks={mark: marks[mark] for mark in Mark if marks[mark]},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One bar, and what was given to the agent in it."""

    bar: Bar
    given: tuple[DeliveryEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The ribbon of a session.

    `events` were stored so far, `beyond` of them are not drawn because there are too many.
    `are_kept`: the events are still there, one by one. `unplaced` was given at moments that no bar
    knows.
    """

    events: int
    beyond: int
    bars: tuple[Shown, ...]
    unplaced: tuple[DeliveryEntry, ...]
    are_kept: bool


def show_steps(*, caller: Caller, session_id: UUID) -> Steps:
    """Return the ribbon of a session. Raises NotFound also for one the caller may not see."""
    permissions.require(caller=caller, act=permissions.Act.READ)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        given = delivery_log(caller=caller, session_id=row.id).entries
        are_kept = Turn.done.filter(session_id=row.id).exists()
        kept, beyond = _kept(row), 0
        if kept is None and are_kept:
            opened = scratchpads.read(row=row, most=READ_MOST)
            state = scratchpads.settled(opened=opened)
            kept, beyond = drawn(row=row, scratchpad=state), max(0, row.events - state.applied)
    bars, unplaced = _with_given(kept or (), given)
    return Steps(events=row.events, beyond=beyond, bars=bars, unplaced=unplaced, are_kept=are_kept)


def drawn(*, row: Session, scratchpad: Scratchpad) -> tuple[Bar, ...]:
    """Draw the ribbon of a session with the moments of its bars. In a unit."""
    bars = draw(scratchpad=scratchpad)
    firsts = Turn.done.filter(session_id=row.id, sequence__in=[bar.first for bar in bars])
    moments = {number: at.timestamp() for number, at in firsts.values_list("sequence", "at")}
    return at_moments(bars=bars, moments=moments)


def _kept(row: Session) -> tuple[Bar, ...] | None:
    """Return the ribbon that was kept when a session was decided about; None for an older one."""
    observed: Mapping[str, Any] = row.observed or {}
    if KEPT not in observed or observed.get("events") != row.events:
        return None
    return from_rows(rows=observed[KEPT])


def _with_given(
    bars: tuple[Bar, ...], given: tuple[DeliveryEntry, ...]
) -> tuple[tuple[Shown, ...], tuple[DeliveryEntry, ...]]:
    """Return the bars with what was given in each, and what lies in none."""
    by_place: dict[int | None, list[DeliveryEntry]] = {}
    for one in given:
        by_place.setdefault(_place(bars, one), []).append(one)
    shown = tuple(
        Shown(bar=bar, given=tuple(by_place.get(place, ()))) for place, bar in enumerate(bars)
    )
    return shown, tuple(by_place.get(None, ()))


def _place(bars: tuple[Bar, ...], given: DeliveryEntry) -> int | None:
    """Return the bar behind whose event it was given; by its moment where that is not known."""
    if given.after_event is None:
        return placed(bars=bars, seconds=given.at.timestamp())
    return behind(bars=bars, sequence=given.after_event)
