"""Look around a candidate: what is there already that speaks of the same.

Gates compare it with memories of its own place alone. Integration also looks at the counterpart: of
a personal memory what its project says, of a project's what the writer noted for themselves. The
rest of the organization is no counterpart: a rule for all and a project's own do not contradict.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.caller import Caller, is_person
from memory.entities import names
from memory.index.actions import embedding
from memory.index.actions.embedding import Embedded
from memory.index.sql import search_rows
from memory.intake.actions import candidate
from memory.intake.actions.candidate import CheckedCandidate, Placement, may_write_for_all
from memory.intake.intake_gates import NEUTRAL, Neighbor, Neighborhood, Thresholds
from memory.intake.integrate import Known, Statement
from memory.intake.sql import neighbors
from memory.intake.sql.neighbors import SUBJECT_TYPES, Center, Close, KnownRow, Spot
from memory.taxonomy import (
    Authority,
    Governance,
    MemoryKind,
    MemoryType,
    Scope,
    Source,
    may_be_forgotten_by_agent,
    source_row,
    type_row,
)
from teams.models import Project
from teams.queries import gates_of

NEAREST: Final = 5  # memories compared
PASSING: Final = frozenset({MemoryKind.EPISODIC, MemoryKind.REFLECTIVE})  # of their moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What was found around a candidate: for the gates, and for integration."""

    neighborhood: Neighborhood
    statement: Statement
    known: tuple[Known, ...]


def thresholds_of(*, project: Project | None) -> Thresholds:
    """Return the thresholds of the gates in a project; the usual ones outside of projects."""
    return Thresholds() if project is None else Thresholds(**gates_of(row=project))


def look_around(
    *,
    caller: Caller,
    drafted: CheckedCandidate,
    where: Placement,
    embedded: Embedded | None,
    now: datetime,
) -> Around:
    """Read what is around a candidate. In a unit."""
    exact = candidate.find_exact_duplicate(placement=where, content_hash=drafted.content_hash)
    if embedded is None or exact is not None:
        alone = Neighborhood(exact_duplicate_id=exact, neighbors=())
        return Around(neighborhood=alone, statement=statement(caller, drafted, now), known=())
    thresholds = thresholds_of(project=where.project)
    model_id = embedding.space_id(key=embedded.key)
    query = search_rows.prefix_text(vector=embedded.vector)
    spot = _spot(where, model_id)
    close = _close(spot, embedded, thresholds)
    center = neighbors.center(spot=spot, query=query)
    other = counterpart(caller=caller, where=where, model_id=model_id)
    beyond = {} if other is None else dict(_nearest(other, embedded))
    least = min(thresholds.near_duplicate_cosine, thresholds.conflict_cosine)
    near = {id: cosine for id, cosine in {**beyond, **close}.items() if cosine >= least}
    rows = neighbors.known(memory_ids=tuple(near))
    return Around(
        neighborhood=_neighborhood([row for row in rows if row.id in close], near, center),
        statement=statement(caller, drafted, now, center),
        known=known_of(rows=rows, cosines=near, audience=where.audience, type=_type(drafted)),
    )


def counterpart(*, caller: Caller, where: Placement, model_id: int) -> Spot | None:
    """Return where else the writer sees memories about the same: personal or the project's."""
    if where.project is None or caller.user_id is None:
        return None
    other = {Scope.PERSONAL: where.project.id, Scope.PROJECT: caller.user_id}.get(where.scope)
    if other is None:
        return None
    return Spot(model_id=model_id, audience=other, project_id=where.project.id)


def known_of(
    *, rows: tuple[KnownRow, ...], cosines: dict[UUID, float], audience: UUID, type: MemoryType
) -> tuple[Known, ...]:
    """Return what integration compares with; what is of its moment contradicts nothing."""
    if is_passing(type=type):
        return ()
    return tuple(
        Known(
            id=row.id,
            content=row.content,
            authority=Authority(row.authority),
            subjects=row.subjects,
            cosine=cosines[row.id],
            since=row.valid_from,
            is_protected=is_protected(row=row),
            is_elsewhere=row.audience != audience,
            version=row.version,
        )
        for row in rows
        if not is_passing(type=MemoryType(row.type))
    )


def is_passing(*, type: MemoryType) -> bool:
    """Say whether memories of a type tell of a moment, so that the next contradicts none."""
    return type_row(type=type).kind in PASSING


def is_protected(*, row: KnownRow) -> bool:
    """Say whether only a person may replace a memory: its layer, a tag, a pin."""
    free = may_be_forgotten_by_agent(governance=Governance(row.governance), tags=row.tags)
    return row.pinned or not free


def statement(
    caller: Caller, drafted: CheckedCandidate, now: datetime, center: Center | None = None
) -> Statement:
    """Return a candidate as integration sees it."""
    new, seen = drafted.new, drafted.classification
    named = names.names_of(spans=seen.entities)
    told = tuple(name.key for name in named if names.TYPE_CODES[name.type] in SUBJECT_TYPES)
    return Statement(
        content=new.content,
        authority=source_row(source=Source(new.source)).authority,
        subjects=neighbors.subjects(
            topic_id=center.topic_id if center is not None and center.reaches else None,
            names=told,
            files=seen.files,
            tags=new.tags,
        ),
        since=new.event_at or now,
        may_replace_protected=is_person(caller=caller) and may_write_for_all(caller=caller),
        is_reviewed=not new.needs_review,
    )


def _type(drafted: CheckedCandidate) -> MemoryType:
    return drafted.classification.type


def _spot(where: Placement, model_id: int) -> Spot:
    project_id = where.project.id if where.project else None
    return Spot(model_id=model_id, audience=where.audience, project_id=project_id)


def _nearest(spot: Spot, embedded: Embedded) -> Close:
    return search_rows.nearest(
        model_id=spot.model_id,
        vector=embedded.vector,
        audience=spot.audience,
        project_id=spot.project_id,
        limit=NEAREST,
    )


def _close(spot: Spot, embedded: Embedded, thresholds: Thresholds) -> dict[UUID, float]:
    """Return the nearest memories of the place, and those near it among the newest entries."""
    newest = neighbors.newest(
        spot=spot,
        query=search_rows.prefix_text(vector=embedded.vector),
        window=thresholds.near_duplicate_window,
        least=thresholds.near_duplicate_cosine,
    )
    return {**dict(newest), **dict(_nearest(spot, embedded))}


def _neighborhood(
    rows: list[KnownRow], cosines: dict[UUID, float], center: Center | None
) -> Neighborhood:
    return Neighborhood(
        exact_duplicate_id=None,
        neighbors=tuple(
            Neighbor(id=row.id, cosine=min(1.0, cosines[row.id]), content=row.content)
            for row in rows
        ),
        surprise=NEUTRAL if center is None else min(1.0, max(0.0, 1.0 - center.cosine)),
        topic_id=center.topic_id if center is not None and center.reaches else None,
    )
