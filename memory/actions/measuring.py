"""Put down what an ended session came to: its figures, and what became of what it was given.

Both are taken from the whole scratchpad, at every end anew, so a session that goes on is measured
as a whole. Nobody is asked, no model reads; what the events do not tell stays unknown (spec 4.6).
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memory.intake.turns import Speaker
from memory.models import GivenOut, Memory, Session, Turn
from memory.observer import figures
from memory.observer.figures import Figure
from memory.observer.injection import outcomes
from memory.observer.injection.outcomes import Given
from memory.observer.scratchpad import Scratchpad
from memory.queries import reentries
from memory.taxonomy import Scope, Status

SIGN: Final = outcomes.CITED.format(citation="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What is looked at: memories by id, texts with their moments, events in order."""

    memories: dict[Any, dict[str, Any]]
    said: tuple[tuple[datetime, str], ...]
    moments: tuple[datetime, ...]
    sequences: tuple[int, ...]


def measure(*, row: Session, scratchpad: Scratchpad) -> None:
    """Put a locked session's figures into its row, which the caller saves, and settle its ledger.

    `row.observed` says what it has shown. In a unit.
    """
    row.figures = {
        **figures.of_session(scratchpad=scratchpad),
        Figure.DEAD_ENDS.value: int(_entered(row)),
    }
    given = tuple(GivenOut.objects.filter(session_id=row.id).order_by("at", "id"))
    if not given:
        return
    told = _told(row, given)
    for one in given:
        came = outcomes.outcome(given=_given(one, told), scratchpad=scratchpad)
        one.outcome = came.value
    GivenOut.objects.bulk_update(given, ["outcome"])


def _entered(row: Session) -> bool:
    """Say whether the session entered a dead end that all who see the session may see.

    One that its opener knows and not everybody is not counted of a session that others see as well.
    """
    kept = (row.observed or {}).get(reentries.KEPT, ())
    known = Memory.objects.filter(pk__in=[one["memory_id"] for one in kept])
    if row.scope != Scope.PERSONAL:
        known = known.filter(scope__in=(Scope.PROJECT.value, Scope.ORGANIZATION.value))
    return bool(kept) and known.exists()


def _told(row: Session, given: tuple[GivenOut, ...]) -> _Told:
    memories = Memory.objects.filter(pk__in=[one.memory_id for one in given])
    named = memories.order_by().values("id", "citation", "related_files", "status", "valid_until")
    events = tuple(Turn.done.filter(session=row).order_by("sequence").values_list("at", "sequence"))
    return _Told(
        memories={one["id"]: dict(one) for one in named},
        said=_said(row),
        moments=tuple(at for at, _ in events),
        sequences=tuple(sequence for _, sequence in events),
    )


def _said(row: Session) -> tuple[tuple[datetime, str], ...]:
    """Return what the agent said that has the sign of a citation."""
    spoken = Turn.objects.filter(session=row, role=Speaker.ASSISTANT.value, text__contains=SIGN)
    thought = Turn.done.filter(session=row, body__kind="reasoning", body__text__contains=SIGN)
    return (
        *spoken.order_by("sequence").values_list("at", "text"),
        *thought.order_by("sequence").values_list("at", "body__text"),
    )


def _given(one: GivenOut, told: _Told) -> Given:
    """Return a row of the ledger as the rule sees it; a memory that is gone says nothing."""
    memory = told.memories.get(one.memory_id)
    place = bisect_right(told.moments, one.at)
    after = told.sequences[place - 1] if place else 0
    if memory is None:
        return Given(memory_id=one.memory_id, files=frozenset(), after=after)
    ended_at = memory["valid_until"]
    is_gone = memory["status"] != Status.ACTIVE.value
    return Given(
        memory_id=one.memory_id,
        files=frozenset(memory["related_files"]),
        after=after,
        is_cited=outcomes.is_cited(
            citation=memory["citation"],
            said=tuple(text for at, text in told.said if at >= one.at),
        ),
        is_wrong=is_gone and ended_at is not None and ended_at >= one.at,
    )
