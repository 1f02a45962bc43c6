"""Compare with a model what somebody has added, one memory a job.

What is added stands at once, and is compared where its project wishes it: one call an add, so many
a day, within what the project and the organization may spend in a month. What only its author sees
is never shown to a model that is not on this machine, and its calls are counted for its author
alone.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from memory.extraction.actions import extraction, llm_relation
from memory.index.actions import embedding
from memory.intake.actions.apply_decision import ReplacementShare, comparable, integrate_stored
from memory.intake.actions.remember import enqueue_model_look
from memory.records.models import Memory
from memory.sessions import counter_rows
from memory.sessions.models import Statistic
from memory.taxonomy import Scope, Status

KIND: Final = "judged_adds"  # of statistics: calls by day
DAY_CAP: Final = "day_calls_spent"


def judge_added(
    *,
    memory_id: UUID,
    now: datetime,
    ask: Callable[..., llm_relation.Judgment] = llm_relation.ask_model,
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
        allowance = extraction.of_add(row=row, spent=_calls_of(row, now), now=now)
        near = comparable(row=row)
        pairs = () if near is None else llm_relation.pairs_of(row.content, 0, *near)
    if pairs and allowance.calls < 1:
        return {"compared": len(pairs), "degraded": {DAY_CAP: 1}}
    found = ask(pairs=pairs, allowance=allowance)
    with tenancy.unit():
        _book(found, row, now)
    with tenancy.unit():
        return _take(found, row, now)


def _take(found: llm_relation.Judgment, row: Memory, now: datetime) -> Mapping[str, Any]:
    """Do what was judged of a text, where the memory still has it; another is judged anew."""
    held = Memory.objects.select_for_update(of=("self",)).filter(pk=row.pk).first()
    judged = found.judged.get(0, ())
    if held is not None and held.content_hash != row.content_hash:
        enqueue_model_look(row=held, created_by=None)
        return {**_counts_of(found, len(judged), 0), "changed": 1}
    changed = 0
    if judged:
        share, ids = ReplacementShare(ids=frozenset({row.id})), (row.id,)
        changed = integrate_stored(memory_ids=ids, share=share, now=now, judged=judged)
    return _counts_of(found, len(judged), changed)


def _calls_of(row: Memory, now: datetime) -> int:
    """Return how many calls adds cost today that others may see, and the author's. In a unit."""
    seen = tuple(one for one in (row.project_id, row.author_user) if one)
    sums = Statistic.objects.filter(
        kind=KIND, project_id=row.project_id, day=now.date(), audience__in=seen
    )
    return sum(int(counts.get("calls", 0)) for counts in sums.values_list("counts", flat=True))


def _book(found: llm_relation.Judgment, row: Memory, now: datetime) -> None:
    if not found.spent.calls or row.project_id is None:
        return
    extraction.book_use(spent=found.spent, project_id=row.project_id, now=now)
    addition = counter_rows.Addition(
        audience=row.audience if row.scope == Scope.PERSONAL else row.project_id,
        project_id=row.project_id,
        day=now.date(),
        key="all",
        counts={"calls": found.spent.calls},
    )
    counter_rows.add(kind=KIND, additions=(addition,), now=now)


def _counts_of(found: llm_relation.Judgment, judged: int, changed: int) -> dict[str, Any]:
    counts: dict[str, Any] = {
        "compared": found.pairs,
        "judged": judged,
        "integrated": changed,
        "calls": found.spent.calls,
        "tokens": found.spent.tokens,
    }
    if found.dropped:
        counts["dropped"] = dict(found.dropped)
    if found.degraded:
        counts["degraded"] = {found.degraded: 1}
    return counts
