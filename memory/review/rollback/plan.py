"""Plan what a rollback does, in the order in which it writes; and preview it.

First what is archived, and behind it what has room to be restored; then what gets back an earlier
text, one memory after the other: where another memory says that text by then, it stays as it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, Q

from accounts import tenancy
from accounts.caller import Caller
from accounts.queries import credentials
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion
from memory.records.queries import memories, views
from memory.records.queries.memories import AUDIENCE
from memory.records.versions import BROUGHT_BACK
from memory.review.rollback import selection as selections
from memory.review.rollback.selection import RollbackChoice, Selection
from memory.taxonomy import Status
from memory.text import text as texts

MOST: Final = 1_000  # memories that one call archives and rewrites; default, not measured
COUNTED: Final = MOST + 1  # where counting ends; it stands for that many or more
LARGEST_PAGE: Final = 200
LONGEST_CHAIN: Final = 20  # memories that replaced one another; default, not measured
IS_SAME: Final = "is_same"  # annotation of a version: its memory has its text
Judgment = tuple[UUID, datetime]  # who found a memory right, and when
VersionChange = tuple[int, UUID | None, datetime, bool]  # see `find_end`


class RollbackFate(StrEnum):
    """What becomes of a memory."""

    ARCHIVED = "archived"
    REWRITTEN = "rewritten"
    LEFT = "left"


class LeftReason(StrEnum):
    """Why a memory stays as it is."""

    CHANGED = "changed"  # somebody else has rewritten it since
    KEPT = "kept"  # somebody else has decided since that it is right
    MOVED = "moved"  # others see it now than those who saw the text before
    SAME = "same"  # it is again, or still, as it was before
    TWIN = "twin"  # another memory says by then what it said


End = MemoryVersion | LeftReason  # the version that a changed memory goes back to, or why it stays


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPlan:
    """What is archived, what is restored behind which of it or has no room, what is rewritten."""

    archived: frozenset[UUID]
    restored: Mapping[UUID, UUID]
    blocked: frozenset[UUID]
    ends: Mapping[UUID, End]

    def rewritten(self) -> dict[UUID, MemoryVersion]:
        """Return which memories go back to which earlier version, in their order."""
        return _versions(self.ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackItem:
    """One memory of a preview; `stands_again` is what it had replaced."""

    memory_id: UUID
    citation: str
    type: str
    fate: RollbackFate
    why: LeftReason | None
    stands_again: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackCounts:
    """How much a rollback does; `conflicts` and `links` are those that end with it."""

    archived: int
    rewritten: int
    reinstated: int
    conflicts: int
    links: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPreview:
    """What a rollback would do: in numbers, and some of the memories by their ids."""

    counts: RollbackCounts
    items: tuple[RollbackItem, ...]
    next_after: UUID | None


def preview(
    *, caller: Caller, choice: RollbackChoice, after: UUID | None, limit: int, now: datetime
) -> RollbackPreview:
    """Return what a rollback would do, and change nothing. Raises as `resolve_choice`."""
    size = min(limit, LARGEST_PAGE)
    with tenancy.unit():
        selection = selections.resolve_choice(caller=caller, choice=choice, now=now)
        selections.check_in_person(caller=caller)
        plan = make_plan(selection=selection, most=COUNTED)
        rows = selection.concerned()
        if after is not None:
            rows = rows.filter(id__gt=after)
        found = tuple(rows.order_by("id")[: size + 1])
        items = _preview_items(selection, found[:size], plan)
        return RollbackPreview(
            counts=count_plan(selection=selection, plan=plan),
            items=items,
            next_after=items[-1].memory_id if len(found) > size else None,
        )


def make_plan(*, selection: Selection, most: int) -> RollbackPlan:
    """Plan the first `most` of what was produced, and all that was changed. In a unit."""
    going = selection.produced().filter(~selection.is_protected()).order_by("id")
    archived, behind = _follow_chains(selection, going.values_list("id", flat=True)[:most])
    claims = [memories.claim_of(row=row) for row in _claiming_rows(behind)]
    changed = selection.changed(besides=tuple(behind)).order_by("id")
    ids = changed.values_list("id", flat=True)[: most + len(behind)]
    ends = find_ends(ids=ids, selection=selection)

    versions = _versions(ends)
    kept = MemoryVersion.objects.filter(pk__in=[one.pk for one in versions.values()])
    content = dict(kept.order_by().values_list("pk", "content"))
    rewrites = []
    for row in _claiming_rows(versions):
        version = versions[row.id]
        claim = memories.claim_of(
            row=row,
            content_hash=texts.content_hash(content=content[version.pk]),
            type=version.fields.get("type", row.type),
            external_id=version.fields.get("external_id", row.external_id),
        )
        rewrites.append(claim)

    taken = memories.Taken(wanted=(*claims, *rewrites), leaving=archived)
    free = {one.memory_id for one in claims if taken.take(claim=one)}
    for id in behind.keys() - free:
        ends.pop(id, None)
    for claim in rewrites:
        if claim.memory_id in ends and not taken.take(claim=claim):
            ends[claim.memory_id] = LeftReason.TWIN
    return RollbackPlan(
        archived=frozenset(archived),
        restored={id: successor for id, successor in behind.items() if id in free},
        blocked=frozenset(behind.keys() - free),
        ends=ends,
    )


def count_plan(*, selection: Selection, plan: RollbackPlan) -> RollbackCounts:
    """Count what a plan does, each within the caller's visibility and up to COUNTED. In a unit."""
    gone = plan.archived
    seen = views.countable(caller=selection.caller).filter(project=selection.project_id).order_by()
    links = Q(source__in=gone, target__in=seen) | Q(target__in=gone, source__in=seen)
    sides = Q(older__in=gone, newer__in=seen) | Q(newer__in=gone, older__in=seen)
    rewritten = len(plan.rewritten())
    stays = selection.protected().order_by()[:COUNTED].count()
    return RollbackCounts(
        archived=min(len(gone), COUNTED),
        rewritten=min(rewritten, COUNTED),
        reinstated=min(len(plan.restored), COUNTED),
        conflicts=Conflict.objects.filter(sides, verdict="").order_by()[:COUNTED].count(),
        links=MemoryLink.objects.filter(links).order_by()[:COUNTED].count(),
        left=min(stays + len(plan.blocked) + len(plan.ends) - rewritten, COUNTED),
    )


