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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, Forbidden, InvalidInput
from memory.extraction import actions as extraction
from memory.extraction import model_answers
from memory.intake.actions.remember import NewMemory, Prepared, prepare
from memory.intake.actions.similar_memories import is_known, thresholds_of
from memory.observer import syntheses
from memory.observer.actions import offers, prior_sessions
from memory.records.models import Memory
from memory.secrets import scanner
from memory.sessions import counters, file_paths
from memory.sessions import queries as sessions
from memory.sessions.models import Session, Statistic
from memory.taxonomy import MemoryType, Source, Status

JOB: Final = "memory.synthesize"
LONGEST_ORIGIN: Final = 500  # characters, the column's
MOST_KNOWN: Final = 2_000  # causal dependencies of a place that are looked at; not measured
ANY_COSINE: Final = 2.0  # above every cosine: a template is novel whatever is known
OUTPUT_TOKENS_EACH: Final = 200  # of an answer about a memory; default, not measured


def queue(*, row: Session, modules: tuple[str, ...]) -> None:
    """Queue the syntheses that a session has made due for these modules. In a unit."""
    done = _done(row)
    touched = (one for one in _rows(row, counters.ModuleRow) if one.module in modules)
    if any(syntheses.due(module=one, done=done) for one in touched):
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
        due: Iterable[tuple[str, syntheses.Summary | syntheses.SumStatement]]
        due = _pairs(row) if is_weekly else tuple(_thresholds(row))
    counts: Counter[str] = Counter()
    for key, what in due:
        counts.update(_done_once(caller, row, key, what, now))
    return counts


def _enqueue(row: Session, *, is_weekly: bool) -> None:
    jobs.enqueue(
        JOB,
        payload={"ids": [str(row.id)], "weekly": is_weekly},
        key=f"{row.audience.hex}:{row.project_id.hex if row.project_id else ''}:{is_weekly}",
        created_by=row.opened_by or row.token_id,
    )


def _thresholds(row: Session) -> Iterator[tuple[str, syntheses.Summary]]:
    """Yield what the modules of a place make due. In a unit."""
    done = _done(row)
    files, edges = _rows(row, counters.FileRow), _rows(row, counters.EdgeRow)
    errors = _rows(row, counters.ErrorRow)
    for module in _rows(row, counters.ModuleRow):
        if key := syntheses.due(module=module, done=done):
            yield key, syntheses.summarize(module=module, files=files, edges=edges, errors=errors)


def _pairs(row: Session) -> tuple[tuple[str, syntheses.SumStatement], ...]:
    """Return the pairs of modules that no causal dependency of the place names. In a unit."""
    rows = Memory.objects.filter(
        audience=row.audience,
        project=row.project_id,
        type=MemoryType.CAUSAL_DEPENDENCY.value,
        status=Status.ACTIVE.value,
    )
    files = rows.order_by("-created_at", "id").values_list("related_files", flat=True)
    named: set[tuple[str, str]] = set()
    for paths in files[:MOST_KNOWN]:
        modules = sorted({file_paths.module(path=path) for path in paths})
        named.update(combinations(modules, 2))
    return syntheses.weekly(
        edges=_rows(row, counters.EdgeRow),
        pairs=_rows(row, counters.PairRow),
        known=frozenset(named),
        done=_done(row),
    )


def _done_once(
    caller: Caller,
    row: Session,
    key: str,
    what: syntheses.Summary | syntheses.SumStatement,
    now: datetime,
) -> Mapping[str, int]:
    """Store what a synthesis says and its key together; nothing where somebody has."""
    with tenancy.unit():  # before a model is paid for
        if prior_sessions.read(row=row, kind=counters.Kind.SYNTHESIS, keys=(key,)):
            return {}
    if isinstance(what, syntheses.Summary):
        drafts, told, is_of_model = draft_synthesis(row=row, summary=what, now=now)
    else:
        drafts, told, is_of_model = (what,), Counter(), False
    prepared = tuple(_prepared(caller, row, key, draft) for draft in drafts)
    bound = thresholds_of(project=row.project).novelty_cosine if is_of_model else ANY_COSINE
    try:
        with tenancy.unit(), transaction.atomic():
            counts = _stored(caller, row, key, prepared, bound, now)
    except Conflict:  # somebody stored the same between our look and our write: look again
        with tenancy.unit():
            counts = _stored(caller, row, key, prepared, bound, now)
    return Counter(counts) + told


