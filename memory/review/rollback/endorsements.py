"""Who has judged that a memory is right, whether or not that made a version of it.

A verdict of the inbox, a settled conflict and a confirmation in person count. Who asks for the
rollback judges nothing here; whose words they are is looked at beside each judgment.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from accounts.queries import credentials
from memory.records.conflict_models import Conflict
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.review import conflict_rules
from memory.review.rollback.permissions import Chosen
from memory.review.rollback.rules import Judgment
from teams.models import AuditEntry

STANDS: Final = (Verdict.KEEP.value, Verdict.EDIT.value, Verdict.MERGE.value)
CONFIRMED: Final = "memory.confirmed"
CONFIRMED_TOGETHER: Final = ("memory.bulk_confirmed", "memory.bulk_written")
SETTLED_BY: Final = "older__superseded_by"  # the text that took the place of both
HOLDING: Final[Mapping[str, tuple[str, ...]]] = {  # which memory of a conflict, by which verdicts
    "older": (conflict_rules.Verdict.KEEP_OLDER.value, conflict_rules.Verdict.BOTH.value),
    "newer": (conflict_rules.Verdict.KEEP_NEWER.value, conflict_rules.Verdict.BOTH.value),
    SETTLED_BY: (conflict_rules.Verdict.EDIT.value,),
}
_Said = Iterable[tuple[UUID, UUID, datetime]]  # of which memory, who, when


def judgments(*, ids: Iterable[UUID], what: Chosen) -> Mapping[UUID, tuple[Judgment, ...]]:
    """Return by whom and when each memory was judged to be right. In a unit."""
    wanted = frozenset(ids)
    decided = tuple(_decided(wanted, what))
    holders = credentials.holders(token_ids=frozenset(by for _, by, _ in decided))
    found: dict[UUID, list[Judgment]] = {}
    for said in (decided, _settled(wanted, what), _confirmed(wanted, what)):
        for memory_id, by, at in said:
            one = Judgment(by=holders.get(by, by), at=at)
            found.setdefault(memory_id, []).append(one)
    return {memory_id: tuple(several) for memory_id, several in found.items()}


def verdicts(*, what: Chosen) -> QuerySet[ReviewVerdict]:
    """Return the verdicts by which others than who asks have said that a memory is right."""
    rows = ReviewVerdict.objects.filter(verdict__in=STANDS, undone_at__isnull=True)
    return rows.exclude(decided_by__in=what.mine).order_by()


def settlements(*, what: Chosen) -> QuerySet[Conflict]:
    """Return the conflicts that others than who asks have settled."""
    rows = Conflict.objects.filter(settled_by__isnull=False)
    return rows.exclude(settled_by__in=what.mine).order_by()


def confirmations(*, what: Chosen) -> QuerySet[AuditEntry]:
    """Return what others than who asks have said in person of memories.

    Read by teams_audit_confirmed, which holds nothing else than confirmations in person.
    """
    rows = AuditEntry.objects.filter(
        act__in=(CONFIRMED, *CONFIRMED_TOGETHER),
        object_type="memory",
        actor_user__isnull=False,
        token_id__isnull=True,
        agent="",
    )
    return rows.exclude(actor_user__in=what.mine).order_by()


def _decided(ids: frozenset[UUID], what: Chosen) -> _Said:
    rows = verdicts(what=what).filter(memory__in=ids)
    for memory_id, by, at in rows.values_list("memory_id", "decided_by", "decided_at"):
        if memory_id is not None:
            yield memory_id, by, at


def _settled(ids: frozenset[UUID], what: Chosen) -> _Said:
    for name, holds in HOLDING.items():
        rows = settlements(what=what).filter(**{f"{name}__in": ids}, verdict__in=holds)
        for memory_id, by, at in rows.values_list(name, "settled_by", "settled_at"):
            if by is not None and at is not None:
                yield memory_id, by, at


def _confirmed(ids: frozenset[UUID], what: Chosen) -> _Said:
    names = {str(one): one for one in ids}
    rows = confirmations(what=what)
    alone = rows.filter(act=CONFIRMED, object_id__in=names)
    for name, by, at in alone.values_list("object_id", "actor_user", "created_at"):
        if by is not None:
            yield names[name], by, at
    together = rows.filter(
        act__in=CONFIRMED_TOGETHER, details__confirmed__has_any_keys=sorted(names)
    )
    for several, by, at in together.values_list("details__confirmed", "actor_user", "created_at"):
        yield from ((names[one], by, at) for one in several if one in names and by is not None)
