"""Memories that only many sessions together justify, for review.

A module's 5th, 10th, 20th, 50th and 100th session makes a synthesis over its sums due; once a week
the pairs of modules that go together and that no causal dependency names are looked for. Each is
done once: the unit that stores what it says writes its key into the log, and a second one finds it
there. What is said comes from one call of a model over the sums of a module, and only what is novel
is kept of it; from templates over strong sums where none may or can be asked. Nothing tainted is in
the sums, and what is said stands in the place whose sessions showed it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, Forbidden, InvalidInput, NotFound
from memory.intake.actions.remember import Prepared, decide, prepare, recorded
from memory.intake.actions.similar_memories import thresholds_of
from memory.observer import syntheses
from memory.observer.actions import prior_sessions
from memory.observer.actions.draft_synthesis import Drafted, draft_synthesis
from memory.observer.actions.promoting import SAME, nearest_of
from memory.observer.statistics import EdgeRow, ErrorRow, FileRow, ModuleRow, PairRow
from memory.observer.syntheses import Draft, Key, Summary
from memory.records.actions.candidate import NewMemory
from memory.records.models import Memory
from memory.sessions import file_paths
from memory.sessions.actions.on_behalf import opener_of
from memory.sessions.models import Session
from memory.statistics import counters
from memory.statistics import queries as statistics_queries
from memory.statistics.counters import Count, Kind
from memory.statistics.models import Statistic
from memory.statistics.queries import Sums, Which
from memory.taxonomy import MemoryType, Source, Status

JOB: Final = "memory.synthesize"
MOST_KNOWN: Final = 2_000  # causal dependencies of a place that are looked at, ours
LONGEST_ORIGIN: Final = 500  # characters, the column's


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """A synthesis that is to be done: over the sums of a module, or with what it says."""

    key: Key
    summary: Summary | None = None
    drafts: tuple[Draft, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a synthesis says, embedded; None is what cannot be stored."""

    key: Key
    prepared: tuple[Prepared | None, ...]
    is_of_model: bool


def queue(*, row: Session, modules: tuple[str, ...]) -> None:
    """Queue the syntheses that a session has made due for these modules. In a unit."""
    done = _done(row)
    touched = {module.module: module for module in _modules(row)}
    project = str(row.project_id or "")
    due = (
        syntheses.due(project=project, module=touched[name], done=done)
        for name in modules
        if name in touched
    )
    if any(key is not None for key in due):
        _enqueue(row, is_weekly=False)


def queue_weekly() -> int:
    """Queue the search for pairs in each place of the entered organization; return how many."""
    with tenancy.unit():
        places_of = (
            Statistic.objects.filter(kind=Kind.EDGE.value)
            .order_by()
            .values_list("audience", "project_id")
            .distinct()
        )
        rows = [_latest(audience, project_id) for audience, project_id in places_of]
        found = [row for row in rows if row is not None]
        for row in found:
            _enqueue(row, is_weekly=True)
    return len(found)


def synthesize(*, session_id: UUID, is_weekly: bool, now: datetime) -> Mapping[str, Any]:
    """Do what is due in the place of a session, in its opener's name; return the counts.

    Raises PermanentFailure when they are gone, may not write or do not see its project.
    """
    with tenancy.unit():
        row = Session.objects.select_related("project").filter(pk=session_id).first()
        if row is None:
            return {"gone": 1}
        caller = opener_of(row=row, now=now)
        due = _pairs(row) if is_weekly else _thresholds(row)
    counts: Counter[str] = Counter()
    for one in due:
        counts.update(_done_once(caller, row, one, now))
    return counts


def _enqueue(row: Session, *, is_weekly: bool) -> None:
    jobs.enqueue(
        JOB,
        payload={"ids": [str(row.id)], "weekly": is_weekly},
        key=f"{row.audience.hex}:{row.project_id.hex if row.project_id else ''}:{is_weekly}",
        created_by=row.opened_by or row.token_id,
    )