def find_ends(*, ids: Iterable[UUID], selection: Selection) -> dict[UUID, End]:
    """Return the version each changed memory goes back to, or why it is left. In a unit.

    The versions come without their text. The same statements for one memory as for many.
    """
    wanted = frozenset(ids)
    judged = find_judgments(ids=wanted, selection=selection)
    changes: dict[UUID, list[VersionChange]] = {}
    rows = selections.versions_in_effect().filter(memory__in=wanted)
    rows = rows.annotate(is_theirs=selection.was_ended()).order_by("memory_id", "number")
    columns = ("memory_id", "number", "changed_by", "changed_at", "is_theirs")
    for id, *change in rows.values_list(*columns):
        number, made_by, made_at, is_theirs = change
        changes.setdefault(id, []).append((number, made_by, made_at, is_theirs))
    numbers = {
        id: find_end(changes=changes.get(id, ()), judgments=judged.get(id, ())) for id in wanted
    }
    known = {id: end for id, end in numbers.items() if not isinstance(end, LeftReason)}
    versions = MemoryVersion.objects.filter(memory__in=known, number__in=set(known.values()))
    versions = versions.defer("content").annotate(**{IS_SAME: Q(content=F("memory__content"))})
    found = {(one.memory_id, one.number): one for one in versions.order_by()}
    ends: dict[UUID, End] = {}
    for row in Memory.objects.filter(pk__in=wanted).defer("content", "citation").order_by("id"):
        end = numbers[row.id]
        ends[row.id] = end if isinstance(end, LeftReason) else _check_end(row, found[row.id, end])
    return ends


def find_end(
    *, changes: Iterable[VersionChange], judgments: Iterable[Judgment]
) -> int | LeftReason:
    """Return the number of the version that a memory goes back to, or why it stays as it is.

    The last changes are taken back, down to one that somebody else made, or found right since. A
    change is the number of the version before it, who made it and when, and whether these are
    rolled back.
    """
    judged = tuple(judgments)
    reason = LeftReason.CHANGED
    first: int | None = None
    for number, made_by, made_at, is_theirs in sorted(changes, key=lambda one: -one[0]):
        if not is_theirs:
            break
        if any(at >= made_at and by != made_by for by, at in judged):
            reason = LeftReason.KEPT
            break
        first = number
    return reason if first is None else first


