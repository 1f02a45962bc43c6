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

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts import audit as origins
from accounts import tenancy
from memory.index.actions.model_switch import INSTALLATION
from memory.intake import echoes_and_alarms
from memory.intake.echoes_and_alarms import ALARM, ALARM_BURST, ALARM_DOMINANT, Alarm, Written
from memory.records import writes
from memory.records.models import Memory, MemoryVersion
from memory.sessions import counter_rows
from memory.sessions.counters import NOTES, Count
from memory.sessions.models import GivenOut, Statistic
from memory.taxonomy import Source, Status
from teams import audit
from teams.models import Change

LOOK: Final = "alarm_look"  # the kind of the statistic that says how far was looked
AFTER: Final = "after"  # the last entry of the change feed that was read
AROUND: Final = timedelta(minutes=10)  # as long as a burst
CREATED: Final = "memory.created"
WEEK: Final = timedelta(days=7)

# Defaults, not measured.
FIRST_LOOK: Final = timedelta(hours=1)  # back, of the first look of all
PAGE: Final = 2_000  # entries of the feed that are read at once
PAGES: Final = 10  # of one look; the next one goes on there
MOST_GIVEN: Final = 1_000  # memories of a week that are weighed, those given most

OF_CONTENT: Final = frozenset(alarm.value for alarm in Alarm)
ACTOR: Final = origins.Person(user_id=None, source_interface=INSTALLATION)
BY_MACHINES: Final = ~Q(author_agent="") | Q(author_user=None) | Q(source=Source.IMPORT.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """What a look came to: memories read, alarms raised, memories that wait for review now."""

    memories: int
    alarms: int
    held: int


def raise_alarms(*, now: datetime) -> Raised:
    """Look at what was written in the entered organization since the last look, page by page."""
    seen = alarms = held = 0
    for _ in range(PAGES):
        with tenancy.unit():
            found = _read_page(now)
            if found is None:
                break
            rows, rings = found
            raised, waiting = _raise(rings, now)
        seen, alarms, held = seen + len(rows), alarms + raised, held + waiting
    with tenancy.unit():
        raised, waiting = _raise({one: {ALARM_DOMINANT} for one in _dominant(now)}, now)
    return Raised(memories=seen, alarms=alarms + raised, held=held + waiting)


def _read_page(now: datetime) -> tuple[tuple[Memory, ...], Mapping[UUID, set[str]]] | None:
    """Return what machines wrote since the last look, and what of it rings; None at the end.

    Written is what they made, or said anew over a person; nobody has vouched for it.
    """
    entries = Change.objects.filter(id__gt=_last_read(now), kind__startswith="memory.")
    feed = tuple(entries.order_by("id").values_list("id", "object_id", "kind", "actor_name")[:PAGE])
    if not feed:
        return None
    others = MemoryVersion.objects.filter(memory_id=OuterRef("pk")).exclude(changed_agent="")
    by_agents = {named for _, named, _, agent in feed if agent}
    is_rewritten = Q(Exists(others.exclude(content=OuterRef("content"))), pk__in=by_agents)
    written = _unvouched().filter(
        BY_MACHINES | is_rewritten, pk__in={named for _, named, _, _ in feed}
    )
    rows = tuple(written.order_by("id"))
    created = {named for _, named, kind, _ in feed if kind == CREATED}
    here = Count(
        kind=LOOK,
        audience=tenancy.current().organization_id,
        key=LOOK,
        counts={"looks": 1},
        notes={AFTER: feed[-1][0]},
    )
    counter_rows.add(counts=(here,), now=now)
    return rows, _ringing(rows, [row for row in rows if row.id in created])


def _last_read(now: datetime) -> int:
    """Return the last entry of the feed that was read; the first look begins an hour ago."""
    kept = Statistic.objects.filter(
        kind=LOOK, audience=tenancy.current().organization_id, project_id=None, key=LOOK
    )
    counts = kept.order_by().values_list("counts", flat=True).first()
    if counts is not None:
        return int(counts[NOTES][AFTER])
    before = Change.objects.filter(created_at__lt=now - FIRST_LOOK).order_by("-id")
    return before.values_list("id", flat=True).first() or 0


def _unvouched() -> QuerySet[Memory]:
    return Memory.objects.filter(status=Status.ACTIVE.value, user_verified=False)


def _ringing(rows: Iterable[Memory], created: Iterable[Memory]) -> Mapping[UUID, set[str]]:
    """Return by memory what rings, of its words and of those written beside it by its writer."""
    found: defaultdict[UUID, set[str]] = defaultdict(set)
    for row in rows:
        for alarm in echoes_and_alarms.of_content(content=row.content):
            found[row.id].add(alarm.value)
    writers: defaultdict[tuple[object, ...], list[Written]] = defaultdict(list)
    for row in _with_same_writers(created):
        writer = (row.audience, row.project_id, row.author_user, row.author_agent)
        at = row.created_at.timestamp()
        writers[writer].append(Written(id=row.id, at_seconds=at, content=row.content))
    for written in writers.values():
        for memory_id in echoes_and_alarms.burst(written=written):
            found[memory_id].add(ALARM_BURST)
    return found


def _with_same_writers(created: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return new memories with what their writers wrote around them; imports are no burst."""
    fresh = [row for row in created if row.source != Source.IMPORT]
    if not fresh:
        return ()
    times = [row.created_at for row in fresh]
    beside = _unvouched().filter(
        BY_MACHINES,
        created_at__range=(min(times) - AROUND, max(times) + AROUND),
        author_agent__in={row.author_agent for row in fresh},
    )
    others = beside.exclude(source=Source.IMPORT.value).exclude(pk__in=[row.id for row in fresh])
    return (*fresh, *others.order_by("-created_at", "id")[:PAGE])


def _dominant(now: datetime) -> tuple[UUID, ...]:
    """Return the memory of each project that takes most of what its sessions were given."""
    given = GivenOut.objects.filter(session_id__isnull=False, at__gte=now - WEEK)
    counts = given.order_by().values_list("memory_id").annotate(times=models.Count("pk"))
    most = dict(counts.order_by("-times")[:MOST_GIVEN])
    places = Memory.objects.filter(pk__in=most, status=Status.ACTIVE.value).order_by()
    by_project: defaultdict[UUID | None, dict[UUID, int]] = defaultdict(dict)
    for memory_id, project_id in places.values_list("id", "project_id"):
        by_project[project_id][memory_id] = most[memory_id]
    found = (echoes_and_alarms.dominant(given_out=one) for one in by_project.values())
    named = tuple(one for one in found if one is not None)
    kept = Memory.objects.filter(pk__in=named, user_verified=False).order_by("id")
    return tuple(kept.values_list("id", flat=True))


def _raise(found: Mapping[UUID, set[str]], now: datetime) -> tuple[int, int]:
    """Keep what rings and has not before, tell the log of it, and hold what must wait.

    Return how many alarms were raised and how many memories are held: those of a burst, and whose
    content rings twice. What a person has vouched for, or taken away, since it was read rings no
    more.
    """
    new = _fresh(found)
    rows = tuple(_unvouched().select_for_update().filter(pk__in=new).order_by("id"))
    told: defaultdict[str, list[str]] = defaultdict(list)
    counts = []
    for row in rows:
        rings = dict.fromkeys(sorted(new[row.id]), 1)
        place: Any = {"audience": row.audience, "project_id": row.project_id}
        counts.append(Count(kind=ALARM, key=str(row.id), counts=rings, **place))
        for alarm in rings:
            told[alarm].append(str(row.id))
    held = [row for row in rows if _must_wait(found[row.id]) and not row.needs_review]
    for row in held:
        row.needs_review = True
        writes.save(row=row, fields=("needs_review",), now=now)
    if told:
        counter_rows.add(counts=counts, now=now)
        audit.append("memory.bulk_alarmed", "memory", "", caller=ACTOR, details=dict(told))
    return sum(map(len, told.values())), len(held)


def _fresh(found: Mapping[UUID, set[str]]) -> Mapping[UUID, set[str]]:
    """Return by memory what rings and has not rung before."""
    keys = [str(one) for one in found]
    earlier = Statistic.objects.filter(kind=ALARM, key__in=keys).order_by()
    known = {key: set(counts) for key, counts in earlier.values_list("key", "counts")}
    new = {one: rings - known.get(str(one), set()) for one, rings in found.items()}
    return {one: rings for one, rings in new.items() if rings}


def _must_wait(rings: set[str]) -> bool:
    return ALARM_BURST in rings or len(rings & OF_CONTENT) >= echoes_and_alarms.HELD_FROM
