"""Read the surroundings of a candidate, and the log of what became of candidates.

A row of the log is told to who may see the place it is of; of a refused candidate its sender alone
knows. Counts are of the rows that one may see, so they tell nothing more.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts import tenancy
from accounts.caller import Caller, principal
from accounts.pages import Page, page_of
from memory import sql_queries, taxonomy
from memory.entities.names import TYPE_CODES
from memory.entities.queries import ABOUT
from memory.intake.integrate import StoredStatement
from memory.intake.models import ActionLog
from memory.records.queries.views import countable
from teams import queries as places
from teams import visibility

LARGEST_PAGE: Final = 200
FILE: Final = "intake/sql/neighbors.sql"
SUBJECT_TYPES: Final = tuple(TYPE_CODES[type] for type in ABOUT)
PASSING: Final = frozenset(
    {taxonomy.MemoryKind.EPISODIC, taxonomy.MemoryKind.REFLECTIVE}
)  # of their time
Close = tuple[tuple[UUID, float], ...]
OUTCOMES: Final = (
    "added", "confirmed", "known", "updated", "superseded", "contradicted", "extended", "refused",
)  # fmt: skip
ENDS: Final = ("length", "secrets", "exact_duplicate", "near_duplicate", "input")  # gates that end


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionView:
    """What became of one candidate; `other_id` is what it replaced or contradicts.

    `certainty`: 0..1, how sure that decision was; None where there was none to make.
    """

    id: int
    at: datetime
    project_id: UUID | None
    user_id: UUID | None
    agent: str
    source: str
    source_interface: str
    outcome: str
    gate: str
    cause: str
    memory_id: UUID | None
    other_id: UUID | None
    certainty: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many candidates ended in one way at one gate, within some days."""

    outcome: str
    gate: str
    count: int


def page(
    *,
    caller: Caller,
    project: str | None = None,
    outcome: str | None = None,
    gate: str | None = None,
    after: int | None,
    limit: int,
) -> Page[ActionView, int]:
    """Return rows, the newest first. Raises NotFound for a project the caller cannot see."""
    size = min(limit, LARGEST_PAGE)
    asked = {"outcome": outcome, "gate": gate, "id__lt": after}
    with tenancy.unit():
        rows = _seen(caller, project).filter(
            **{name: value for name, value in asked.items() if value is not None}
        )
        columns = ActionView.__dataclass_fields__
        views = [ActionView(**row) for row in rows.order_by("-id")[: size + 1].values(*columns)]
        named = {id for one in views for id in (one.memory_id, one.other_id) if id is not None}
        seen = set(countable(caller=caller).filter(pk__in=named).values_list("id", flat=True))
    found = tuple(  # without memories that are gone or that the caller sees no more
        replace(
            one,
            memory_id=one.memory_id if one.memory_id in seen else None,
            other_id=one.other_id if one.other_id in seen else None,
        )
        for one in views
    )
    return page_of(found=found, limit=size, place=lambda last: last.id)


def tallies(*, caller: Caller, project: str | None, days: int, now: datetime) -> tuple[Tally, ...]:
    """Count how candidates of some days ended, by outcome and gate, the most first."""
    with tenancy.unit():
        rows = _seen(caller, project).filter(at__gte=now - timedelta(days=days)).order_by()
        counted = rows.values("outcome", "gate").annotate(count=Count("id"))
        found = [Tally(**row) for row in counted]
    return tuple(sorted(found, key=lambda one: (-one.count, one.outcome, one.gate)))


def confirmed_by(*, caller: Caller, memory_ids: Collection[UUID], since: datetime) -> set[UUID]:
    """Return those of some memories that a caller confirmed by saying the same. In a unit.

    By the index memory_action_at: the rows of an hour.
    """
    own = {"user_id": caller.user_id, "token_id": caller.token_id, "agent": caller.agent}
    rows = ActionLog.objects.filter(
        at__gte=since, memory_id__in=memory_ids, outcome="confirmed", **own
    )
    found = rows.order_by().values_list("memory_id", flat=True)
    return {one for one in found if one is not None}


