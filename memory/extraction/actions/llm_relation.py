"""Ask a model what an explicit add is to what is known, after it was answered.

What conversations teach is compared so before it is stored; what somebody adds stands at once, and
is compared by a job where its project wishes it. One call of a model an add, so many a day, within
what the project and the organization may spend in a month. What only its author sees is never shown
to a model that is not on this machine, and its calls are counted for its
author alone. Without a model, words have decided at the door already.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

from accounts import tenancy
from memory.extraction.actions import budget, llm_queue, llm_relations
from memory.extraction.actions.extraction import Allowance
from memory.extraction.actions.llm_relations import MOST_NEAR, Judgment
from memory.extraction.actions.usage import book_use
from memory.extraction.llm_answers import Pair
from memory.index.actions import embedding
from memory.intake import integrate
from memory.intake.actions.apply_later import comparable, integrate_stored, share_of
from memory.records.models import Memory
from memory.statistics.models import Statistic
from memory.statistics.sql import statistics
from memory.taxonomy import Scope, Status

KIND: Final = "judged_adds"  # of statistics: calls by day
DAY_CAP: Final = "day_calls_spent"


class Ask(Protocol):
    """Judge pairs within an allowance, outside of a unit."""

    def __call__(self, *, pairs: tuple[Pair, ...], allowance: Allowance) -> Judgment: ...


def judge_added(
    *, memory_id: UUID, now: datetime, ask: Ask = llm_relations.ask
) -> Mapping[str, Any]:
    """Compare one memory with what stood before it; return counts, and what was missing.

    Raises EmbedderUnavailable and PermanentFailure as embedding does.
    """
    embedding.embed_batch(memory_ids=(memory_id,))
    with tenancy.unit():
        rows = Memory.objects.select_related("project")
        row = rows.filter(pk=memory_id, status=Status.ACTIVE.value).first()
        if row is None or row.project is None:
            return {"gone": 1}
        allowance = budget.of_add(row=row, spent=_calls_of(row, now), now=now)
        pairs = _pairs(row)
    if pairs and allowance.calls < 1:
        return {"compared": len(pairs), "degraded": {DAY_CAP: 1}}
    found = ask(pairs=pairs, allowance=allowance)
    with tenancy.unit():
        _book(found, row, now)
    with tenancy.unit():
        return _take(found, row, now)


def _take(found: Judgment, row: Memory, now: datetime) -> Mapping[str, Any]:
    """Do what was judged of a text, where the memory still has it; another is judged anew."""
    held = Memory.objects.select_for_update(of=("self",)).filter(pk=row.pk).first()
    judged = found.judged.get(0, ())
    if held is not None and held.content_hash != row.content_hash:
        llm_queue.enqueue(row=held, created_by=None)
        return {**_told(found, len(judged), 0), "changed": 1}
    changed = 0
    if judged:
        share, ids = share_of(memory_ids=(row.id,)), (row.id,)
        changed = integrate_stored(memory_ids=ids, share=share, now=now, judged=judged)
    return _told(found, len(judged), changed)


def _pairs(row: Memory) -> tuple[Pair, ...]:
    """Return what stands near a memory and may be shown beside it, the closest first. In a unit."""
    found = comparable(row=row)
    if found is None:
        return ()
    near = sorted(
        (
            known
            for known in found.known
            if not known.is_elsewhere
            and integrate.is_worth_judging(
                candidate=found.statement, known=known, conflict_cosine=found.conflict_cosine
            )
        ),
        key=lambda one: (-one.cosine, one.id),
    )
    return tuple(
        Pair(
            candidate=0,
            new=row.content,
            known_id=known.id,
            version=known.version,
            known=known.content,
        )
        for known in near[:MOST_NEAR]
    )


def _calls_of(row: Memory, now: datetime) -> int:
    """Return how many calls adds cost today that others may see, and the author's. In a unit."""
    seen = tuple(one for one in (row.project_id, row.author_user) if one)
    sums = Statistic.objects.filter(
        kind=KIND, project_id=row.project_id, day=now.date(), audience__in=seen
    )
    return sum(int(counts.get("calls", 0)) for counts in sums.values_list("counts", flat=True))


def _book(found: Judgment, row: Memory, now: datetime) -> None:
    if not found.spent.calls or row.project_id is None:
        return
    book_use(spent=found.spent, project_id=row.project_id, now=now)
    addition = statistics.Addition(
        audience=row.audience if row.scope == Scope.PERSONAL else row.project_id,
        project_id=row.project_id,
        day=now.date(),
        key="all",
        counts={"calls": found.spent.calls},
    )
    statistics.add(kind=KIND, additions=(addition,), now=now)


def _told(found: Judgment, judged: int, changed: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "compared": found.pairs,
        "judged": judged,
        "integrated": changed,
        "calls": found.spent.calls,
        "tokens": found.spent.tokens,
    }
    if found.dropped:
        told["dropped"] = dict(found.dropped)
    if found.degraded:
        told["degraded"] = {found.degraded: 1}
    return told
