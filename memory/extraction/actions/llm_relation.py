"""Ask a model what a new memory is to what is known, with one call and within a budget.

What conversations teach is compared before it is stored (`judge`). What somebody adds stands at
once, and is compared by a job where its project wishes it (`judge_added`): one call an add, so many
a day, within what the project and the organization may spend in a month. What only its author sees
is never shown to a model that is not on this machine, and its calls are counted for its author
alone. Without a model, words have decided at the door already.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.extraction import model_answers
from memory.extraction.actions import extraction
from memory.extraction.actions.extraction import (
    NONCE_BYTES,
    Allowance,
    Degraded,
    Mode,
    Spent,
    book_use,
)
from memory.extraction.model_answers import MOST_PAIRS, StatementPair
from memory.extraction.prompts import schemas
from memory.index.actions import embedding
from memory.intake import integrate
from memory.intake.actions.apply_later import ReplacementShare, comparable, integrate_stored
from memory.intake.actions.candidate import find_placement, gate
from memory.intake.actions.remember import enqueue_model_look, in_use, prepare
from memory.intake.actions.similar_memories import find_similar, thresholds_of
from memory.intake.integrate import CandidateStatement, GateOutcome, Judged, StoredStatement
from memory.intake.validation import NewMemory
from memory.providers.contracts import ChatMessage, ChatRequest, ChatRole
from memory.providers.errors import ProviderError
from memory.records.models import Memory
from memory.secrets import scanner
from memory.sessions.models import Statistic
from memory.sessions.sql import counter_rows
from memory.taxonomy import Scope, Status

log = logging.getLogger(__name__)

MOST_NEAR: Final = 3  # stored memories that a candidate is compared with; default, not measured
OUTPUT_TOKENS_EACH: Final = 40  # of an answer about a pair; default, not measured
KIND: Final = "judged_adds"  # of statistics: calls by day
DAY_CAP: Final = "day_calls_spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """What was judged, by the candidate's place; what it cost, what was dropped or missing."""

    judged: Mapping[int, tuple[Judged, ...]] = field(default_factory=dict)
    pairs: int = 0
    spent: Spent = field(default_factory=Spent)
    dropped: Mapping[str, int] = field(default_factory=dict)
    degraded: str = ""


def judge(
    *, caller: Caller, news: tuple[NewMemory, ...], allowance: Allowance, now: datetime
) -> Judgment:
    """Judge candidates that have not been stored yet, with at most one call of a model."""
    if allowance.mode is Mode.HEURISTIC or not news:
        return Judgment()
    tenant = tenancy.current().schema_name
    missing, _ = extraction.model_for(allowance=allowance, tenant=tenant)
    if missing is Degraded.NO_MODEL:
        return Judgment()
    pairs = tuple(
        pair
        for number, new in enumerate(news)
        for pair in _pairs_of_candidate(caller, new, number, now)
    )
    return ask_model(pairs=pairs[:MOST_PAIRS], allowance=allowance)


def ask_model(*, pairs: tuple[StatementPair, ...], allowance: Allowance) -> Judgment:
    """Judge pairs with at most one call of a model. Outside of a unit."""
    if allowance.mode is Mode.HEURISTIC or not pairs:
        return Judgment()
    tenant = tenancy.current().schema_name
    missing, model = extraction.model_for(allowance=allowance, tenant=tenant)
    if model is None:
        return Judgment(pairs=len(pairs), degraded="" if missing is None else missing.value)
    try:
        answer = model.complete_json(request=_request(pairs))
    except ProviderError as error:
        log.warning("Compared by words, the model failed: %s", error.detail)
        spent = Spent(model=model.key, calls=1, fallbacks=1)
        return Judgment(pairs=len(pairs), spent=spent, degraded=Degraded.MODEL_FAILED.value)
    judged, dropped = model_answers.read_relations(data=answer.data, pairs=pairs)
    spent = Spent(
        model=model.key,
        calls=1,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
    )
    return Judgment(judged=judged, pairs=len(pairs), spent=spent, dropped=Counter(dropped))


def _pairs_of_candidate(
    caller: Caller, new: NewMemory, number: int, now: datetime
) -> tuple[StatementPair, ...]:
    """Return what stands near a candidate that will be stored; what is refused has nothing."""
    try:
        prepared = prepare(caller=caller, new=new)
        with tenancy.unit():
            where = find_placement(caller=caller, new=new)
            neighborhood, statement, stored = find_similar(
                caller=caller,
                checked=prepared.checked,
                where=where,
                embedded=in_use(embedded=prepared.embedded),
                now=now,
            )
    except (InvalidInput, Forbidden, NotFound):  # the door says so again, and counts it
        return ()
    thresholds = thresholds_of(project=where.project)
    passed = gate(checked=prepared.checked, neighborhood=neighborhood, thresholds=thresholds)
    if passed.outcome is not GateOutcome.ACCEPTED:
        return ()
    return _pairs(new.content, number, statement, stored, thresholds.conflict_cosine)


def _pairs(
    content: str,
    number: int,
    statement: CandidateStatement,
    known: Iterable[StoredStatement],
    cosine: float,
) -> tuple[StatementPair, ...]:
    """Return a text beside what is worth judging and may be shown with it, the closest first."""
    worth = [
        one
        for one in known
        if not one.is_elsewhere
        and integrate.is_worth_judging(candidate=statement, known=one, conflict_cosine=cosine)
    ]
    worth.sort(key=lambda one: (-one.cosine, one.id))
    return tuple(
        StatementPair(
            candidate=number,
            new=content,
            known_id=one.id,
            version=one.version,
            known=one.content,
        )
        for one in worth[:MOST_NEAR]
    )


def _request(pairs: tuple[StatementPair, ...]) -> ChatRequest:
    nonce = secrets.token_hex(NONCE_BYTES)
    rules = schemas.prompt(name="relate").replace("{nonce}", nonce)
    return ChatRequest(
        messages=(
            ChatMessage(role=ChatRole.SYSTEM, text=rules),
            ChatMessage(
                role=ChatRole.USER,
                text=model_answers.write_pairs(
                    pairs=pairs, nonce=nonce, clean=lambda text: scanner.without_secrets(text=text)
                ),
            ),
        ),
        schema_name="relations",
        json_schema=schemas.RELATE,
        accepts=schemas.RELATE_LEAST,
        max_output_tokens=OUTPUT_TOKENS_EACH * (len(pairs) + 1),
    )


def judge_added(
    *,
    memory_id: UUID,
    now: datetime,
    ask: Callable[..., Judgment] = ask_model,
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
        pairs = () if near is None else _pairs(row.content, 0, *near)
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


def _book(found: Judgment, row: Memory, now: datetime) -> None:
    if not found.spent.calls or row.project_id is None:
        return
    book_use(spent=found.spent, project_id=row.project_id, now=now)
    addition = counter_rows.Addition(
        audience=row.audience if row.scope == Scope.PERSONAL else row.project_id,
        project_id=row.project_id,
        day=now.date(),
        key="all",
        counts={"calls": found.spent.calls},
    )
    counter_rows.add(kind=KIND, additions=(addition,), now=now)


def _counts_of(found: Judgment, judged: int, changed: int) -> dict[str, Any]:
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