def _seen(caller: Caller, project: str | None) -> QuerySet[ActionLog]:
    own = principal(caller=caller)
    seen = visibility.as_q(sight=visibility.sight_of(caller=caller))
    if own is not None and caller.user_id is None:
        seen |= Q(audience=own)
    rows = ActionLog.objects.filter(seen)
    if project is None:
        return rows
    return rows.filter(project_id=places.find_project(caller=caller, ref=project).id)


class Spot(NamedTuple):
    """Where vectors are compared: in a model, an audience and a project."""

    model: int
    audience: UUID
    project: UUID | None


def newest(*, spot: Spot, query: str, window: int, least: float) -> Close:
    """Return the close ones among the newest entries, the closest first. In a unit."""
    asked = {"query": query, "window": window, "least": least, **spot._asdict()}
    rows = sql_queries.rows("newest", file=FILE, **asked)
    return tuple((row[0], float(row[1])) for row in rows)


def nearest_of_many(
    *, memory_ids: tuple[UUID, ...], limit: int, least: float
) -> dict[UUID, dict[UUID, float]]:
    """Return by memory the nearest ones of its place and its counterpart. In a unit."""
    rows = sql_queries.rows(
        "nearest_of_many", file=FILE, ids=list(memory_ids), limit=limit, least=least
    )
    found: dict[UUID, dict[UUID, float]] = {}
    for memory_id, other, cosine in rows:
        found.setdefault(memory_id, {})[other] = cosine
    return found


def nearest_topic(*, spot: Spot, query: str) -> tuple[UUID | None, float] | None:
    """Return the nearest topic of the place and its cosine. In a unit.

    The topic is None where it does not reach so far, all is None where the place has no topics.
    """
    rows = sql_queries.rows("center", file=FILE, query=query, **spot._asdict())
    return next(((id if reaches else None, cosine) for id, cosine, reaches in rows), None)


def stored_statements(*, cosines: dict[UUID, float]) -> tuple[StoredStatement, ...]:
    """Return active memories as integration compares them, by id; with their cosines. In a unit."""
    if not cosines:
        return ()
    rows = sql_queries.rows("known", file=FILE, ids=list(cosines), types=list(SUBJECT_TYPES))
    return tuple(
        StoredStatement(
            id=id,
            content=content,
            authority=taxonomy.Authority(authority),
            subjects=subjects(
                topic_id=topic_id, names=tuple(names or ()), files=tuple(files), tags=tuple(tags)
            ),
            cosine=cosines[id],
            since=valid_from,
            is_protected=pinned
            or not taxonomy.may_be_forgotten_by_agent(
                governance=taxonomy.Governance(governance), tags=tuple(tags)
            ),
            is_passing=is_passing(type=taxonomy.MemoryType(type)),
            is_doubtful=is_doubtful,
            is_verified=is_verified,
            audience=audience,
            version=version,
        )
        for (
            id, content, type, authority, governance, tags, pinned, audience, valid_from, files,
            topic_id, names, version, is_doubtful, is_verified,
        ) in rows
    )  # fmt: skip


def is_passing(*, type: taxonomy.MemoryType) -> bool:
    """Say whether memories of a type tell of their time, so that the next contradicts none."""
    return taxonomy.type_row(type=type).kind in PASSING


def subjects(
    *, topic_id: UUID | None, names: tuple[str, ...], files: tuple[str, ...], tags: tuple[str, ...]
) -> frozenset[str]:
    """Return what a memory is about, as marks that others may share."""
    marks = [] if topic_id is None else [f"topic {topic_id}"]
    marks += [f"name {name}" for name in names]
    marks += [f"file {file}" for file in files]
    return frozenset((*marks, *(f"tag {tag.lower()}" for tag in tags)))
