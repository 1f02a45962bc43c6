"""Take one link between two memories back: what a judge or a rule found and is not so.

Neither memory changes. What says that one replaced or contradicts the other is not taken back here:
that ends by settling the conflict, or by taking a correction back. The pair is not judged again
until one of the two says something else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, NotFound
from memory.intake.actions import apply_decision
from memory.records.actions import conflict_audience, writes
from memory.records.models import Memory
from memory.records.queries import rejected_links
from memory.records.queries.memories import lock_memory
from memory.records.queries.relations import BOUND
from memory.records.queries.views import to_view
from memory.records.verdicts import Verdict
from memory.review.actions import verdict
from memory.review.actions.verdict import Decided, Traces
from memory.taxonomy import LinkKind
from teams.permissions import Act, require

TAKEN: Final = "taken"  # where a verdict keeps the edges that it took away


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A link, as seen from one of its two memories."""

    other_id: UUID
    kind: LinkKind
    outgoing: bool


def unlink(*, caller: Caller, memory_id: UUID, edge: Edge, now: datetime) -> Decided:
    """Take a link away; the verdict's id undoes that.

    Raises NotFound, also where one of the two may not be seen, and Conflict for a link that ends
    otherwise.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        ids = sorted((memory_id, edge.other_id))
        held = {one: lock_memory(caller=caller, memory_id=one) for one in ids}
        _check_may_end(edge.kind)
        ends = (memory_id, edge.other_id) if edge.outgoing else (edge.other_id, memory_id)
        source, target = held[ends[0]], held[ends[1]]
        taken = apply_decision.take_edge(ends=ends, kind=edge.kind)
        if taken is None:
            raise NotFound(
                detail="There is no such link.",
                hint="It may have been taken back already; read the memory again.",
            )
        made = _note(caller, source, target, taken, now)
        view = to_view(held[memory_id], now=now)
        return Decided(memory=view, verdict=Verdict.UNLINK, review_id=made)


def put_back(*, before: Mapping[str, Any]) -> None:
    """Put the links back that a verdict took away; the caller holds `ends_of` it. In a unit."""
    apply_decision.put_edges(edges=before.get(TAKEN, ()))


def ends_of(*, before: Mapping[str, Any]) -> frozenset[UUID]:
    """Return the memories whose links a verdict took away."""
    edges = before.get(TAKEN, ())
    return frozenset(UUID(str(edge[end])) for edge in edges for end in ("source_id", "target_id"))


def _check_may_end(kind: LinkKind) -> None:
    if kind not in BOUND:
        return
    raise Conflict(
        detail="This link is not taken back by itself.",
        hint="Settle the conflict of the two, or take the correction back.",
    )


def _note(
    caller: Caller, source: Memory, target: Memory, taken: Mapping[str, Any], now: datetime
) -> UUID:
    """Write down what was taken away, with the side that fewer people see."""
    both = {"older": target, "newer": source}
    side, audience = conflict_audience.told(**both, otherwise=caller.user_id)
    made = verdict.note(
        caller=caller,
        row=side,
        verdict=Verdict.UNLINK,
        traces=Traces(),
        now=now,
        extra={TAKEN: [taken], rejected_links.SAID: rejected_links.said(rows=(source, target))},
    )
    details = {"link": taken["kind"]}
    if not conflict_audience.is_apart(**both):
        details |= {"source": str(source.id), "target": str(target.id)}
    writes.record(caller=caller, act="memory.unlinked", memory_id=side.id, details=details)
    writes.announce(caller=caller, kind="memory.changed", rows=(side,), audience=audience)
    return made