def _latest(audience: UUID, project_id: UUID | None) -> Session | None:
    """Return the newest session of a place, in whose opener's name its pairs are looked for."""
    rows = Session.objects.filter(audience=audience, project=project_id)
    return rows.filter(finalized_at__isnull=False).order_by("-opened_at", "id").first()


def _thresholds(row: Session) -> tuple[_Due, ...]:
    """Return what the modules of a place make due. In a unit."""
    done = _done(row)
    project = str(row.project_id or "")
    files, edges, errors = _files(row), _edges(row), _errors(row)
    found: list[_Due] = []
    for module in _modules(row):
        key = syntheses.due(project=project, module=module, done=done)
        if key is not None:
            found.append(_Due(key=key, summary=_summary(module, files, edges, errors)))
    return tuple(found)


def _pairs(row: Session) -> tuple[_Due, ...]:
    """Return the pairs of modules that nobody has named. In a unit."""
    found = syntheses.weekly(
        project=str(row.project_id or ""),
        edges=_edges(row),
        pairs=_module_pairs(row),
        known=_known_pairs(row),
        done=_done(row),
    )
    return tuple(_Due(key=key, drafts=(draft,)) for key, draft in found)


def _summary(
    module: ModuleRow,
    files: tuple[FileRow, ...],
    edges: tuple[EdgeRow, ...],
    errors: tuple[ErrorRow, ...],
) -> Summary:
    """Return what is known of one module."""
    own = tuple(one for one in files if file_paths.module(path=one.path) == module.module)
    paths = frozenset(one.path for one in own)
    return Summary(
        module=module,
        files=own,
        edges=tuple(one for one in edges if {one.first, one.second} <= paths),
        errors=tuple(
            one for one in errors if syntheses.is_of(module=module.module, error=one, paths=paths)
        ),
    )


def _done_once(caller: Caller, row: Session, due: _Due, now: datetime) -> Mapping[str, int]:
    """Store what a synthesis says and its key together; nothing where somebody has."""
    with tenancy.unit():  # before a model is paid for
        if _own(row, Kind.SYNTHESIS, keys=(_log_key(due.key),)):
            return {}
    drafted = _drafted(row, due, now)
    said = _Said(
        key=due.key,
        prepared=tuple(_prepared(caller, row, due.key, draft) for draft in drafted.drafts),
        is_of_model=drafted.is_of_model,
    )
    try:
        with tenancy.unit(), transaction.atomic():
            counts = _stored(caller, row, said, now)
    except Conflict:  # somebody stored the same between our look and our write: look again
        with tenancy.unit():
            counts = _stored(caller, row, said, now)
    return Counter(counts) + _told(drafted)


def _drafted(row: Session, due: _Due, now: datetime) -> Drafted:
    if due.summary is None:
        return Drafted(drafts=due.drafts)
    return draft_synthesis(row=row, summary=due.summary, now=now)


def _told(drafted: Drafted) -> Counter[str]:
    """Return what a call cost, what was dropped of its answer, and what was missing."""
    told = Counter({"calls": drafted.spent.calls, "tokens": drafted.spent.tokens})
    told.update({f"dropped_{name}": count for name, count in drafted.dropped.items()})
    told.update([f"degraded_{drafted.degraded}"] if drafted.degraded else [])
    return +told


def _prepared(caller: Caller, row: Session, key: Key, draft: Draft) -> Prepared | None:
    origin = f"synthesis:{key.threshold}:{key.module}"[:LONGEST_ORIGIN]
    new = NewMemory(
        content=draft.content,
        source=Source.OBSERVER_INFERRED.value,
        type=draft.type.value,
        project=None if row.project_id is None else str(row.project_id),
        scope=row.scope,
        related_files=draft.files,
        attributes=draft.attributes,
        confidence=draft.confidence,
        source_uri=origin,
        needs_review=True,
    )
    try:
        return prepare(caller=caller, new=new)
    except (InvalidInput, Forbidden):  # of this draft; the others stand
        return None