def draft_synthesis(
    *, row: Session, summary: syntheses.Summary, now: datetime
) -> tuple[tuple[syntheses.SumStatement, ...], Counter[str], bool]:
    """Return what the sums of a module justify, with at most one call of a model.

    Beside the drafts: what the call cost, was dropped and missing, and whether a model speaks.
    """
    templates = syntheses.of_module(summary=summary)
    told = syntheses.facts(summary=summary)
    allowance = _allowance(row, now)
    if not told or allowance.mode is extraction.Mode.HEURISTIC:
        return templates, Counter(), False
    tenant = tenancy.current().schema_name
    missing, model = extraction.model_for(allowance=allowance, tenant=tenant)
    if model is None:
        return templates, Counter([f"degraded_{missing}"]), False
    nonce = secrets.token_hex(extraction.NONCE_BYTES)
    data, spent = extraction.ask(
        model=model,
        question=model_answers.SYNTHESIZE,
        nonce=nonce,
        text=syntheses.written_facts(module=summary.module.module, told=told, nonce=nonce),
        max_output_tokens=OUTPUT_TOKENS_EACH * (syntheses.DRAFTS_MOST + 1),
        most_calls=allowance.most_calls,
    )
    extraction.book(session_id=row.id, spent=spent, now=now)
    counts = Counter({"calls": spent.calls, "tokens": spent.tokens})
    if data is None:
        counts[f"degraded_{extraction.Degraded.MODEL_FAILED.value}"] += 1
        return templates, +counts, False
    found, dropped = syntheses.read_drafts(data=data, told=told)
    drafts = tuple(one for one in found if not scanner.find_secrets(text=one.content))
    dropped["secret"] += len(found) - len(drafts)
    counts.update({f"dropped_{name}": count for name, count in dropped.items()})
    is_of_model = bool(drafts) or not +dropped
    return (drafts if is_of_model else templates), +counts, is_of_model


def _allowance(row: Session, now: datetime) -> extraction.Allowance:
    """Return what a synthesis may spend, and whether the sums may leave. Opens a unit."""
    with tenancy.unit():
        held = Session.objects.select_related("project").get(pk=row.pk)
        allowance = extraction.of_session(row=held, now=now)
        if row.audience == row.opened_by:  # the sums of a person hold all of their sessions
            own = Session.objects.filter(audience=row.audience, project=row.project_id)
            kept = own.filter(finalized_at__isnull=False, models_agreed=False).exists()
            allowance = replace(allowance, may_leave=allowance.may_leave and not kept)
    return allowance


def _prepared(
    caller: Caller, row: Session, key: str, draft: syntheses.SumStatement
) -> Prepared | None:
    new = NewMemory(
        content=draft.content,
        source=Source.OBSERVER_INFERRED.value,
        type=draft.type.value,
        project=None if row.project_id is None else str(row.project_id),
        scope=row.scope,
        related_files=draft.files,
        attributes=draft.attributes,
        confidence=syntheses.CONFIDENCE,
        source_uri=f"synthesis:{key}"[:LONGEST_ORIGIN],
        needs_review=True,
    )
    try:
        return prepare(caller=caller, new=new)
    except (InvalidInput, Forbidden):  # of this draft; the others stand
        return None


def _stored(
    caller: Caller,
    row: Session,
    key: str,
    prepared: tuple[Prepared | None, ...],
    bound: float,
    now: datetime,
) -> Mapping[str, int]:
    """Write the key and what the synthesis says; None is what cannot be stored. In a unit."""
    done = counters.Count(kind=counters.Kind.SYNTHESIS, key=key, counts={"done": 1})
    prior_sessions.add(row=row, counts=(done,), now=now)
    first = prior_sessions.read(row=row, kind=counters.Kind.SYNTHESIS, keys=(key,))
    if any(int(one.counts.get("done", 0)) > 1 for one in first):
        return {}  # who adds to one row waits for the other, so only one finds itself the first
    counts: Counter[str] = Counter({"syntheses": 1})
    for one in prepared:
        if one is not None and is_known(
            caller=caller, new=one.checked.new, embedded=one.embedded, above=bound
        ):
            counts["dropped_known"] += 1
            continue
        outcome = None if one is None else offers.decided(caller=caller, prepared=one, now=now)
        counts["not_storable" if outcome is None else outcome.outcome] += 1
    return counts


def _done(row: Session) -> frozenset[str]:
    """Return the keys that the log of a place holds. In a unit."""
    found = prior_sessions.read(row=row, kind=counters.Kind.SYNTHESIS)
    return frozenset(one.key for one in found)


def _rows(row: Session, type: type[counters.OfRow]) -> tuple[counters.OfRow, ...]:
    """Return a table of a session's own place. In a unit."""
    found = prior_sessions.read(row=row, kind=counters.KIND_OF[type])
    return counters.rows_of(type=type, sums=found)
