"""Memories that only many sessions together justify, for review.

A module's 5th, 10th, 20th, 50th and 100th session makes a synthesis over its sums due; once a week
the pairs of modules that go together and that no causal dependency names are looked for. Each is
done once: the unit that stores what it says writes its key into the log, and a second one finds it
there. Nothing tainted is in the sums, and what is said stands in the place whose sessions showed
it.

What is said comes from one call of a model over the sums of a module, outside of a unit, within
what the session that made it due and the month may spend; only what is novel is kept of it. The
sums are those of the session's own place, so nobody is told what others did for themselves; those
of one person reach a model elsewhere only where they agreed for each session that is counted there.
Without a model, and whatever goes wrong with one, templates speak over strong sums, and the job
says so.
"""

import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, Forbidden, InvalidInput
from memory.extraction.actions import extraction
from memory.extraction.prompts import schemas
from memory.intake.actions.remember import NewMemory, Prepared, prepare
from memory.intake.actions.similar_memories import nearest_cosine, thresholds_of
from memory.observer import syntheses
from memory.observer.actions import offers, phrase_signals, prior_sessions
from memory.records.models import Memory
from memory.secrets import scanner
from memory.sessions import counters, file_paths
from memory.sessions import queries as sessions
from memory.sessions.models import Session, Statistic
from memory.taxonomy import MemoryType, Source, Status

JOB: Final = "memory.synthesize"
LONGEST_ORIGIN: Final = 500  # characters, the column's
MOST_KNOWN: Final = 2_000  # causal dependencies of a place that are looked at; not measured
OUTPUT_TOKENS_EACH: Final = 200  # of an answer about a memory; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """A synthesis that is to be done: over the sums of a module, or with what it says."""

    key: syntheses.Key
    summary: syntheses.Summary | None = None
    drafts: tuple[syntheses.Draft, ...] = ()


def queue(*, row: Session, modules: tuple[str, ...]) -> None:
    """Queue the syntheses that a session has made due for these modules. In a unit."""
    done = _done(row)
    touched = {module.module: module for module in _rows(row, counters.ModuleRow)}
    due = (syntheses.due(module=touched[name], done=done) for name in modules if name in touched)
    if any(key is not None for key in due):
        _enqueue(row, is_weekly=False)


def queue_weekly() -> int:
    """Queue the search for pairs in each place of the entered organization; return how many."""
    with tenancy.unit():
        edges = Statistic.objects.filter(kind=counters.Kind.EDGE.value).order_by()
        queued = 0
        for audience, project_id in edges.values_list("audience", "project_id").distinct():
            rows = Session.objects.filter(
                audience=audience, project=project_id, finalized_at__isnull=False
            )
            newest = rows.order_by("-opened_at", "id").first()  # in whose opener's name
            if newest is not None:
                _enqueue(newest, is_weekly=True)
                queued += 1
    return queued


def synthesize(*, session_id: UUID, is_weekly: bool, now: datetime) -> Mapping[str, Any]:
    """Do what is due in the place of a session, in its opener's name; return the counts.

    Raises PermanentFailure when they are gone, may not write or do not see its project.
    """
    with tenancy.unit():
        row = Session.objects.select_related("project").filter(pk=session_id).first()
        if row is None:
            return {"gone": 1}
        caller = sessions.opener_of(row=row, now=now)
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


def _thresholds(row: Session) -> tuple[_Due, ...]:
    """Return what the modules of a place make due. In a unit."""
    done = _done(row)
    files, edges = _rows(row, counters.FileRow), _rows(row, counters.EdgeRow)
    errors = tuple(
        one for one in _rows(row, counters.ErrorRow) if one.message
    )  # else it is forgotten
    found: list[_Due] = []
    for module in _rows(row, counters.ModuleRow):
        key = syntheses.due(module=module, done=done)
        if key is None:
            continue
        name = module.module
        own = tuple(one for one in files if file_paths.module(path=one.path) == name)
        paths = frozenset(one.path for one in own)
        summary = syntheses.Summary(
            module=module,
            files=own,
            edges=tuple(one for one in edges if {one.first, one.second} <= paths),
            errors=tuple(
                one for one in errors if syntheses.is_of(module=name, error=one, paths=paths)
            ),
        )
        found.append(_Due(key=key, summary=summary))
    return tuple(found)


def _pairs(row: Session) -> tuple[_Due, ...]:
    """Return the pairs of modules that nobody has named. In a unit."""
    found = syntheses.weekly(
        edges=_rows(row, counters.EdgeRow),
        pairs=_rows(row, counters.PairRow),
        known=_known_pairs(row),
        done=_done(row),
    )
    return tuple(_Due(key=key, drafts=(draft,)) for key, draft in found)


def _done_once(caller: Caller, row: Session, due: _Due, now: datetime) -> Mapping[str, int]:
    """Store what a synthesis says and its key together; nothing where somebody has."""
    with tenancy.unit():  # before a model is paid for
        if prior_sessions.read(row=row, kind=counters.Kind.SYNTHESIS, keys=(_log_key(due.key),)):
            return {}
    drafts, told, is_of_model = due.drafts, Counter[str](), False
    if due.summary is not None:
        drafts, told, is_of_model = draft_synthesis(row=row, summary=due.summary, now=now)
    prepared = tuple(_prepared(caller, row, due.key, draft) for draft in drafts)
    bound = thresholds_of(project=row.project).novelty_cosine if is_of_model else offers.SAME
    try:
        with tenancy.unit(), transaction.atomic():
            counts = _stored(caller, row, due.key, prepared, bound, now)
    except Conflict:  # somebody stored the same between our look and our write: look again
        with tenancy.unit():
            counts = _stored(caller, row, due.key, prepared, bound, now)
    return Counter(counts) + told


