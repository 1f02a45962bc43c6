"""The delivery log: what each agent of a session was given, and which files were named to it.

A row says which memory, to which agent, at which point and for how many tokens; tokens of text
beside memories are added up in the session. All of it in the unit of the delivery, while the
session is locked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final
from uuid import UUID

from django.db.models import Min

from accounts import metrics
from memory import sql_queries
from memory.experiments.points import Point
from memory.injection import queries
from memory.injection.actions.policy import Recipient
from memory.injection.rules import SuggestedFiles
from memory.records.models import Memory
from memory.records.queries.views import GraphPart, MemoryView, give_out
from memory.sessions.actions import scratchpads
from memory.sessions.models import GivenOut, Session
from teams import visibility

FILE: Final = "injection/sql/deliveries.sql"
SUGGESTED_FILES_KEY: Final = "named"  # in a session's `observed`
PATTERN_FILES: Final = ("always_read", "often_read")  # attributes of a delivered prefetch pattern


def delivered_before(
    *, recipient: Recipient, point: Point, memory_ids: Iterable[UUID]
) -> frozenset[UUID]:
    """Return which of some memories an agent need not be given at a point. In a unit.

    Answers to searches of its token while the session ran count as given to its first agent. An
    agent whose context was compacted is warned once more at the touch of a file, and nowhere else.
    """
    ids = list(memory_ids)
    if not ids:
        return frozenset()
    is_anew = point is Point.TOOL_RESULT
    carried = scratchpads.carried(row=recipient.session)
    rows = sql_queries.rows(
        "delivered_to_agent",
        file=FILE,
        sessions=[recipient.session.id, *carried.parts],
        agent=recipient.agent,
        token=None if recipient.agent else recipient.caller.token_id,
        since=(is_anew and recipient.compacted_at) or carried.opened_at,
        compacted=recipient.compacted_at,
        is_anew=is_anew,
        ids=ids,
    )
    return frozenset(memory_id for (memory_id,) in rows)


def record_deliveries(*, recipient: Recipient, point: Point, costs: Mapping[UUID, int]) -> None:
    """Store a row for each memory with its tokens, behind all that the session has stored by now.

    In a unit.
    """
    if not costs:
        return
    last_event, last_row = queries.last_stored(session_id=recipient.session.id)
    GivenOut.objects.bulk_create(
        GivenOut(
            person=recipient.caller.user_id,
            token=recipient.caller.token_id,
            memory_id=memory_id,
            at=recipient.now,
            session_id=recipient.session.id,
            point=point.value,
            tokens=cost,
            after_event=last_event,
            after_row=last_row,
            agent=recipient.agent,
            compacted_at=recipient.compacted_at,
        )
        for memory_id, cost in costs.items()
    )
    metrics.INJECTIONS.labels(point.value).inc(len(costs))


def read_and_count(
    *, recipient: Recipient, memory_ids: tuple[UUID, ...], graph: GraphPart | None = None
) -> Mapping[UUID, MemoryView]:
    """Read memories that are delivered, and count the access. In a unit.

    The access log gets no token: the delivery log has it, with the agent of the session.
    """
    if not memory_ids:
        return {}
    sight = replace(visibility.sight_of(caller=recipient.caller), token=None)
    return give_out(memory_ids=memory_ids, sight=sight, now=recipient.now, graph=graph)


def record_sources(*, recipient: Recipient, point: Point, memory_ids: tuple[UUID, ...]) -> None:
    """Store what a delivered text rests on and is not logged yet, without tokens. In a unit."""
    logged = queries.logged_memories(
        session_ids=scratchpads.all_of(row=recipient.session), agent=recipient.agent
    )
    new = tuple(one for one in dict.fromkeys(memory_ids) if one not in logged)
    views = read_and_count(recipient=recipient, memory_ids=new)
    record_deliveries(recipient=recipient, point=point, costs=dict.fromkeys(views, 0))


def record_suggested_files(*, session: Session, paths: Iterable[str]) -> None:
    """Note on a locked session which files its plan names; the first time counts. In a unit."""
    observed = session.observed or {}
    last_event, _ = queries.last_stored(session_id=session.id)
    suggested = {**dict.fromkeys(paths, last_event), **observed.get(SUGGESTED_FILES_KEY, {})}
    session.observed = {**observed, SUGGESTED_FILES_KEY: suggested}
    session.save(update_fields=["observed"])


def suggested_files(*, session: Session) -> SuggestedFiles:
    """Return by file the last event of a session before it was suggested. In a unit.

    Files of the plan at its beginning, and those of memories in its delivery log.
    """
    logged = GivenOut.objects.filter(session_id=session.id, after_event__isnull=False).order_by()
    firsts = logged.values_list("memory_id").annotate(first=Min("after_event"))
    after: dict[UUID, int] = dict(firsts)  # of several agents, and of one that was compacted
    rows = Memory.objects.filter(pk__in=after).order_by()
    found: dict[str, int] = dict((session.observed or {}).get(SUGGESTED_FILES_KEY, {}))
    for memory_id, files, attributes in rows.values_list("id", "related_files", "attributes"):
        lists = (attributes.get(name) or () for name in PATTERN_FILES)
        of_pattern = (path for paths in lists for path in paths if isinstance(path, str))
        for path in (*files, *of_pattern):
            found[path] = min(found.get(path, after[memory_id]), after[memory_id])
    return found
