"""What a rollback will do, in the order in which it does it, for all that a call takes.

First what goes, and behind it what has room to stand again; then what goes back to its text, one
memory after the other: what another one says by then stays as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from accounts.caller import Caller
from memory.records.models import Memory, MemoryVersion
from memory.records.queries import uniqueness
from memory.records.queries.uniqueness import Claim, Taken
from memory.review.rollback import selection
from memory.review.rollback.changes import versions_before
from memory.review.rollback.permissions import Chosen
from memory.review.rollback.protected import stood_for
from memory.review.rollback.rules import Left
from memory.text import text as texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What goes, behind which of it what stands again, what has no room to, and what goes back.

    `ends` says of each changed memory why it is left, None where it goes back to its text.
    """

    going: frozenset[UUID]
    again: Mapping[UUID, UUID]
    blocked: frozenset[UUID]
    ends: Mapping[UUID, Left | None]


def plan(*, caller: Caller, what: Chosen, most: int) -> Plan:
    """Plan what becomes of the first of what was produced, and of what was changed. In a unit."""
    theirs = selection.produced(caller=caller, what=what).filter(~stood_for(what=what))
    roots = theirs.order_by("id").values_list("id", flat=True)[:most]
    going, behind = selection.chains(caller=caller, what=what, ids=roots)
    rows = Memory.objects.filter(pk__in=behind).only(*uniqueness.COLUMNS).order_by("id")
    standing = tuple(uniqueness.claim_of(row=row) for row in rows)
    changed = selection.rewritten(caller=caller, what=what, besides=tuple(behind))
    ids = changed.order_by("id").values_list("id", flat=True)[: most + len(behind)]
    ends = versions_before(ids=ids, what=what)
    back = _claims(ends)
    taken = Taken(wanted=(*standing, *back), leaving=going)
    free = {one.memory_id for one in standing if taken.take(claim=one)}
    whys: dict[UUID, Left | None] = {
        one: end if isinstance(end, Left) else Left.TWIN
        for one, end in ends.items()
        if one in free or one not in behind
    }
    whys |= {one.memory_id: None for one in back if one.memory_id in whys and taken.take(claim=one)}
    return Plan(
        going=frozenset(going),
        again={one: successor for one, successor in behind.items() if one in free},
        blocked=frozenset(behind.keys() - free),
        ends=whys,
    )


def _claims(ends: Mapping[UUID, MemoryVersion | Left]) -> tuple[Claim, ...]:
    """Return what memories claim that go back to a version, in the order in which they do."""
    versions = {one: end for one, end in ends.items() if not isinstance(end, Left)}
    said = dict(
        MemoryVersion.objects.filter(pk__in=[one.pk for one in versions.values()])
        .order_by()
        .values_list("pk", "content")
    )
    rows = Memory.objects.filter(pk__in=versions).only(*uniqueness.COLUMNS).order_by("id")
    return tuple(_claim(row, versions[row.id], said) for row in rows)


def _claim(row: Memory, version: MemoryVersion, said: Mapping[int, str]) -> Claim:
    kept = {name: version.fields.get(name, getattr(row, name)) for name in ("type", "external_id")}
    text = texts.content_hash(content=said[version.pk])
    return uniqueness.claim_of(row=row, content_hash=text, **kept)
