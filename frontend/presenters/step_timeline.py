"""The steps of a session as a page draws them: bars, their words, and the one that is open (9.2).

A bar's height is the square root of its calls, so that one busy step hides no quiet one. What a
color tells stands in words and signs as well.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from accounts.caller import Caller
from frontend.labels import session_labels
from memory.injection.queries import DeliveryEntry
from memory.observer.actions.step_timeline import CALLS, Mark, Shown, Steps, show_steps
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from memory.sessions.queries import sessions
from memory.sessions.queries.sessions import EventView

HEIGHT: Final = 36.0  # of the highest bar, in units of the drawing
LEAST: Final = 5.0  # of the lowest
TOP: Final = 10.0  # above the highest bar, where what was given stands
EVENTS: Final = 40  # of an open bar that are shown at once
LONGEST: Final = 10  # digits of a sequence

_COUNTED: Final = {
    Mark.READ: ngettext_lazy("%(n)d read", "%(n)d reads", "n"),
    Mark.SEARCH: ngettext_lazy("%(n)d search", "%(n)d searches", "n"),
    Mark.EDIT: ngettext_lazy("%(n)d edit", "%(n)d edits", "n"),
    Mark.TEST: ngettext_lazy("%(n)d test run", "%(n)d test runs", "n"),
    Mark.RUN: ngettext_lazy("%(n)d command", "%(n)d commands", "n"),
    Mark.OTHER: ngettext_lazy("%(n)d other call", "%(n)d other calls", "n"),
    Mark.ERROR: ngettext_lazy("%(n)d error", "%(n)d errors", "n"),
    Mark.DEAD_END: ngettext_lazy("%(n)d dead end", "%(n)d dead ends", "n"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a bar: what it is of, where it begins, how high it is."""

    mark: str
    y: str
    height: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A bar as it is shown; `counts` are the columns of its line in the table."""

    first: int
    last: int
    name: str
    says: str
    parts: tuple[Part, ...]
    counts: tuple[tuple[str, int], ...]
    errors: int
    dead_ends: int
    given: int
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ribbon:
    """All bars, and what is said where there are none or not all."""

    bars: tuple[Drawn, ...]
    events: int
    beyond: int
    unplaced: int
    are_kept: bool
    calls: int
    given: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenHere:
    """A memory that was given in a bar, for how many tokens, and when.

    `agent` names the one of several agents that was told; empty: the first.
    """

    memory: MemoryView
    point: str
    tokens: int
    at: datetime
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """What an open bar holds; `next_from` is where its events go on."""

    name: str
    says: str
    first: int
    last: int
    events: tuple[EventView, ...]
    next_from: int | None
    given: tuple[GivenHere, ...]
    are_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The ribbon with the bar that is open, and the names of its table's columns."""

    ribbon: Ribbon
    pane: Pane | None
    marks: tuple[str, ...]


def of(*, caller: Caller, session_id: UUID, event: str, now: datetime) -> Page:
    """Return the ribbon of a session, with the bar open that holds the event of an address.

    Raises NotFound also for a session the caller may not see.
    """
    steps = show_steps(caller=caller, session_id=session_id)
    sequence = sequence_of(text=event)
    return Page(
        ribbon=_ribbon(steps, sequence),
        pane=None if sequence is None else _pane(caller, session_id, steps, sequence, now),
        marks=tuple(session_labels.RIBBON_MARKS),
    )


def sequence_of(*, text: str) -> int | None:
    """Read the number of an event from an address; None for what is none."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= LONGEST else None


def _ribbon(steps: Steps, opened: int | None) -> Ribbon:
    most = max((shown.bar.calls for shown in steps.bars), default=1)
    bars = tuple(_drawn(shown, most, opened) for shown in steps.bars)
    return Ribbon(
        bars=bars,
        events=steps.events,
        beyond=steps.beyond,
        unplaced=len(steps.unplaced),
        are_kept=steps.are_kept,
        calls=sum(shown.bar.calls for shown in steps.bars),
        given=_memories(*(one.given for one in steps.bars), steps.unplaced),
    )


def _pane(
    caller: Caller, session_id: UUID, steps: Steps, sequence: int, now: datetime
) -> Pane | None:
    """Return what the bar holds in which a sequence lies, from there on; None where none does."""
    shown = next((one for one in steps.bars if one.bar.first <= sequence <= one.bar.last), None)
    if shown is None:
        return None
    bar = shown.bar
    page = sessions.events(
        caller=caller, session_id=session_id, first=sequence, last=bar.last, limit=EVENTS
    )
    ids = tuple(dict.fromkeys(one.memory_id for one in shown.given))
    views = memories.by_ids(caller=caller, memory_ids=ids, now=now) if ids else {}
    return Pane(
        name=_name(shown),
        says=_says(shown),
        first=bar.first,
        last=bar.last,
        events=page.items,
        next_from=page.next_from,
        given=tuple(
            GivenHere(
                memory=views[one.memory_id],
                point=one.point,
                tokens=one.tokens,
                at=one.at,
                agent=one.agent,
            )
            for one in shown.given
            if one.memory_id in views
        ),
        are_kept=steps.are_kept,
    )


def _drawn(shown: Shown, most: int, opened: int | None) -> Drawn:
    bar = shown.bar
    marks = bar.marks
    return Drawn(
        first=bar.first,
        last=bar.last,
        name=_name(shown),
        says=_says(shown),
        parts=_parts(marks, bar.calls, most),
        counts=tuple((mark.value, marks.get(mark, 0)) for mark in Mark),
        errors=marks.get(Mark.ERROR, 0),
        dead_ends=marks.get(Mark.DEAD_END, 0),
        given=_memories(shown.given),
        is_open=opened is not None and bar.first <= opened <= bar.last,
    )


def _parts(marks: Mapping[Mark, int], calls: int, most: int) -> tuple[Part, ...]:
    """Stack what a bar is made of from the ground up."""
    whole = LEAST + (HEIGHT - LEAST) * math.sqrt(calls / most) if most else LEAST
    parts: list[Part] = []
    ground = TOP + HEIGHT
    for mark in CALLS:
        if count := marks.get(mark, 0):
            height = whole * count / calls
            ground -= height
            parts.append(Part(mark=mark.value, y=f"{ground:.1f}", height=f"{height:.1f}"))
    return tuple(parts)


def _name(shown: Shown) -> str:
    bar = shown.bar
    if not bar.last_step:
        return _("Events %(first)d to %(last)d") % {"first": bar.first, "last": bar.last}
    if bar.first_step == bar.last_step:
        return _("Step %(number)d") % {"number": bar.first_step}
    return _("Steps %(first)d to %(last)d") % {"first": bar.first_step, "last": bar.last_step}


def _says(shown: Shown) -> str:
    """Return what a bar holds in words, as a screen reader reads it."""
    told = [str(_COUNTED[mark] % {"n": n}) for mark, n in shown.bar.marks.items() if n]
    if count := _memories(shown.given):
        text = ngettext("%(n)d memory given", "%(n)d memories given", count)
        told.append(text % {"n": count})
    return ", ".join(told)


def _memories(*given: Iterable[DeliveryEntry]) -> int:
    """Return how many memories were given; one that several agents were told is one."""
    return len({one.memory_id for entries in given for one in entries})
