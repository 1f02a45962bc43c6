"""What sessions of a place have shown before, and what one more adds, as a whole and once.

A place is an audience and a project. What a personal session showed is its person's alone; what
such a session is compared with is also what the project's shared ones have shown, which its person
sees. A shared one is compared with shared ones only, so nothing personal ever speaks in it.

What a session has added stands with it. At each of its ends the sums of the whole are taken anew,
and what they are beyond that is added; so it is the same in how many pieces a session came, how
often the job ran and where it was killed, because the sums and what they hold of the session change
in one unit. With the session exactly that is taken back. A session that goes on after its events
were forgotten keeps what it added while they were known.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q

from accounts import tenancy
from memory import sql_queries
from memory.experiments.queries import GRAPH_PART, LARGEST_DAYS, WEEKLY
from memory.observer.detections import FOR_REVIEW, Sighting, SignalKind
from memory.records.models import ReviewVerdict
from memory.sessions import counter_rows, counters
from memory.sessions.actions import scratchpads
from memory.sessions.counters import Added, Count, Kind
from memory.sessions.models import Session, Statistic, Stream, Turn
from memory.taxonomy import Source, Verdict

JUDGED: Final = (Verdict.KEEP.value, Verdict.EDIT.value, Verdict.MERGE.value, Verdict.REJECT.value)
JUDGED_LEAST: Final = 10  # verdicts before their share replaces the guess; not measured
MOST_VERDICTS: Final = 5_000  # the newest; default, not measured
_SUMS: Final = "\tsums"  # under which name those who add wait for each other; no path of a note
_PLACE: Final = 1  # the sequence of the one row


def _signal_key(one: Sighting) -> str:
    """Return the key under which sessions with a signal are counted."""
    return counters.key_of(text=f"{one.kind.value}:{one.key}")


def of_signals(*, seen: Iterable[Sighting]) -> tuple[Count, ...]:
    """Return that a session showed these signals; of what is tainted only those for review."""
    keys = {_signal_key(one) for one in seen if not one.reason or one.kind in FOR_REVIEW}
    return tuple(Count(kind=Kind.SIGNAL, key=key, counts={"sessions": 1}) for key in sorted(keys))


def seen_before(
    *, row: Session, seen: Iterable[Sighting], own: Added
) -> Mapping[tuple[SignalKind, str], int]:
    """Return by signal how many earlier sessions showed the same. In a unit.

    `own` is what the session itself has added at an earlier end, which is no other session's.
    """
    wanted = {_signal_key(one): (one.kind, one.key) for one in seen}
    found: Counter[tuple[SignalKind, str]] = Counter()
    for one in read(row=row, kind=Kind.SIGNAL, keys=tuple(wanted), is_compared=True):
        found[wanted[one.key]] += int(one.counts.get("sessions", 0))
    for key, counts in own.get(Kind.SIGNAL, {}).items():
        if key in wanted:
            found[wanted[key]] -= int(counts.get("sessions", 0))
    return found


def read(
    *, row: Session, kind: Kind, keys: tuple[str, ...] | None = None, is_compared: bool = False
) -> tuple[Statistic, ...]:
    """Return the sums of a session's place, or all that it is compared with. In a unit."""
    shared = (row.project_id,) if is_compared and row.project_id is not None else ()
    return counter_rows.read(
        kind=kind.value,
        visible=Q(audience__in={row.audience, *shared}),
        project_id=row.project_id,
        keys=keys,
    )


def add(*, row: Session, counts: Iterable[Count], now: datetime) -> None:
    """Add to the sums of a session's place; what comes to nothing is gone. In a unit."""
    place: Any = {"audience": row.audience, "project_id": row.project_id}
    every = [replace(one, **place) for one in counts]
    counter_rows.add(counts=every, now=now)
    less = [one for one in every if min(one.counts.values()) < 0]
    if less:
        counter_rows.drop_zeros(counts=less, **place)


def rejected_shares(*, row: Session) -> Mapping[SignalKind, float]:
    """Return by signal the share that people rejected in this place of what it became. In a unit.

    Only of signals of which enough was judged to take the place of a guess.
    """
    told = ReviewVerdict.objects.filter(
        memory__audience=row.audience,
        memory__project=row.project_id,
        memory__source=Source.OBSERVER_INFERRED.value,
        verdict__in=JUDGED,
        undone_at__isnull=True,
    )
    judged: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    newest = told.order_by("-decided_at", "-id").values_list("memory__source_uri", "verdict")
    for origin, verdict in newest[:MOST_VERDICTS]:
        name = origin.partition("#")[2].partition("-")[0]
        judged[name] += 1
        rejected[name] += verdict == Verdict.REJECT
    return {
        kind: rejected[kind] / judged[kind] for kind in SignalKind if judged[kind] >= JUDGED_LEAST
    }


def added_by(*, row: Session) -> Added:
    """Return what the sums of its place hold of a session. In a unit."""
    return Turn.counted.filter(session=row).values_list("body", flat=True).first() or {}


def count_session(*, row: Session, counts: Iterable[Count], now: datetime) -> bool:
    """Bring the sums to hold these counts of a held session; say whether that changed them."""
    before = added_by(row=row)
    if before and scratchpads.is_cut(row=row):  # nothing more can be told of it as a whole
        return False
    every = tuple(counts)
    steps = counters.beyond(counts=every, before=before)
    _add_in_turn(row, steps, now)
    Turn.counted.update_or_create(
        session=row,
        stream=Stream.COUNTED,
        sequence=_PLACE,
        defaults={"role": "", "text": "", "body": counters.added(counts=every), "at": now},
    )
    return bool(steps)


def take_back(*, row: Session, now: datetime) -> None:
    """Take out of the sums all that a held session has added. In a unit."""
    _add_in_turn(row, counters.beyond(counts=(), before=added_by(row=row)), now)
    Turn.counted.filter(session=row).delete()


def _add_in_turn(row: Session, steps: tuple[Count, ...], now: datetime) -> None:
    """Add in the place of a session, one after the other: deletions touch rows of others too."""
    if steps:
        sql_queries.hold_path(audience=row.audience, project_id=row.project_id, path=_SUMS)
        add(row=row, counts=steps, now=now)


def forget_counted(*, now: datetime) -> int:
    """Delete the sums of days and weeks that no report reaches back to; return how many."""
    with tenancy.unit():
        first = now.date() - timedelta(days=LARGEST_DAYS)
        deleted, _ = Statistic.objects.filter(kind__in=(GRAPH_PART, WEEKLY), day__lt=first).delete()
        return deleted
