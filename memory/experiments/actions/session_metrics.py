"""Put down what an ended session came to: its figures, and what became of what it was given.

Both are taken from the whole scratchpad, at every end anew, so a session that goes on is measured
as a whole. Nobody is asked, no model reads; what the events do not tell stays unknown.

What came after a memory was given is what was stored after it: the ids of rows tell, and neither a
clock nor a number of a client. A row of the ledger that does not say behind which it stands is
judged no more.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models.fields.json import KeyTextTransform

from memory.experiments import delivery_outcomes, figures
from memory.experiments.delivery_outcomes import Given
from memory.experiments.figures import Figure
from memory.experiments.queries import reentries
from memory.records.models import Memory
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.sessions.actions import scratchpads
from memory.sessions.models import GivenOut, Session, Turn
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.turns import Speaker
from memory.taxonomy import Scope, Status

SIGN: Final = delivery_outcomes.CITED.format(citation="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What is looked at: memories by id, events by sequence, and what the agent said and thought.

    `rows` are the ids of the rows in which events came; texts stand beside theirs.
    """

    memories: dict[Any, dict[str, Any]]
    rejected: dict[Any, datetime]
    ended_at: datetime
    rows: dict[int, int]
    said: tuple[tuple[int, str], ...]


def measure(*, row: Session, scratchpad: Scratchpad) -> None:
    """Put a locked session's figures into its row, which the caller saves, and settle its ledger.

    `row.observed` says what it has shown. One that goes on after its first events were forgotten
    stays as it was measured with them. In a unit.
    """
    if row.figures is not None and scratchpads.is_cut(row=row):
        return
    row.figures = {
        **figures.of_session(scratchpad=scratchpad),
        Figure.DEAD_ENDS.value: int(_entered(row)),
    }
    placed = GivenOut.objects.filter(session_id=row.id, after_row__isnull=False)
    given = tuple(placed.order_by("at", "id"))
    if not given:
        return
    told = _told(row, given)
    for one in given:
        came = delivery_outcomes.outcome(
            given=_given(one, told), scratchpad=scratchpad, rows=told.rows
        )
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
    return _Told(
        memories={one["id"]: dict(one) for one in named},
        rejected=_rejected(given),
        ended_at=row.ended_at or row.active_at,
        rows=_rows(row, given),
        said=(*_said(row), *_thought(row)),
    )


def _rows(row: Session, given: tuple[GivenOut, ...]) -> dict[int, int]:
    """Return by sequence the ids of the events that were stored after the first was given."""
    first = min(one.after_row or 0 for one in given)
    later = Turn.done.filter(session=row, pk__gt=first).order_by()
    return dict(later.values_list("sequence", "pk"))


def _rejected(given: tuple[GivenOut, ...]) -> dict[Any, datetime]:
    """Return the memories that a review rejected, and when last."""
    verdicts = ReviewVerdict.objects.filter(
        memory_id__in=[one.memory_id for one in given],
        verdict=Verdict.REJECT.value,
        undone_at=None,
    )
    return dict(verdicts.order_by("decided_at").values_list("memory_id", "decided_at"))


def _said(row: Session) -> tuple[tuple[int, str], ...]:
    """Return what the agent said that has the sign of a citation."""
    spoken = Turn.objects.filter(session=row, role=Speaker.ASSISTANT.value, text__contains=SIGN)
    return tuple(spoken.order_by("pk").values_list("pk", "text"))


def _thought(row: Session) -> tuple[tuple[int, str], ...]:
    """Return what the agent thought that has the sign of a citation."""
    thought = Turn.done.filter(session=row, body__kind="reasoning").annotate(
        thought=KeyTextTransform("text", "body")
    )
    signed = thought.filter(thought__contains=SIGN).order_by("pk")
    return tuple(signed.values_list("pk", "thought"))


def _given(one: GivenOut, told: _Told) -> Given:
    """Return a row of the ledger as the rule sees it; a memory that is gone says nothing."""
    memory = told.memories.get(one.memory_id)
    after = one.after_row or 0
    if memory is None:
        return Given(memory_id=one.memory_id, files=frozenset(), after=after)
    is_replaced = memory["status"] == Status.SUPERSEDED.value
    ended_at = memory["valid_until"] if is_replaced else told.rejected.get(one.memory_id)
    return Given(
        memory_id=one.memory_id,
        files=frozenset(memory["related_files"]),
        after=after,
        is_cited=delivery_outcomes.is_cited(
            citation=memory["citation"],
            said=tuple(text for place, text in told.said if place > after),
        ),
        is_wrong=ended_at is not None and one.at <= ended_at <= told.ended_at,
    )