def _stored(
    caller: Caller,
    row: Session,
    said: _Said,
    now: datetime,
) -> Mapping[str, int]:
    """Write the key and what the synthesis says. In a unit."""
    logged = _log_key(said.key)
    prior_sessions.add(
        row=row, counts=(Count(kind=Kind.SYNTHESIS, key=logged, counts={"done": 1}),), now=now
    )
    first = _own(row, Kind.SYNTHESIS, keys=(logged,))
    if any(int(one.counts.get("done", 0)) > 1 for one in first):
        return {}  # who adds to one row waits for the other, so only one finds itself the first
    counts: Counter[str] = Counter({"syntheses": 1})
    bound = thresholds_of(project=row.project).novelty_cosine if said.is_of_model else SAME
    for one in said.prepared:
        if one is None:
            counts["not_storable"] += 1
        elif nearest_of(caller=caller, prepared=one) > bound:
            counts["dropped_known"] += 1
        else:
            counts[_sent(caller, one, now)] += 1
    return counts


def _sent(caller: Caller, prepared: Prepared, now: datetime) -> str:
    """Send one draft through the door; return how it ended. In a unit."""
    try:
        with transaction.atomic():
            outcome = decide(caller=caller, prepared=prepared, now=now)
            return recorded(caller=caller, outcome=outcome).outcome
    except (InvalidInput, Forbidden, NotFound):  # of this draft; the others stand
        return "not_storable"


def _log_key(key: Key) -> str:
    return counters.log_key(threshold=key.threshold, module=key.module)


def _done(row: Session) -> frozenset[Key]:
    found: set[Key] = set()
    for one in _own(row, Kind.SYNTHESIS):
        threshold, _, module = one.key.partition(":")
        found.add(Key(project=str(row.project_id or ""), module=module, threshold=int(threshold)))
    return frozenset(found)


def _known_pairs(row: Session) -> frozenset[tuple[str, str]]:
    """Return the pairs of modules that a causal dependency of the place names. In a unit."""
    rows = Memory.objects.filter(
        audience=row.audience,
        project=row.project_id,
        type=MemoryType.CAUSAL_DEPENDENCY.value,
        status=Status.ACTIVE.value,
    )
    files = rows.order_by("-created_at", "id").values_list("related_files", flat=True)
    return frozenset(pair for named in files[:MOST_KNOWN] for pair in _pairs_of(named))


def _pairs_of(files: Iterable[str]) -> set[tuple[str, str]]:
    modules = sorted({file_paths.module(path=path) for path in files})
    return {(one, other) for one in modules for other in modules if one < other}


def _own(row: Session, kind: Kind, keys: tuple[str, ...] | None = None) -> tuple[Sums, ...]:
    """Return the sums of a session's own place. In a unit."""
    which = Which(
        kind=kind.value,
        visible=statistics_queries.of_place(audience=row.audience),
        project_id=row.project_id,
        keys=keys,
    )
    return statistics_queries.read(which=which)


def _modules(row: Session) -> tuple[ModuleRow, ...]:
    found = _own(row, Kind.MODULE)
    return tuple(counters.module_row(counts=one.counts, notes=one.notes) for one in found)


def _files(row: Session) -> tuple[FileRow, ...]:
    found = _own(row, Kind.FILE)
    return tuple(counters.file_row(counts=one.counts, notes=one.notes) for one in found)


def _edges(row: Session) -> tuple[EdgeRow, ...]:
    found = _own(row, Kind.EDGE)
    return tuple(counters.edge_row(counts=one.counts, notes=one.notes) for one in found)


def _module_pairs(row: Session) -> tuple[PairRow, ...]:
    found = _own(row, Kind.PAIR)
    return tuple(counters.pair_row(counts=one.counts, notes=one.notes) for one in found)


def _errors(row: Session) -> tuple[ErrorRow, ...]:
    """Return the errors of a place whose message is known; it is forgotten with its session."""
    found = (
        counters.error_row(key=one.key, counts=one.counts, notes=one.notes)
        for one in _own(row, Kind.ERROR)
    )
    return tuple(one for one in found if one.message)
