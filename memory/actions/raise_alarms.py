"""Raise an alarm where somebody may try to plant a memory; nobody is held up by it (spec 4.3).

Every few minutes what agents and imports have written since the last look is read: what orders,
names an address or a command, and what came many times in nearly the same words from one writer. A
memory that takes most of what a week's sessions of a project were given is one more. An alarm is
kept in the place of its memory, in the audit log, and told to stewards who see that memory; what
came in a burst, and a content that rings twice, as an order with an address, waits for review from
then on, so agents are not given it. What a person has vouched for rings nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts import audit as origins
from accounts import tenancy
from memory.actions import store
from memory.actions.switching import INSTALLATION
from memory.models import GivenOut, Memory, Statistic
from memory.observer import alarms
from memory.observer.alarms import Alarm, Written
from memory.queries.alarms import BURST, DOMINANT, KIND
from memory.sql import statistics as sums
from memory.sql.statistics import Addition
from memory.taxonomy import Source, Status
from teams import audit

LOOK: Final = "alarm_look"  # the kind of the statistic that says how far was looked
THROUGH: Final = "through"
OVERLAP: Final = timedelta(minutes=10)  # as long as a burst; also what was being written meanwhile
FIRST_LOOK: Final = timedelta(hours=1)  # back, of the first look of all; ours
MOST: Final = 2_000  # memories of one look, the oldest; the next one goes on there; ours
WEEK: Final = timedelta(days=7)
MOST_GIVEN: Final = 1_000  # memories of a week that are weighed, those given most; ours
OF_CONTENT: Final = frozenset(alarm.value for alarm in Alarm)
HELD_FROM: Final = 2  # alarms of one content: an order alone may be good advice; ours
ACTOR: Final = origins.Person(user_id=None, source_interface=INSTALLATION)
BY_MACHINES: Final = ~Q(author_agent="") | Q(author_user=None) | Q(source=Source.IMPORT.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """What a look came to: memories read, alarms raised, memories that wait for review now."""

    memories: int
    alarms: int
    held: int


def raise_alarms(*, now: datetime) -> Raised:
    """Look at what was written in the entered organization since the last look."""
    with tenancy.unit():
        since = _since(now)
        rows = tuple(_written(since - OVERLAP).order_by("created_at", "id")[:MOST])
        found = _ringing(rows)
        for memory_id in _dominant(now):
            found[memory_id].add(DOMINANT)
        fresh = _fresh(found)
        held = _raise(fresh, {one for one in fresh if _must_wait(found[one])}, now) if fresh else 0
        _looked(rows[-1].created_at if len(rows) == MOST else now, since, now)
    return Raised(memories=len(rows), alarms=sum(map(len, fresh.values())), held=held)


def _written(since: datetime) -> QuerySet[Memory]:
    """Return what machines wrote and no person has vouched for."""
    return Memory.objects.filter(
        BY_MACHINES, status=Status.ACTIVE.value, created_at__gte=since, user_verified=False
    )


def _ringing(rows: Iterable[Memory]) -> defaultdict[UUID, set[str]]:
    """Return by memory what rings, of its words and of those written beside it by its writer."""
    found: defaultdict[UUID, set[str]] = defaultdict(set)
    writers: defaultdict[tuple[object, ...], list[Written]] = defaultdict(list)
    for row in rows:
        for alarm in alarms.of_content(content=row.content):
            found[row.id].add(alarm.value)
        if row.source == Source.IMPORT:
            continue  # somebody brought them together
        writer = (row.audience, row.project_id, row.author_user, row.author_agent)
        at = row.created_at.timestamp()
        writers[writer].append(Written(id=row.id, at_seconds=at, content=row.content))
    for written in writers.values():
        for memory_id in alarms.burst(written=written):
            found[memory_id].add(BURST)
    return found


def _dominant(now: datetime) -> tuple[UUID, ...]:
    """Return the memory of each project that takes most of what its sessions were given."""
    given = GivenOut.objects.filter(session_id__isnull=False, at__gte=now - WEEK)
    counts = given.order_by().values("memory_id").annotate(times=Count("pk"))
    most = {one["memory_id"]: one["times"] for one in counts.order_by("-times")[:MOST_GIVEN]}
    places = Memory.objects.filter(pk__in=most, status=Status.ACTIVE.value).order_by()
    by_project: defaultdict[UUID | None, dict[UUID, int]] = defaultdict(dict)
    for memory_id, project_id in places.values_list("id", "project_id"):
        by_project[project_id][memory_id] = most[memory_id]
    found = (alarms.dominant(given_out=one) for one in by_project.values())
    named = tuple(one for one in found if one is not None)
    kept = Memory.objects.filter(pk__in=named, user_verified=False).order_by("id")
    return tuple(kept.values_list("id", flat=True))


def _fresh(found: Mapping[UUID, set[str]]) -> dict[UUID, set[str]]:
    """Return what has not been raised before."""
    keys = tuple(str(one) for one in found)
    kept = Statistic.objects.filter(kind=KIND, key__in=keys).order_by()
    known = {key: set(counts) for key, counts in kept.values_list("key", "counts")}
    fresh = {one: rings - known.get(str(one), set()) for one, rings in found.items()}
    return {one: rings for one, rings in fresh.items() if rings}


def _must_wait(rings: set[str]) -> bool:
    """Say whether agents are not given a memory any more until a person has looked at it."""
    return BURST in rings or len(rings & OF_CONTENT) >= HELD_FROM


def _raise(fresh: Mapping[UUID, set[str]], waiting: set[UUID], now: datetime) -> int:
    """Keep alarms, tell the log of them, hold what must wait; return how many that are."""
    rows = Memory.objects.select_for_update().filter(pk__in=fresh).order_by("id")
    held = 0
    additions: list[Addition] = []
    for row in rows:
        rings = fresh[row.id]
        counts = dict.fromkeys(sorted(rings), 1)
        additions.append(
            Addition(
                audience=row.audience, project_id=row.project_id, key=str(row.id), counts=counts
            )
        )
        if row.id in waiting and not row.needs_review:
            row.needs_review = True
            store.save(row=row, fields=("needs_review",), now=now)
            held += 1
    sums.add(kind=KIND, additions=additions, now=now)
    told: defaultdict[str, list[str]] = defaultdict(list)
    for memory_id, rings in sorted(fresh.items()):
        for alarm in sorted(rings):
            told[alarm].append(str(memory_id))
    _note(told)
    return held


def _note(told: Mapping[str, Any]) -> None:
    audit.append(
        act="memory.bulk_alarmed",
        object_type="memory",
        object_id="",
        caller=ACTOR,
        details=dict(told),
    )


def _since(now: datetime) -> datetime:
    kept = Statistic.objects.filter(
        kind=LOOK, audience=tenancy.current().organization_id, project_id=None, key=LOOK
    )
    counts = kept.order_by().values_list("counts", flat=True).first()
    if counts is None:
        return now - FIRST_LOOK
    return datetime.fromisoformat(counts[sums.NOTES][THROUGH])


def _looked(through: datetime, since: datetime, now: datetime) -> None:
    """Put down how far was looked; where nothing could be passed, the next look goes on anyway."""
    here = Addition(
        audience=tenancy.current().organization_id,
        project_id=None,
        key=LOOK,
        counts={"looks": 1},
        notes={THROUGH: max(through, since).isoformat()},
    )
    sums.add(kind=LOOK, additions=(here,), now=now)