def find_judgments(
    *, ids: Iterable[UUID], selection: Selection
) -> Mapping[UUID, tuple[Judgment, ...]]:
    """Return by whom and when each memory was found right. In a unit.

    A verdict that a token gave counts as its holder's.
    """
    names = {str(one): one for one in ids}
    wanted = frozenset(names.values())
    rows: list[tuple[UUID | None, UUID | None, datetime | None]] = []
    verdicts = selection.keeping_verdicts().filter(memory__in=wanted)
    decided = tuple(verdicts.values_list("memory_id", "decided_by", "decided_at"))
    holders = credentials.holders(token_ids=frozenset(by for _, by, _ in decided))
    rows.extend((id, holders.get(by, by), at) for id, by, at in decided)
    for side, holds in selections.WINNERS.items():
        settled = selection.settlements().filter(**{f"{side}__in": wanted}, verdict__in=holds)
        rows.extend(settled.values_list(side, "settled_by", "settled_at"))
    said = selection.confirmations()
    alone = said.filter(act=selections.CONFIRMED, object_id__in=names)
    told = alone.values_list("object_id", "actor_user", "created_at")
    rows.extend((names[name], by, at) for name, by, at in told)
    bulk = said.filter(
        act__in=selections.BULK_CONFIRMED, details__confirmed__has_any_keys=sorted(names)
    )
    for several, by, at in bulk.values_list("details__confirmed", "actor_user", "created_at"):
        rows.extend((names[one], by, at) for one in several if one in names)
    found: dict[UUID, tuple[Judgment, ...]] = {}
    for id, judge, judged_at in rows:
        if id is not None and judge is not None and judged_at is not None:
            found[id] = (*found.get(id, ()), (judge, judged_at))
    return found


def _follow_chains(
    selection: Selection, roots: Iterable[UUID]
) -> tuple[dict[UUID, UUID], dict[UUID, UUID]]:
    """Return what goes with these memories, and what is behind them, each with its root.

    What of theirs replaced one another goes together; behind the first of them is what was there
    before, or what somebody else protects.
    """
    going, behind = {one: one for one in roots}, dict[UUID, UUID]()
    fresh = set(going)
    for _ in range(LONGEST_CHAIN):
        rows = views.countable(caller=selection.caller).order_by("id")
        rows = rows.filter(superseded_by__in=fresh, status=Status.SUPERSEDED.value)
        below = rows.annotate(goes=selection.will_go())
        fresh = set()
        for id, successor, goes in below.values_list("id", "superseded_by", "goes"):
            if successor is None:
                continue
            if goes and id not in going:
                going[id] = going[successor]
                fresh.add(id)
            elif not goes:
                behind[id] = going[successor]
        if not fresh:
            break
    return going, behind


def _versions(ends: Mapping[UUID, End]) -> dict[UUID, MemoryVersion]:
    return {id: end for id, end in ends.items() if not isinstance(end, LeftReason)}


def _claiming_rows(ids: Iterable[UUID]) -> Iterable[Memory]:
    return Memory.objects.filter(pk__in=tuple(ids)).only(*memories.UNIQUE_COLUMNS).order_by("id")


def _check_end(row: Memory, version: MemoryVersion) -> End:
    """Return a version, or why its memory does not go back to it."""
    if version.fields.get(AUDIENCE) != str(row.audience):
        return LeftReason.MOVED
    names = (name for name in BROUGHT_BACK if name in version.fields)
    is_same = all(getattr(row, name) == version.fields[name] for name in names)
    return LeftReason.SAME if is_same and getattr(version, IS_SAME) else version


def _preview_items(
    selection: Selection, rows: tuple[Memory, ...], plan: RollbackPlan
) -> tuple[RollbackItem, ...]:
    """Return what becomes of a page of memories; of those past the plan, each by itself."""
    ids = frozenset(row.id for row in rows)
    produced = selection.produced().filter(pk__in=ids - plan.ends.keys())
    own = produced.annotate(
        is_changed=Exists(selection.changes_by_others()), is_kept=selection.is_kept()
    ).order_by()
    whys: dict[UUID, LeftReason | None] = {
        id: LeftReason.CHANGED if is_changed else LeftReason.KEPT if is_kept else None
        for id, is_changed, is_kept in own.values_list("id", "is_changed", "is_kept")
    }
    changed = ids - whys.keys()
    for id, end in {**find_ends(ids=changed, selection=selection), **plan.ends}.items():
        if id in changed:
            whys[id] = end if isinstance(end, LeftReason) else None
    restored: dict[UUID, list[UUID]] = {}
    for id, successor in plan.restored.items():
        restored.setdefault(successor, []).append(id)
    items = []
    for row in rows:
        done = RollbackFate.REWRITTEN if row.id in changed else RollbackFate.ARCHIVED
        item = RollbackItem(
            memory_id=row.id,
            citation=row.citation,
            type=row.type,
            fate=done if whys[row.id] is None else RollbackFate.LEFT,
            why=whys[row.id],
            stands_again=tuple(restored.get(row.id, ())),
        )
        items.append(item)
    return tuple(items)