def draft_synthesis(
    *, row: Session, summary: syntheses.Summary, now: datetime
) -> tuple[tuple[syntheses.Draft, ...], Counter[str], bool]:
    """Return what the sums of a module justify, with at most one call of a model.

    Beside the drafts: what the call cost, was dropped and missing, and whether a model speaks.
    """
    templates = syntheses.of_module(summary=summary)
    told = syntheses.facts(summary=summary)
    with tenancy.unit():
        held = Session.objects.select_related("project").get(pk=row.pk)
        allowance = extraction.of_session(row=held, now=now)
        if row.audience == row.opened_by:  # the sums of a person hold all of their sessions
            own = Session.objects.filter(audience=row.audience, project=row.project_id)
            kept = own.filter(finalized_at__isnull=False, models_agreed=False).exists()
            allowance = replace(allowance, may_leave=allowance.may_leave and not kept)
    if not told or allowance.mode is extraction.Mode.HEURISTIC:
        return templates, Counter(), False
    tenant = tenancy.current().schema_name
    missing, model = extraction.model_for(allowance=allowance, tenant=tenant)
    if model is None:
        degraded = [] if missing is None else [f"degraded_{missing.value}"]
        return templates, Counter(degraded), False
    nonce = secrets.token_hex(extraction.NONCE_BYTES)
    module = summary.module.module
    data, spent = phrase_signals.ask(
        model=model,
        prompt="synthesize",
        nonce=nonce,
        text=syntheses.written_facts(module=module, told=told, nonce=nonce),
        schema=("syntheses", schemas.SYNTHESIZE, schemas.SYNTHESIZE_LEAST),
        max_output_tokens=OUTPUT_TOKENS_EACH * (syntheses.DRAFTS_MOST + 1),
    )
    extraction.book(session_id=row.id, spent=spent, now=now)
    counts = Counter({"calls": spent.calls, "tokens": spent.tokens})
    if data is None:
        counts[f"degraded_{extraction.Degraded.MODEL_FAILED.value}"] += 1
        return templates, +counts, False
    found, dropped = syntheses.read_drafts(data=data, told=told)
    drafts = tuple(one for one in found if not scanner.find_secrets(text=one.content))
    dropped["secret"] += len(found) - len(drafts)
    dropped = +dropped
    counts.update({f"dropped_{name}": count for name, count in dropped.items()})
    is_of_model = bool(drafts) or not dropped
    return (drafts if is_of_model else templates), +counts, is_of_model


def _prepared(
    caller: Caller, row: Session, key: syntheses.Key, draft: syntheses.Draft
) -> Prepared | None:
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
    key: syntheses.Key,
    prepared: tuple[Prepared | None, ...],
    bound: float,
    now: datetime,
) -> Mapping[str, int]:
    """Write the key and what the synthesis says; None is what cannot be stored. In a unit."""
    logged = _log_key(key)
    done = counters.Count(kind=counters.Kind.SYNTHESIS, key=logged, counts={"done": 1})
    prior_sessions.add(row=row, counts=(done,), now=now)
    first = prior_sessions.read(row=row, kind=counters.Kind.SYNTHESIS, keys=(logged,))
    if any(int(one.counts.get("done", 0)) > 1 for one in first):
        return {}  # who adds to one row waits for the other, so only one finds itself the first
    counts: Counter[str] = Counter({"syntheses": 1})
    for one in prepared:
        if one is not None and (
            nearest_cosine(caller=caller, new=one.checked.new, embedded=one.embedded) > bound
        ):
            counts["dropped_known"] += 1
            continue
        outcome = None if one is None else offers.decided(caller=caller, prepared=one, now=now)
        counts["not_storable" if outcome is None else outcome.outcome] += 1
    return counts


def _log_key(key: syntheses.Key) -> str:
    return counters.key_of(text=f"{key.threshold}:{key.module}")


def _done(row: Session) -> frozenset[syntheses.Key]:
    found = prior_sessions.read(row=row, kind=counters.Kind.SYNTHESIS)
    parts = (one.key.partition(":") for one in found)
    return frozenset(
        syntheses.Key(module=module, threshold=int(number)) for number, _, module in parts
    )


def _known_pairs(row: Session) -> frozenset[tuple[str, str]]:
    """Return the pairs of modules that a causal dependency of the place names. In a unit."""
    rows = Memory.objects.filter(
        audience=row.audience,
        project=row.project_id,
        type=MemoryType.CAUSAL_DEPENDENCY.value,
        status=Status.ACTIVE.value,
    )
    files = rows.order_by("-created_at", "id").values_list("related_files", flat=True)
    named: set[tuple[str, str]] = set()
    for paths in files[:MOST_KNOWN]:
        modules = {file_paths.module(path=path) for path in paths}
        named |= {(one, other) for one in modules for other in modules if one < other}
    return frozenset(named)


def _rows(row: Session, type: type[counters.OfRow]) -> tuple[counters.OfRow, ...]:
    """Return a table of a session's own place. In a unit."""
    found = prior_sessions.read(row=row, kind=counters.KIND_OF[type])
    return counters.rows_of(type=type, sums=found)
