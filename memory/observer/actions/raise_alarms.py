"""Raise an alarm where somebody may try to plant a memory; nobody is held up by it.

Every few minutes what agents and imports have written or changed since the last look is read: what
orders, names an address or a command, and what came many times in nearly the same words from one
writer. The change feed says what that is: it is in the order of commit, so neither what a long
import wrote at one moment nor what was committed late is passed over. A memory that takes most of
what a week's sessions of a project were given is one more. An alarm is kept in the place of its
memory, in the audit log, and told to stewards who see that memory; what came in a burst, and a
content that rings twice, as an order with an address, waits for review from then on, so agents are
not given it. What a person has vouched for rings nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from accounts import audit as origins
from accounts import tenancy
from memory.index.actions.model_switch import INSTALLATION
from memory.intake import planting_alarms
from memory.intake.planting_alarms import Alarm, Written
from memory.records import writes
from memory.records.models import Memory, MemoryVersion
from memory.review.queries.overview import ALARM, ALARM_BURST, ALARM_DOMINANT
from memory.sessions.models import GivenOut, Statistic
from memory.sessions.sql import counters
from memory.sessions.sql.counters import Addition
from memory.taxonomy import Source, Status
from teams import audit
from teams.models import Change

LOOK: Final = "alarm_look"  # the kind of the statistic that says how far was looked
AFTER: Final = "after"  # the last entry of the change feed that was read
AROUND: Final = timedelta(minutes=10)  # as long as a burst
FIRST_LOOK: Final = timedelta(hours=1)  # back, of the first look of all; ours
PAGE: Final = 2_000  # entries of the feed that are read at once; ours
PAGES: Final = 10  # of one look; the next one goes on there; ours
CREATED: Final = "memory.created"
WEEK: Final = timedelta(days=7)
MOST_GIVEN: Final = 1_000  # memories of a week that are weighed, those given most; ours
OF_CONTENT: Final = frozenset(alarm.value for alarm in Alarm)
ACTOR: Final = origins.Person(user_id=None, source_interface=INSTALLATION)
BY_MACHINES: Final = ~Q(author_agent="") | Q(author_user=None) | Q(source=Source.IMPORT.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """What a look came to: memories read, alarms raised, memories that wait for review now."""

    memories: int
    alarms: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """Entries of the feed in their order: all memories named, and those written or changed so."""

    last: int
    named: frozenset[UUID]
    created: frozenset[UUID]
    by_agents: frozenset[UUID]


def raise_alarms(*, now: datetime) -> Raised:
    """Look at what was written in the entered organization since the last look, page by page."""
    seen = alarms_raised = held = 0
    for _ in range(PAGES):
        with tenancy.unit():
            page = _page(_after(now))
            if page is None:
                break
            rows = tuple(_written(page).order_by("id"))
            one = _raised(_ringing(rows, page), now)
            _looked(page.last, now)
        seen, alarms_raised, held = seen + len(rows), alarms_raised + one[0], held + one[1]
    with tenancy.unit():
        last = _raised(defaultdict(set, {one: {ALARM_DOMINANT} for one in _dominant(now)}), now)
    return Raised(memories=seen, alarms=alarms_raised + last[0], held=held + last[1])


def _page(after: int) -> _Page | None:
    """Return what the feed says of memories behind an entry, the oldest first."""
    entries = Change.objects.filter(id__gt=after, kind__startswith="memory.").order_by("id")
    read = tuple(entries.values_list("id", "object_id", "kind", "actor_name")[:PAGE])
    if not read:
        return None
    return _Page(
        last=read[-1][0],
        named=frozenset(named for _, named, _, _ in read),
        created=frozenset(named for _, named, kind, _ in read if kind == CREATED),
        by_agents=frozenset(named for _, named, _, agent in read if agent),
    )


def _written(page: _Page) -> QuerySet[Memory]:
    """Return what of it machines wrote, in whole or over a person, and nobody has vouched for."""
    others = MemoryVersion.objects.filter(memory_id=OuterRef("pk")).exclude(changed_agent="")
    is_rewritten = Q(Exists(others.exclude(content=OuterRef("content"))), pk__in=page.by_agents)
    return _unvouched().filter(BY_MACHINES | is_rewritten, pk__in=page.named)


def _unvouched() -> QuerySet[Memory]:
    return Memory.objects.filter(status=Status.ACTIVE.value, user_verified=False)


def _ringing(rows: Iterable[Memory], page: _Page) -> defaultdict[UUID, set[str]]:
    """Return by memory what rings, of its words and of those written beside it by its writer."""
    found: defaultdict[UUID, set[str]] = defaultdict(set)
    for row in rows:
        for alarm in planting_alarms.of_content(content=row.content):
            found[row.id].add(alarm.value)
    writers: defaultdict[tuple[object, ...], list[Written]] = defaultdict(list)
    for row in _with_same_writers([row for row in rows if row.id in page.created]):
        writer = (row.audience, row.project_id, row.author_user, row.author_agent)
        at = row.created_at.timestamp()
        writers[writer].append(Written(id=row.id, at_seconds=at, content=row.content))
    for written in writers.values():
        for memory_id in planting_alarms.burst(written=written):
            found[memory_id].add(ALARM_BURST)
    return found


def _with_same_writers(created: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return new memories with what their writers wrote around them; imports are no burst."""
    fresh = [row for row in created if row.source != Source.IMPORT]
    if not fresh:
        return ()
    moments = [row.created_at for row in fresh]
    beside = _unvouched().filter(
        BY_MACHINES,
        created_at__range=(min(moments) - AROUND, max(moments) + AROUND),
        author_agent__in={row.author_agent for row in fresh},
    )
    others = beside.exclude(source=Source.IMPORT.value).exclude(pk__in=[row.id for row in fresh])
    return (*fresh, *others.order_by("-created_at", "id")[:PAGE])


