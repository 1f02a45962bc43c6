"""Store the figures of an ended session, and what came of each memory that it was given.

Both are taken from the whole scratchpad, at every end anew, so a session that goes on is measured
as a whole. Nobody is asked, no model reads; what no event shows stays unknown.

What came after a delivery is what was stored after it, by the ids of rows, and neither by a clock
nor by a number of a client. An entry of the delivery log without such an id is not judged.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models.fields.json import KeyTextTransform

from memory.experiments import figures
from memory.experiments.figures import Figure, MeasuredDelivery
from memory.experiments.queries.session_figures import REENTERED_KEY
from memory.records.models import Memory, ReviewVerdict
from memory.sessions.actions import scratchpads
from memory.sessions.models import GivenOut, Session, Turn
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.turns import Speaker
from memory.taxonomy import Scope, Status, Verdict

SIGN: Final = figures.CITED.format(citation="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """What outcomes depend on: memories by id, rejections, rows of events by sequence, texts.

    `texts` are those of the agent with the sign of a citation, by the ids of their rows.
    """

    memories: dict[Any, dict[str, Any]]
    rejected: dict[Any, datetime]
    ended_at: datetime
    rows: dict[int, int]
    texts: tuple[tuple[int, str], ...]


def measure(*, row: Session, scratchpad: Scratchpad) -> None:
    """Put a locked session's figures into its row, which the caller saves, and settle its log.

    One that goes on after its first events were forgotten stays as it was measured with them. In a
    unit.
    """
    if row.figures is not None and scratchpads.is_cut(row=row):
        return
    row.figures = {
        **figures.session_figures(scratchpad=scratchpad),
        Figure.DEAD_ENDS.value: int(_entered_dead_end(row)),
    }
    placed = GivenOut.objects.filter(session_id=row.id, after_row__isnull=False)
    log = tuple(placed.order_by("at", "id"))
    if not log:
        return
    context = _context(row, log)
    for one in log:
        outcome = figures.delivery_outcome(
            delivered=_measured(one, context), scratchpad=scratchpad, rows=context.rows
        )
        one.outcome = outcome.value
    GivenOut.objects.bulk_update(log, ["outcome"])


def _entered_dead_end(row: Session) -> bool:
    """Say whether the session entered a dead end that all who see the session may see.

    One that its opener knows and not everybody is not counted of a session that others see as well.
    """
    entered = (row.observed or {}).get(REENTERED_KEY, ())
    known = Memory.objects.filter(pk__in=[one["memory_id"] for one in entered])
    if row.scope != Scope.PERSONAL:
        known = known.filter(scope__in=(Scope.PROJECT.value, Scope.ORGANIZATION.value))
    return bool(entered) and known.exists()


def _context(row: Session, log: tuple[GivenOut, ...]) -> _Context:
    """Read what the outcomes of a session's deliveries depend on. In a unit."""
    ids = [one.memory_id for one in log]
    memories = Memory.objects.filter(pk__in=ids).order_by()
    named = memories.values("id", "citation", "related_files", "status", "valid_until")
    verdicts = ReviewVerdict.objects.filter(
        memory_id__in=ids, verdict=Verdict.REJECT.value, undone_at=None
    )
    first = min(one.after_row or 0 for one in log)
    later = Turn.done.filter(session=row, pk__gt=first).order_by()
    spoken = Turn.objects.filter(session=row, role=Speaker.ASSISTANT.value, text__contains=SIGN)
    reasoning = Turn.done.filter(session=row, body__kind="reasoning").annotate(
        thought=KeyTextTransform("text", "body")
    )
    signed = reasoning.filter(thought__contains=SIGN).order_by("pk")
    return _Context(
        memories={one["id"]: dict(one) for one in named},
        rejected=dict(verdicts.order_by("decided_at").values_list("memory_id", "decided_at")),
        ended_at=row.ended_at or row.active_at,
        rows=dict(later.values_list("sequence", "pk")),
        texts=(
            *spoken.order_by("pk").values_list("pk", "text"),
            *signed.values_list("pk", "thought"),
        ),
    )


def _measured(one: GivenOut, context: _Context) -> MeasuredDelivery:
    """Return an entry of the log as the rule needs it; a memory that is gone has no outcome."""
    memory = context.memories.get(one.memory_id)
    after = one.after_row or 0
    if memory is None:
        return MeasuredDelivery(memory_id=one.memory_id, files=frozenset(), after=after)
    is_replaced = memory["status"] == Status.SUPERSEDED.value
    ended_at = memory["valid_until"] if is_replaced else context.rejected.get(one.memory_id)
    return MeasuredDelivery(
        memory_id=one.memory_id,
        files=frozenset(memory["related_files"]),
        after=after,
        is_cited=figures.is_cited(
            citation=memory["citation"],
            texts=tuple(text for place, text in context.texts if place > after),
        ),
        is_wrong=ended_at is not None and one.at <= ended_at <= context.ended_at,
    )
