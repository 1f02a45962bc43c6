"""Look around a candidate: what is there that speaks of the same, and what was just delivered.

Gates compare it with memories of its own place alone. Integration also looks at the counterpart: of
a personal memory what its project says, of a project's what the writer noted for themselves. The
rest of the organization is no counterpart: a rule for all and a project's own do not contradict.

An agent that restates what it was just given confirms nothing. A person's word always counts. An
agent's does not where the memory was given within a day to any agent of its person, or ever to one
of that person's sessions that still run; what is taken from a conversation does not where it was
given to the person in any way, and it never confirms what is known already.

`preview` says what would become of a text before it is stored, for the Teach panel: nothing is
written and no access is logged.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.messages import message
from memory import sql_queries
from memory.entities import names
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.intake import classify, integrate, queries, validation
from memory.intake import echoes_and_alarms as echoes
from memory.intake.actions import candidate
from memory.records import actions, changes
from memory.records.models import Memory
from memory.records.queries import memories, views
from memory.secrets import findings
from memory.taxonomy import MemoryType, Scope, Source, source_row
from teams import models as team_models
from teams import permissions, visibility
from teams import queries as places

NEAREST: Final = 10  # memories compared; default, not measured
JUST_HOURS: Final = 24  # within which an agent was “just” given something; default, not measured
LONG_DAYS: Final = 30  # within which a conversation repeats what was given; default, not measured
MOST: Final = 300  # memories that are compared, the last delivered; default, not measured
SAYS_AGAIN: Final = frozenset({  # what agents say, in commits too; imports have another origin
    Source.AGENT_EXPLICIT.value, Source.OBSERVER_INFERRED.value, Source.EXTRACTED.value,
    Source.COMMIT_AUTO.value,
})  # fmt: skip
IN_OTHER_WORDS: Final = frozenset({Source.EXTRACTED.value, Source.COMMIT_AUTO.value})

SIMILAR_LIMIT: Final = 3  # memories that are shown
MOST_NAMES: Final = 8  # things named in the text that are shown; default, not measured
SIMILAR_COSINE: Final = 0.55  # cosine from which a neighbor is worth showing; default, not measured
# what was delivered, and the cosines of it that are known
Delivered = tuple[tuple[echoes.DeliveredText, ...], dict[UUID, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A memory close in meaning; cosine 0..1."""

    memory: views.MemoryView
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What classification and the secret scan find, and what is close already.

    `basis` says why it has its type; `redacted` is the text with each secret replaced by its kind.
    """

    type: str
    basis: classify.TypeBasis
    citation: str
    files: tuple[str, ...]
    modules: tuple[str, ...]
    names: tuple[names.Name, ...]
    secrets: tuple[str, ...]
    redacted: str
    similar: tuple[Similar, ...]


def thresholds_of(*, project: team_models.Project | None) -> integrate.Thresholds:
    """Return the thresholds of the gates in a project; the usual ones outside of projects."""
    return (
        integrate.Thresholds()
        if project is None
        else integrate.Thresholds(**places.gates_of(row=project))
    )


def embed(*, checked: candidate.CheckedCandidate) -> embedding.Embedded | None:
    """Embed a candidate where that is fast, else return None. Outside of a unit."""
    seen = checked.classification
    text = embedding.text_of(
        files=seen.files, modules=seen.modules, type=seen.type.value, content=checked.new.content
    )
    return embedding.embed_inline(text=text)


def find_similar(
    *,
    caller: Caller,
    checked: candidate.CheckedCandidate,
    where: candidate.Placement,
    embedded: embedding.Embedded | None,
    now: datetime,
) -> tuple[
    integrate.Neighborhood, integrate.CandidateStatement, tuple[integrate.StoredStatement, ...]
]:
    """Return what the gates ask of, the candidate as integration sees it, and what it meets there.

    Without a vector, or where the same text is stored, only that text is looked for. In a unit.
    """
    exact = candidate.find_exact_duplicate(placement=where, content_hash=checked.content_hash)
    if embedded is None or exact is not None:
        alone = integrate.Neighborhood(exact_duplicate_id=exact)
        return alone, _candidate_statement(caller, checked, now, topic_id=None), ()
    thresholds = thresholds_of(project=where.project)
    query = index_queries.prefix_text(vector=embedded.vector)
    spot, *others = _spots(caller, where, embedding.space_id(key=embedded.key))
    newest = queries.newest(
        spot=spot,
        query=query,
        window=thresholds.near_duplicate_window,
        least=thresholds.near_duplicate_cosine,
    )
    close = {**dict(newest), **_nearest(spot, embedded)}
    beyond = {id: cosine for one in others for id, cosine in _nearest(one, embedded).items()}
    least = min(thresholds.near_duplicate_cosine, thresholds.conflict_cosine)
    stored = queries.stored_statements(
        cosines={id: cosine for id, cosine in {**beyond, **close}.items() if cosine >= least}
    )
    topic_id, topic_cosine = queries.nearest_topic(spot=spot, query=query) or (
        None,
        1 - integrate.NEUTRAL,
    )
    neighborhood = integrate.Neighborhood(
        neighbors=tuple(one for one in stored if one.id in close),
        surprise=min(1.0, max(0.0, 1.0 - topic_cosine)),
    )
    type = checked.classification.type
    compared = compared_with(stored=stored, audience=where.audience, type=type)
    return neighborhood, _candidate_statement(caller, checked, now, topic_id=topic_id), compared


def in_use(*, embedded: embedding.Embedded | None) -> embedding.Embedded | None:
    """Return a vector if it is of the model that searches use, else None. In a unit."""
    if embedded is None or embedded.key != embedding.active_model()[1]:
        return None
    return embedded


def is_known(
    *,
    caller: Caller,
    new: validation.NewMemory,
    embedded: embedding.Embedded | None,
    above: float,
) -> bool:
    """Say whether a memory nearer than a cosine says all that a text says. In a unit.

    One that only speaks of the same is not enough: it may name something else.
    """
    usable = in_use(embedded=embedded)
    if usable is None:
        return False
    where = candidate.find_placement(caller=caller, new=new)
    spots = _spots(caller, where, embedding.space_id(key=usable.key))
    near = {id: cosine for spot in spots for id, cosine in _nearest(spot, usable).items()}
    close = {id: cosine for id, cosine in near.items() if cosine > above}
    stored = queries.stored_statements(cosines=close)
    return any(changes.adds_nothing(old=one.content, new=new.content) for one in stored)


def compared_with(
    *, stored: tuple[integrate.StoredStatement, ...], audience: UUID, type: MemoryType
) -> tuple[integrate.StoredStatement, ...]:
    """Return what integration compares with; what is true of its time contradicts nothing."""
    if queries.is_passing(type=type):
        return ()
    return tuple(
        replace(one, is_elsewhere=one.audience != audience) for one in stored if not one.is_passing
    )


def _candidate_statement(
    caller: Caller, checked: candidate.CheckedCandidate, now: datetime, *, topic_id: UUID | None
) -> integrate.CandidateStatement:
    new, seen = checked.new, checked.classification
    return integrate.CandidateStatement(
        content=new.content,
        authority=source_row(source=Source(new.source)).authority,
        subjects=queries.subjects(
            topic_id=topic_id,
            names=tuple(
                one.key for one in seen.names if names.TYPE_CODES[one.type] in queries.SUBJECT_TYPES
            ),
            files=seen.files,
            tags=new.tags,
        ),
        since=new.event_at or now,
        may_replace_protected=is_person(caller=caller)
        and candidate.may_write_for_all(caller=caller),
        is_reviewed=not new.needs_review,
    )


def _spots(caller: Caller, where: candidate.Placement, model_id: int) -> tuple[queries.Spot, ...]:
    """Return the place itself, and where else its writer sees memories about the same, if any.

    That is of a personal one its project, and of a project's what the writer keeps personally.
    """
    here = queries.Spot(model_id, where.audience, where.project_id)
    other = {Scope.PERSONAL: where.project_id, Scope.PROJECT: caller.user_id}.get(where.scope)
    if where.project_id is None or caller.user_id is None or other is None:
        return (here,)
    return here, queries.Spot(model_id, other, where.project_id)


def _nearest(
    spot: queries.Spot, embedded: embedding.Embedded, limit: int = NEAREST
) -> dict[UUID, float]:
    return dict(
        index_queries.nearest(
            model_id=spot.model,
            vector=embedded.vector,
            audience=spot.audience,
            project_id=spot.project,
            limit=limit,
        )
    )


def find_delivered(
    *,
    caller: Caller,
    source: str,
    where: candidate.Placement,
    embedded: embedding.Embedded | None,
    now: datetime,
) -> Delivered:
    """Return what counts as delivered to a caller who sends something now, by id. In a unit.

    The newest of the place that may still be seen, and their cosines with a vector as far as they
    are known. What is added in so many words is new to any other place. What is only derived says
    nothing new either where all who would see it can read it in the project or the organization.
    """
    if is_person(caller=caller) or source not in SAYS_AGAIN:
        return (), {}
    is_extracted = source == Source.EXTRACTED
    is_derived = source != Source.AGENT_EXPLICIT
    around = (where.audience, where.project_id, caller.organization_id)
    lasting = timedelta(days=LONG_DAYS) if is_extracted else timedelta(hours=JUST_HOURS)
    rows = sql_queries.filled(
        "delivered_to_person",
        file=queries.FILE,
        parts={"visible": visibility.as_sql(alias="m")},
        person=caller.user_id,
        token=caller.token_id,
        since=now - lasting,
        in_any_way=is_extracted,
        most=MOST,
        of_place=list(around if is_derived else around[:1]),
        project=where.project_id,
        is_wide=is_derived,
        model=None if embedded is None else embedded.key,
        query=None if embedded is None else index_queries.prefix_text(vector=embedded.vector),
        **visibility.parameters(sight=visibility.sight_of(caller=caller)),
    )
    texts = tuple(echoes.DeliveredText(memory_id=id, content=content) for id, content, _ in rows)
    return texts, {id: float(cosine) for id, _, cosine in rows if cosine is not None}


def is_restatement(*, row: Memory, delivered_id: UUID) -> bool:
    """Say whether a stored memory only restates one delivered to its agent. In a unit.

    Which token it came with is not known any more, so what any of the person's agents got counts.
    """
    if row.source not in SAYS_AGAIN:
        return False
    if row.source == Source.EXTRACTED:
        return True  # a conversation alone confirms nothing
    ((was_delivered,),) = sql_queries.rows(
        "was_delivered_to_agents",
        file=queries.FILE,
        memory_id=delivered_id,
        person=row.author_user,
        since=row.created_at - timedelta(hours=JUST_HOURS),
    )
    return bool(was_delivered)


def find_echo(
    *, checked: candidate.CheckedCandidate, same_id: UUID | None, delivered: Delivered
) -> tuple[UUID, str] | None:
    """Return the memory that a candidate restates and why that counts for nothing, else None.

    `same_id` is the memory that the gates found to say the same. A conversation that meets it again
    adds its session to the provenance, once; the confidence stays as it is. In a unit.
    """
    if checked.classification.type is MemoryType.EPISODE:
        return None
    texts, cosines = delivered
    source, echo = checked.new.source, same_id
    if same_id is None:
        echo = echoes.echo_of(
            content=checked.new.content,
            given=texts,
            cosines=cosines,
            limits=echoes.OTHER_WORDS if source in IN_OTHER_WORDS else echoes.SAME_WORDS,
        )
    elif all(one.memory_id != same_id for one in texts):
        if source != Source.EXTRACTED:
            return None
        _add_session(same_id, checked.new.session_id)
        return same_id, message("It is known already; a conversation alone confirms nothing.")
    if echo is None:
        return None
    return echo, message("It was just told to you; saying it again confirms nothing.")


def _add_session(memory_id: UUID, session_id: UUID | None) -> None:
    mine = Memory.objects.filter(pk=memory_id)
    without = mine.exclude(provenance_sessions__contains=[session_id]).select_for_update()
    known = without.values_list("provenance_sessions", flat=True).first() if session_id else None
    if session_id is not None and known is not None:
        mine.update(provenance_sessions=actions.add_sessions(known=known, sessions=(session_id,)))


def preview(*, caller: Caller, new: validation.NewMemory, now: datetime) -> Preview:
    """Look at a candidate without storing it. Raises InvalidInput, NotFound."""
    permissions.require(caller=caller, act=permissions.Act.READ)
    checked = candidate.check_candidate(caller=caller, new=new)
    seen = checked.classification
    return Preview(
        type=seen.type.value,
        basis=seen.type_basis,
        citation=seen.citation,
        files=seen.files,
        modules=seen.modules,
        names=() if checked.findings else seen.names[:MOST_NAMES],
        secrets=tuple(sorted({one.kind.value for one in checked.findings})),
        redacted=findings.redact(text=new.content, findings=checked.findings),
        similar=() if checked.findings else _find_shown(caller, checked, now),
    )


def _find_shown(
    caller: Caller, checked: candidate.CheckedCandidate, now: datetime
) -> tuple[Similar, ...]:
    embedded = embed(checked=checked)
    with tenancy.unit():
        usable = in_use(embedded=embedded)
        if usable is None:
            return ()
        where = candidate.find_placement(caller=caller, new=checked.new)
        spot, *_ = _spots(caller, where, embedding.space_id(key=usable.key))
        close = {
            id: cosine
            for id, cosine in _nearest(spot, usable, SIMILAR_LIMIT).items()
            if cosine >= SIMILAR_COSINE
        }
        shown = memories.by_ids(caller=caller, memory_ids=tuple(close), now=now)
    return tuple(
        Similar(memory=shown[id], cosine=cosine) for id, cosine in close.items() if id in shown
    )