def _raised(found: Mapping[UUID, set[str]], now: datetime) -> tuple[int, int]:
    """Raise what rings and has not before; return how many alarms, and how many are held."""
    fresh = _fresh(found)
    if not fresh:
        return 0, 0
    return _raise(fresh, {one for one in fresh if _must_wait(found[one])}, now)


def _dominant(now: datetime) -> tuple[UUID, ...]:
    """Return the memory of each project that takes most of what its sessions were given."""
    given = GivenOut.objects.filter(session_id__isnull=False, at__gte=now - WEEK)
    counts = given.order_by().values("memory_id").annotate(times=Count("pk"))
    most = {one["memory_id"]: one["times"] for one in counts.order_by("-times")[:MOST_GIVEN]}
    places = Memory.objects.filter(pk__in=most, status=Status.ACTIVE.value).order_by()
    by_project: defaultdict[UUID | None, dict[UUID, int]] = defaultdict(dict)
    for memory_id, project_id in places.values_list("id", "project_id"):
        by_project[project_id][memory_id] = most[memory_id]
    found = (planting_alarms.dominant(given_out=one) for one in by_project.values())
    named = tuple(one for one in found if one is not None)
    kept = Memory.objects.filter(pk__in=named, user_verified=False).order_by("id")
    return tuple(kept.values_list("id", flat=True))


def _fresh(found: Mapping[UUID, set[str]]) -> dict[UUID, set[str]]:
    """Return what has not been raised before."""
    keys = tuple(str(one) for one in found)
    kept = Statistic.objects.filter(kind=ALARM, key__in=keys).order_by()
    known = {key: set(counts) for key, counts in kept.values_list("key", "counts")}
    fresh = {one: rings - known.get(str(one), set()) for one, rings in found.items()}
    return {one: rings for one, rings in fresh.items() if rings}


def _must_wait(rings: set[str]) -> bool:
    """Say whether agents are not given a memory any more until a person has looked at it."""
    return ALARM_BURST in rings or len(rings & OF_CONTENT) >= planting_alarms.HELD_FROM


def _raise(fresh: Mapping[UUID, set[str]], waiting: set[UUID], now: datetime) -> tuple[int, int]:
    """Keep alarms, tell the log of them, hold what must wait; return how many of both.

    What a person has vouched for, or taken away, since it was read rings no more.
    """
    rows = tuple(_unvouched().select_for_update().filter(pk__in=fresh).order_by("id"))
    held = 0
    additions: list[Addition] = []
    told: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        rings = sorted(fresh[row.id])
        counts = dict.fromkeys(rings, 1)
        additions.append(
            Addition(
                audience=row.audience, project_id=row.project_id, key=str(row.id), counts=counts
            )
        )
        for alarm in rings:
            told[alarm].append(str(row.id))
        if row.id in waiting and not row.needs_review:
            row.needs_review = True
            writes.save(row=row, fields=("needs_review",), now=now)
            held += 1
    if told:
        counters.add(kind=ALARM, additions=additions, now=now)
        _note(told)
    return sum(map(len, told.values())), held


def _note(told: Mapping[str, Any]) -> None:
    audit.append(
        act="memory.bulk_alarmed",
        object_type="memory",
        object_id="",
        caller=ACTOR,
        details=dict(told),
    )


def _after(now: datetime) -> int:
    """Return the last entry of the feed that was read; the first look begins an hour ago."""
    kept = Statistic.objects.filter(
        kind=LOOK, audience=tenancy.current().organization_id, project_id=None, key=LOOK
    )
    counts = kept.order_by().values_list("counts", flat=True).first()
    if counts is not None and AFTER in counts[counters.NOTES]:
        return int(counts[counters.NOTES][AFTER])
    before = Change.objects.filter(created_at__lt=now - FIRST_LOOK).order_by("-id")
    return before.values_list("id", flat=True).first() or 0


def _looked(last: int, now: datetime) -> None:
    """Put down how far was looked."""
    here = Addition(
        audience=tenancy.current().organization_id,
        project_id=None,
        key=LOOK,
        counts={"looks": 1},
        notes={AFTER: last},
    )
    counters.add(kind=LOOK, additions=(here,), now=now)
