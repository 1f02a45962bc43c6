"""The steps of a session as a page draws them: bars, their words, and the one that is open.

A bar's height is the square root of its calls, so that one busy step hides no quiet one. What a
color tells stands in words and signs as well.
"""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from accounts.caller import Caller
from frontend import labels
from memory.injection.queries import DeliveryEntry
from memory.observer.queries import CALLS, Mark, Shown, Steps, show_steps
from memory.records.queries import memories
from memory.sessions import queries as sessions

HEIGHT: Final = 36.0  # of the highest bar, in units of the drawing
LEAST: Final = 5.0  # of the lowest
TOP: Final = 10.0  # above the highest bar, where what was given stands
EVENTS: Final = 40  # of an open bar that are shown at once
SEQUENCE_DIGITS: Final = 10
COUNTED: Final = {
    Mark.READ: ngettext_lazy("%(n)d read", "%(n)d reads", "n"),
    Mark.SEARCH: ngettext_lazy("%(n)d search", "%(n)d searches", "n"),
    Mark.EDIT: ngettext_lazy("%(n)d edit", "%(n)d edits", "n"),
    Mark.TEST: ngettext_lazy("%(n)d test run", "%(n)d test runs", "n"),
    Mark.RUN: ngettext_lazy("%(n)d command", "%(n)d commands", "n"),
    Mark.OTHER: ngettext_lazy("%(n)d other call", "%(n)d other calls", "n"),
    Mark.ERROR: ngettext_lazy("%(n)d error", "%(n)d errors", "n"),
    Mark.DEAD_END: ngettext_lazy("%(n)d dead end", "%(n)d dead ends", "n"),
}


def read(*, caller: Caller, session_id: UUID, event: str, now: datetime) -> dict[str, Any]:
    """Return the ribbon of a session, with the bar open that holds the event of an address.

    Raises NotFound also for a session the caller may not see.
    """
    steps = show_steps(caller=caller, session_id=session_id)
    is_number = event.isascii() and event.isdecimal() and len(event) <= SEQUENCE_DIGITS
    sequence = int(event) if is_number else None
    calls = [shown.bar.calls for shown in steps.bars]
    return {
        "ribbon": {
            "bars": [_drawn(shown, max(calls), sequence) for shown in steps.bars],
            "beyond": steps.beyond,
            "are_kept": steps.are_kept,
            "calls": sum(calls),
        },
        "pane": None if sequence is None else _pane(caller, session_id, steps, sequence, now),
        "marks": tuple(labels.RIBBON_MARKS),
    }


def _pane(
    caller: Caller, session_id: UUID, steps: Steps, sequence: int, now: datetime
) -> dict[str, Any] | None:
    """Return what the bar holds in which a sequence lies, from there on; None where none does.

    A memory that was given comes with its entry in the delivery log; `next_from` is where the
    events go on.
    """
    shown = next((one for one in steps.bars if one.bar.first <= sequence <= one.bar.last), None)
    if shown is None:
        return None
    page = sessions.events(
        caller=caller, session_id=session_id, first=sequence, last=shown.bar.last, limit=EVENTS
    )
    ids = tuple(dict.fromkeys(one.memory_id for one in shown.given))
    views = memories.by_ids(caller=caller, memory_ids=ids, now=now) if ids else {}
    return {
        "name": _name(shown),
        "says": _words(shown),
        "first": shown.bar.first,
        "events": page.items,
        "next_from": page.next_place,
        "given": [(views[one.memory_id], one) for one in shown.given if one.memory_id in views],
        "are_kept": steps.are_kept,
    }


def _drawn(shown: Shown, most: int, opened: int | None) -> dict[str, Any]:
    """Return a bar: its name, what it holds in words, and its pieces from the ground up.

    A piece is its mark, where it begins and how high it is; `counts` are the columns of its line in
    the table.
    """
    bar, marks = shown.bar, shown.bar.marks
    whole = LEAST + (HEIGHT - LEAST) * math.sqrt(bar.calls / most) if most else LEAST
    ground = TOP + HEIGHT
    pieces = []
    for mark in CALLS:
        if count := marks.get(mark, 0):
            height = whole * count / bar.calls
            ground -= height
            pieces.append((mark.value, f"{ground:.1f}", f"{height:.1f}"))
    return {
        "first": bar.first,
        "last": bar.last,
        "name": _name(shown),
        "says": _words(shown),
        "pieces": pieces,
        "counts": [(mark.value, marks.get(mark, 0)) for mark in Mark],
        "errors": marks.get(Mark.ERROR, 0),
        "dead_ends": marks.get(Mark.DEAD_END, 0),
        "given": _count_memories(shown.given),
        "is_open": opened is not None and bar.first <= opened <= bar.last,
    }


def _name(shown: Shown) -> str:
    bar = shown.bar
    if not bar.last_step:
        return _("Events %(first)d to %(last)d") % {"first": bar.first, "last": bar.last}
    if bar.first_step == bar.last_step:
        return _("Step %(number)d") % {"number": bar.first_step}
    return _("Steps %(first)d to %(last)d") % {"first": bar.first_step, "last": bar.last_step}


def _words(shown: Shown) -> str:
    """Return what a bar holds in words, as a screen reader reads it."""
    words = [str(COUNTED[mark] % {"n": n}) for mark, n in shown.bar.marks.items() if n]
    if count := _count_memories(shown.given):
        given = ngettext("%(n)d memory given", "%(n)d memories given", count)
        words.append(given % {"n": count})
    return ", ".join(words)


def _count_memories(given: Iterable[DeliveryEntry]) -> int:
    """Return how many memories were given; one that several agents were given is one."""
    return len({one.memory_id for one in given})
