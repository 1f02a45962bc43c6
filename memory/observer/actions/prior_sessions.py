"""What sessions of a place have shown before, and what one more adds.

A place is an audience and a project. What a personal session showed is its person's alone; what
such a session is compared with is also what the project's shared ones have shown, which its person
sees. A shared one is compared with shared ones only, so nothing personal ever speaks in it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from django.db.models import Q

from memory.observer.detect import Verdicts
from memory.observer.signal_table import SignalKind
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.sessions.models import Session
from memory.statistics import counters
from memory.statistics import queries as statistics_queries
from memory.statistics.counters import Added, Count, Kind
from memory.statistics.queries import Sums, Which
from memory.statistics.quorum import Witnessed
from memory.statistics.sql import statistics as sums
from memory.statistics.sql.statistics import Addition
from memory.taxonomy import Source

JUDGED: Final = (Verdict.KEEP.value, Verdict.EDIT.value, Verdict.MERGE.value, Verdict.REJECT.value)
MOST_VERDICTS: Final = 5_000  # the newest, ours
_KINDS: Final = {kind.value: kind for kind in SignalKind}


def origin(*, row: Session, key: str, digest: str) -> str:
    """Return the origin of what a session's signal became: the session, the signal, the case."""
    return f"session:{row.id}#{key.partition(':')[0]}-{digest}"


def seen_before(
    *, row: Session, seen: Iterable[Witnessed], own: Added
) -> Mapping[tuple[SignalKind, str], int]:
    """Return by signal how many earlier sessions showed the same. In a unit.

    `own` is what the session itself has added at an earlier end, which is no other session's.
    """
    wanted = {
        counters.signal_key(kind=one.sighting.kind.value, key=one.sighting.key): (
            one.sighting.kind,
            one.sighting.key,
        )
        for one in seen
    }
    found: Counter[tuple[SignalKind, str]] = Counter()
    for one in read(row=row, kind=Kind.SIGNAL, keys=tuple(wanted)):
        found[wanted[one.key]] += int(one.counts.get("sessions", 0))
    for key, counts in own.get(Kind.SIGNAL, {}).items():
        if key in wanted:
            found[wanted[key]] -= counts.get("sessions", 0)
    return found


def read(*, row: Session, kind: Kind, keys: tuple[str, ...] | None = None) -> tuple[Sums, ...]:
    """Return the sums that a session is compared with. In a unit."""
    audiences = {row.audience, *_shared(row)}
    which = Which(
        kind=kind.value,
        visible=Q(audience__in=audiences),
        project_id=row.project_id,
        keys=keys,
    )
    return statistics_queries.read(which=which)


def add(*, row: Session, counts: Iterable[Count], now: datetime) -> None:
    """Add to the sums of a session's place; what comes to nothing is gone. In a unit."""
    by_kind: dict[Kind, list[Addition]] = {}
    for one in counts:
        addition = Addition(
            audience=row.audience,
            project_id=row.project_id,
            key=one.key,
            counts=one.counts,
            notes=one.notes,
        )
        by_kind.setdefault(one.kind, []).append(addition)
    for kind, additions in by_kind.items():
        sums.add(kind=kind.value, additions=additions, now=now)
        less = tuple(one.key for one in additions if min(one.counts.values(), default=0) < 0)
        if less:
            sums.drop_nothing(
                kind=kind.value, audience=row.audience, project_id=row.project_id, keys=less
            )


def verdicts(*, row: Session) -> Mapping[SignalKind, Verdicts]:
    """Return by signal what people said in this place of what it became. In a unit."""
    told = ReviewVerdict.objects.filter(
        memory__audience=row.audience,
        memory__project=row.project_id,
        memory__source=Source.OBSERVER_INFERRED.value,
        verdict__in=JUDGED,
        undone_at__isnull=True,
    )
    judged: Counter[SignalKind] = Counter()
    rejected: Counter[SignalKind] = Counter()
    newest = told.order_by("-decided_at", "-id").values_list("memory__source_uri", "verdict")
    for origin_of, verdict in newest[:MOST_VERDICTS]:
        kind = _KINDS.get(origin_of.partition("#")[2].partition("-")[0])
        if kind is not None:
            judged[kind] += 1
            rejected[kind] += verdict == Verdict.REJECT
    return {kind: Verdicts(judged=judged[kind], rejected=rejected[kind]) for kind in judged}


def _shared(row: Session) -> tuple[object, ...]:
    return () if row.project_id is None else (row.project_id,)
