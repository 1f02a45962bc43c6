"""Show what the agent of a session did, step by step, while it runs and after it.

Drawn from the checkpoint and the events behind it, as the observer reads them, so that a page says
what signals were found in. When the session has been decided about, its ribbon is kept with what it
showed, and outlives its events. What was given stands where it was given, as far as the caller may
see the memories.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.queries import DeliveryEntry, delivery_log
from memory.sessions import step_timeline_rules
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session, Turn
from memory.sessions.queries import sessions
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.step_timeline_rules import Bar
from teams.permissions import Act, require

READ_MOST: Final = 10_000  # events behind a checkpoint that are read for a page, ours
KEPT: Final = "ribbon"  # its name in what a session is said to have shown


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
    require(caller=caller, act=Act.READ)
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
    bars = step_timeline_rules.draw(scratchpad=scratchpad)
    firsts = Turn.done.filter(session_id=row.id, sequence__in=[bar.first for bar in bars])
    moments = {number: at.timestamp() for number, at in firsts.values_list("sequence", "at")}
    return step_timeline_rules.at_moments(bars=bars, moments=moments)


def _kept(row: Session) -> tuple[Bar, ...] | None:
    """Return the ribbon that was kept when a session was decided about; None for an older one."""
    observed: Mapping[str, Any] = row.observed or {}
    if KEPT not in observed or observed.get("events") != row.events:
        return None
    return step_timeline_rules.from_rows(rows=observed[KEPT])


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
        return step_timeline_rules.placed(bars=bars, seconds=given.at.timestamp())
    return step_timeline_rules.behind(bars=bars, sequence=given.after_event)
