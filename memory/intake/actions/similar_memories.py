"""Look around a candidate: what is there already that speaks of the same.

Gates compare it with memories of its own place alone. Integration also looks at the counterpart: of
a personal memory what its project says, of a project's what the writer noted for themselves. The
rest of the organization is no counterpart: a rule for all and a project's own do not contradict.
"""

from dataclasses import replace
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
from memory.intake.intake_gates import NEUTRAL, Neighborhood, Thresholds
from memory.intake.integrate import CandidateStatement, StoredStatement
from memory.intake.sql import neighbors
from memory.intake.sql.neighbors import SUBJECT_TYPES, Spot
from memory.taxonomy import MemoryType, Scope, Source, source_row
from teams.models import Project
from teams.queries import gates_of

NEAREST: Final = 5  # memories compared


def thresholds_of(*, project: Project | None) -> Thresholds:
    """Return the thresholds of the gates in a project; the usual ones outside of projects."""
    return Thresholds() if project is None else Thresholds(**gates_of(row=project))


def find_similar(
    *,
    caller: Caller,
    checked: CheckedCandidate,
    where: Placement,
    embedded: Embedded | None,
    now: datetime,
) -> tuple[Neighborhood, CandidateStatement, tuple[StoredStatement, ...]]:
    """Return what the gates ask of, the candidate as integration sees it, and what it meets there.

    Without a vector, or where the same text is stored, only that text is looked for. In a unit.
    """
    exact = candidate.find_exact_duplicate(placement=where, content_hash=checked.content_hash)
    if embedded is None or exact is not None:
        alone = Neighborhood(exact_duplicate_id=exact)
        return alone, _candidate_statement(caller, checked, now, topic_id=None), ()
    thresholds = thresholds_of(project=where.project)
    model_id = embedding.space_id(key=embedded.key)
    query = search_rows.prefix_text(vector=embedded.vector)
    project_id = where.project.id if where.project else None
    spot = Spot(model_id=model_id, audience=where.audience, project_id=project_id)
    newest = neighbors.newest(
        spot=spot,
        query=query,
        window=thresholds.near_duplicate_window,
        least=thresholds.near_duplicate_cosine,
    )
    close = {**dict(newest), **_nearest(spot, embedded)}
    other = counterpart(caller=caller, where=where, model_id=model_id)
    beyond = {} if other is None else _nearest(other, embedded)
    least = min(thresholds.near_duplicate_cosine, thresholds.conflict_cosine)
    stored = neighbors.stored_statements(
        cosines={id: cosine for id, cosine in {**beyond, **close}.items() if cosine >= least}
    )
    topic_id, topic_cosine = neighbors.nearest_topic(spot=spot, query=query) or (None, 1 - NEUTRAL)
    neighborhood = Neighborhood(
        neighbors=tuple(one for one in stored if one.id in close),
        surprise=min(1.0, max(0.0, 1.0 - topic_cosine)),
    )
    type = checked.classification.type
    compared = compared_with(stored=stored, audience=where.audience, type=type)
    return neighborhood, _candidate_statement(caller, checked, now, topic_id=topic_id), compared


def counterpart(*, caller: Caller, where: Placement, model_id: int) -> Spot | None:
    """Return where else the writer sees memories about the same: personal or the project's."""
    if where.project is None or caller.user_id is None:
        return None
    other = {Scope.PERSONAL: where.project.id, Scope.PROJECT: caller.user_id}.get(where.scope)
    if other is None:
        return None
    return Spot(model_id=model_id, audience=other, project_id=where.project.id)


def compared_with(
    *, stored: tuple[StoredStatement, ...], audience: UUID, type: MemoryType
) -> tuple[StoredStatement, ...]:
    """Return what integration compares with; what is true of its time contradicts nothing."""
    if neighbors.is_passing(type=type):
        return ()
    return tuple(
        replace(one, is_elsewhere=one.audience != audience) for one in stored if not one.is_passing
    )


def _candidate_statement(
    caller: Caller, checked: CheckedCandidate, now: datetime, *, topic_id: UUID | None
) -> CandidateStatement:
    new, seen = checked.new, checked.classification
    named = names.names_of(spans=seen.entities)
    return CandidateStatement(
        content=new.content,
        authority=source_row(source=Source(new.source)).authority,
        subjects=neighbors.subjects(
            topic_id=topic_id,
            names=tuple(one.key for one in named if names.TYPE_CODES[one.type] in SUBJECT_TYPES),
            files=seen.files,
            tags=new.tags,
        ),
        since=new.event_at or now,
        may_replace_protected=is_person(caller=caller) and may_write_for_all(caller=caller),
        is_reviewed=not new.needs_review,
    )


def _nearest(spot: Spot, embedded: Embedded) -> dict[UUID, float]:
    return dict(
        search_rows.nearest(
            model_id=spot.model_id,
            vector=embedded.vector,
            audience=spot.audience,
            project_id=spot.project_id,
            limit=NEAREST,
        )
    )
