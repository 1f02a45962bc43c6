"""Take candidates from turns, by words or with a model, and compare them with what is known.

Runs outside of a unit, in a job: no request waits for it. Whatever goes wrong with a model (it is
away, slow, refuses, answers rubbish, or its budget is spent), words do the same part, and the
result says that they did and why. What conversations teach is compared before it is stored, what
somebody adds afterwards, one memory a job, where its project wishes it: so many calls a day. What
only its author sees is never shown to a model that is not on this machine, and its calls are
counted for its author alone.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from accounts import metrics, tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.extraction import extract, model_answers, queries
from memory.index.actions import embedding
from memory.intake import integrate
from memory.intake.actions import apply_decision, candidate, remember, similar_memories
from memory.providers import contracts, errors, registry
from memory.records.models import Memory
from memory.secrets import scanner
from memory.sessions import counter_rows, counters
from memory.sessions.models import Session, Statistic
from memory.sessions.turns import Turn
from memory.taxonomy import Scope, Status
from teams import queries as places

log = logging.getLogger(__name__)

NONCE_BYTES: Final = 8
MOST_OUTPUT_TOKENS: Final = 4_096  # of one call; default, not measured
MOST_NEAR: Final = 3  # stored memories that a candidate is compared with; default, not measured
TOKENS_A_PAIR: Final = 40  # of an answer; default, not measured
MODEL_USE: Final = "model_use"  # of statistics: calls by day and model
JUDGED_ADDS: Final = "judged_adds"  # of statistics: calls by day
DAY_CAP: Final = "day_calls_spent"
UNREAD: Final = "unread_sentences"  # of what was dropped: the rest of a person's long turns
PER: Final = Decimal(1_000_000)  # tokens that a price is for


class Mode(StrEnum):
    """How a project's conversations are read."""

    HEURISTIC = "heuristic"
    LLM = "llm"
    HYBRID = "hybrid"


class Degraded(StrEnum):
    """Why words did a part although a model was wanted."""

    NO_MODEL = "no_model"
    NOT_AGREED = "models_not_agreed"
    MODEL_FAILED = "model_failed"
    SESSION_CAP = "session_calls_spent"
    TURN_CAP = "turn_calls_spent"
    MONTH_CAP = "month_tokens_spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What may still be spent."""

    mode: Mode
    calls: int  # of this session
    tokens: int | None  # of this month, None: no bound
    may_leave: bool  # turns may be sent to a model not on this machine
    per_turn: int = 1  # calls that a turn may cost
    of_turns: int | None = None  # calls left of those of a part, None: not counted

    @property
    def most_calls(self) -> int:
        """How many calls may still be made, tries included."""
        return self.calls if self.of_turns is None else min(self.calls, self.of_turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one part of a conversation cost, with which model."""

    model: str = ""
    calls: int = 0
    fallbacks: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    is_away: bool = False  # no model answered at all

    @property
    def tokens(self) -> int:
        """Return all tokens."""
        return self.input_tokens + self.output_tokens


NOTHING_SPENT: Final = Spent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The candidates of a part, what was dropped and why, what it cost, and what was missing."""

    candidates: tuple[extract.Candidate, ...]
    method: str
    dropped: Mapping[str, int]
    degraded: str
    spent: Spent
    firsthand: frozenset[int] = frozenset()  # turns that are a person's own word, by sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """What was judged, by the candidate's place; what it cost, what was dropped or missing."""

    judged: Mapping[int, tuple[integrate.Judged, ...]] = field(default_factory=dict)
    pairs: int = 0
    spent: Spent = NOTHING_SPENT
    dropped: Mapping[str, int] = field(default_factory=dict)
    degraded: str = ""


def extract_part(*, turns: tuple[Turn, ...], allowance: Allowance, tenant: str) -> Extracted:
    """Take candidates from at most 30 turns, with at most one call of a model.

    `tenant` is the schema whose circuit and budget the call uses.
    """
    found = _taken(turns, allowance, tenant)
    return replace(found, firsthand=extract.firsthand_turns(turns=turns))


def _taken(turns: tuple[Turn, ...], allowance: Allowance, tenant: str) -> Extracted:
    if allowance.mode is Mode.HEURISTIC:
        return _by_words(turns)
    asked = turns if allowance.mode is Mode.LLM else model_answers.worth_asking(turns=turns)
    nonce = secrets.token_hex(NONCE_BYTES)
    written = model_answers.written(turns=asked, nonce=nonce)
    if not written:
        return _by_words(turns)
    missing, model = model_for(allowance=allowance, tenant=tenant)
    if model is None:
        return _by_words(turns, degraded=missing)
    data, spent = ask(
        model=model,
        question=model_answers.EXTRACT,
        nonce=nonce,
        text=written,
        max_output_tokens=MOST_OUTPUT_TOKENS,
        most_calls=allowance.most_calls,
    )
    if data is None:
        return _by_words(turns, degraded=Degraded.MODEL_FAILED, spent=spent)
    found, dropped = model_answers.read(data=data, turns=asked, cosines=_local_cosines(tenant))
    return _extracted(found, method=Mode.LLM, dropped=dropped, spent=spent)


def _by_words(
    turns: tuple[Turn, ...], *, degraded: Degraded | None = None, spent: Spent = NOTHING_SPENT
) -> Extracted:
    """Take candidates by words alone, and count the sentences that were left unread."""
    left_out = Counter({UNREAD: extract.unread(turns=turns)})
    found = extract.extract(turns=turns)
    return _extracted(found, dropped=+left_out, degraded=degraded, spent=spent)


def _local_cosines(tenant: str) -> model_answers.Cosines | None:
    """Return what compares texts by meaning on this machine; None without such an embedder."""
    try:
        embedder = registry.embedder(tenant=tenant)
        if not embedder.is_local:
            return None
        embedder.embed_queries(texts=("",))  # loads it
    except errors.ProviderError as error:
        log.warning("Paraphrases are compared by words: %s", error.detail)
        return None

    known: dict[str, Any] = {}  # vectors of what was compared: sentences are, with each candidate

    def cosines(text: str, others: Sequence[str]) -> Sequence[float]:
        if new := tuple(dict.fromkeys(one for one in (text, *others) if one not in known)):
            known.update(zip(new, embedder.embed_documents(texts=new), strict=True))
        return [float(known[text] @ known[other]) for other in others]

    return cosines


def _extracted(
    found: tuple[extract.Candidate, ...],
    *,
    method: Mode = Mode.HEURISTIC,
    dropped: Mapping[str, int] | None = None,
    degraded: Degraded | None = None,
    spent: Spent = NOTHING_SPENT,
) -> Extracted:
    """Leave out the candidates that hold a secret, and count them."""
    kept = tuple(one for one in found if not scanner.find_secrets(text=one.content))
    secret = Counter({"secret": len(found) - len(kept)})
    return Extracted(
        candidates=kept,
        method=method.value,
        dropped=Counter(dropped or {}) + secret,
        degraded="" if degraded is None else degraded.value,
        spent=spent,
    )


def after(*, allowance: Allowance, spent: Spent) -> Allowance:
    """Return what is left of an allowance."""
    tokens = None if allowance.tokens is None else max(0, allowance.tokens - spent.tokens)
    return replace(allowance, calls=max(0, allowance.calls - spent.calls), tokens=tokens)


def model_for(
    *, allowance: Allowance, tenant: str
) -> tuple[Degraded | None, contracts.ChatModel | None]:
    """Return the model that may be asked; else none, and why."""
    try:
        model = registry.chat_model(tenant=tenant)
    except errors.ProviderError as error:
        log.warning("Words do it, there is no model: %s", error.detail)
        return Degraded.NO_MODEL, None
    if model is None:
        return Degraded.NO_MODEL, None
    hindrances = (
        (Degraded.NOT_AGREED, not (model.is_local or allowance.may_leave)),
        (Degraded.SESSION_CAP, allowance.calls < 1),
        (Degraded.TURN_CAP, allowance.of_turns is not None and allowance.of_turns < 1),
        (Degraded.MONTH_CAP, allowance.tokens is not None and allowance.tokens < 1),
    )
    missing = next((reason for reason, holds in hindrances if holds), None)
    return missing, None if missing else model


def ask(
    *,
    model: contracts.ChatModel,
    question: model_answers.ModelQuestion,
    nonce: str,
    text: str,
    max_output_tokens: int,
    most_calls: int | None = None,
) -> tuple[Mapping[str, Any] | None, Spent]:
    """Ask a model; return its data and what it cost, None where it failed. Outside of a unit.

    `text` is data between two marks, a nonce that nobody can have known. Each try is a call, and
    costs what the vendor says, whatever became of it.
    """
    request = contracts.ChatRequest(
        messages=(
            contracts.ChatMessage(role=contracts.ChatRole.SYSTEM, text=question.rules(nonce=nonce)),
            contracts.ChatMessage(role=contracts.ChatRole.USER, text=text),
        ),
        schema_name=question.answer,
        json_schema=question.schema,
        accepts=question.accepts,
        max_output_tokens=max_output_tokens,
        most_calls=most_calls,
    )
    return complete(model=model, request=request)


def complete(
    *, model: contracts.ChatModel, request: contracts.ChatRequest
) -> tuple[Mapping[str, Any] | None, Spent]:
    """Let a model answer a request; return its data and what it cost, None where it failed."""
    try:
        answer = model.complete_json(request=request)
    except errors.ProviderError as error:
        log.warning("The model failed, it is done without: %s", error.detail)
        return None, Spent(
            model=model.key,
            calls=error.calls,
            fallbacks=1,
            is_away=isinstance(error, errors.ProviderUnavailable | errors.ProviderRateLimited),
            input_tokens=error.input_tokens,
            output_tokens=error.output_tokens,
        )
    spent = Spent(
        model=model.key,
        calls=answer.calls,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
    )
    return answer.data, spent


# What may still be asked of models, the least of all bounds; and what was spent.


def of_session(*, row: Session, now: datetime) -> Allowance:
    """Return what a session may spend: the least of its project's and the organization's."""
    wish = _wish(row)
    calls = wish.calls_per_session - int(row.result.get("calls", 0))
    return Allowance(
        mode=Mode(wish.mode),
        calls=max(0, calls) if wish.calls_per_turn else 0,
        tokens=_tokens(wish, row.project_id, now),
        may_leave=row.models_agreed or row.audience != row.opened_by,
        per_turn=wish.calls_per_turn,
    )


def of_search(*, wish: places.Extraction, project_id: UUID | None, now: datetime) -> Allowance:
    """Return what a search may spend that asks for a model itself. In a unit."""
    tokens = _tokens(wish, project_id, now)
    return Allowance(mode=Mode.LLM, calls=1, tokens=tokens, may_leave=True)


def _wish(row: Session | Memory) -> places.Extraction:
    return places.Extraction() if row.project is None else places.extraction_of(row=row.project)


def _tokens(wish: places.Extraction, project_id: UUID | None, now: datetime) -> int | None:
    """Return the tokens that are left of the month, None where nothing bounds them. In a unit."""
    bounds = (
        (wish.tokens_per_month, queries.month(day=now.date(), project_id=project_id)),
        (settings.CAIRN_MODEL_TOKENS_PER_MONTH, queries.month(day=now.date(), everywhere=True)),
    )
    left = [max(0, bound - used.tokens) for bound, used in bounds if bound]
    return min(left) if left else None


def book(*, session_id: UUID, spent: Spent, now: datetime, counted_as: str = "") -> None:
    """Book what was spent for a session, in its sums and on itself. Opens a unit.

    `counted_as` names calls that are counted for themselves besides.
    """
    if spent == NOTHING_SPENT:
        return
    with tenancy.unit():
        row = Session.objects.select_for_update().filter(pk=session_id).first()
        if row is None:
            return
        book_use(spent=spent, project_id=row.project_id, now=now)
        added = {"calls": spent.calls, "tokens": spent.tokens}
        added |= {counted_as: spent.calls} if counted_as else {}
        sums = {name: int(row.result.get(name, 0)) + count for name, count in added.items()}
        row.result = {**row.result, **sums}
        row.save(update_fields=["result"])


def book_use(*, spent: Spent, project_id: UUID | None, now: datetime) -> None:
    """Add to the day's sums of a model, with its cost by the installation's prices. In a unit."""
    if spent == NOTHING_SPENT:
        return
    prices: Mapping[str, tuple[Decimal, Decimal]] = settings.CAIRN_MODEL_PRICES
    first, last = prices.get(spent.model, (Decimal(0), Decimal(0)))
    cost = (first * spent.input_tokens + last * spent.output_tokens) / PER
    counts: dict[str, int | Decimal] = {
        "calls": spent.calls,
        "fallbacks": spent.fallbacks,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": cost,
    }
    metrics.MODEL_TOKENS.labels(spent.model, "in").inc(spent.input_tokens)
    metrics.MODEL_TOKENS.labels(spent.model, "out").inc(spent.output_tokens)
    metrics.MODEL_COST.labels(spent.model).inc(float(cost))
    used = counters.Count(
        kind=MODEL_USE,
        audience=project_id or tenancy.current().organization_id,
        project_id=project_id,
        day=now.date(),
        key=spent.model,
        counts=counts,
    )
    counter_rows.add(counts=(used,), now=now)


# What a new memory is to what is known, judged by one call for many pairs.


def judge(
    *, caller: Caller, news: tuple[remember.NewMemory, ...], allowance: Allowance, now: datetime
) -> Judgment:
    """Judge candidates that have not been stored yet, with at most one call of a model."""
    if allowance.mode is Mode.HEURISTIC or not news:
        return Judgment()
    missing, _ = model_for(allowance=allowance, tenant=tenancy.current().schema_name)
    if missing is Degraded.NO_MODEL:
        return Judgment()
    pairs = tuple(
        pair
        for number, new in enumerate(news)
        for pair in _pairs_of_candidate(caller, new, number, now)
    )
    return ask_model(pairs=pairs[: model_answers.MOST_PAIRS], allowance=allowance)


def ask_model(*, pairs: tuple[model_answers.StatementPair, ...], allowance: Allowance) -> Judgment:
    """Judge pairs with at most one call of a model. Outside of a unit."""
    if allowance.mode is Mode.HEURISTIC or not pairs:
        return Judgment()
    missing, model = model_for(allowance=allowance, tenant=tenancy.current().schema_name)
    if model is None:
        return Judgment(pairs=len(pairs), degraded="" if missing is None else missing.value)
    nonce = secrets.token_hex(NONCE_BYTES)
    data, spent = ask(
        model=model,
        question=model_answers.RELATE,
        nonce=nonce,
        text=model_answers.write_pairs(pairs=pairs, nonce=nonce),
        max_output_tokens=TOKENS_A_PAIR * (len(pairs) + 1),
        most_calls=allowance.most_calls,
    )
    if data is None:
        failed = Degraded.MODEL_FAILED.value
        return Judgment(pairs=len(pairs), spent=spent, degraded=failed)
    judged, dropped = model_answers.read_relations(data=data, pairs=pairs)
    return Judgment(judged=judged, pairs=len(pairs), spent=spent, dropped=dropped)


def _pairs_of_candidate(
    caller: Caller, new: remember.NewMemory, number: int, now: datetime
) -> tuple[model_answers.StatementPair, ...]:
    """Return what stands near a candidate that will be stored; what is refused has nothing."""
    try:
        prepared = remember.prepare(caller=caller, new=new)
        with tenancy.unit():
            where = candidate.find_placement(caller=caller, new=new)
            neighborhood, statement, stored = similar_memories.find_similar(
                caller=caller,
                checked=prepared.checked,
                where=where,
                embedded=similar_memories.in_use(embedded=prepared.embedded),
                now=now,
            )
    except (InvalidInput, Forbidden, NotFound):  # the door says so again, and counts it
        return ()
    bounds = similar_memories.thresholds_of(project=where.project)
    passed = candidate.gate(checked=prepared.checked, neighborhood=neighborhood, thresholds=bounds)
    if passed.outcome is not integrate.GateOutcome.ACCEPTED:
        return ()
    return _pairs(new.content, number, statement, stored, bounds.conflict_cosine)


def _pairs(
    content: str,
    number: int,
    statement: integrate.CandidateStatement,
    known: Iterable[integrate.StoredStatement],
    cosine: float,
) -> tuple[model_answers.StatementPair, ...]:
    """Return a text beside what is worth judging and may be shown with it, the closest first."""
    near = [
        one
        for one in known
        if not one.is_elsewhere
        and integrate.is_worth_judging(candidate=statement, known=one, conflict_cosine=cosine)
    ]
    return tuple(
        model_answers.StatementPair(
            candidate=number, new=content, known_id=one.id, version=one.version, known=one.content
        )
        for one in sorted(near, key=lambda one: (-one.cosine, one.id))[:MOST_NEAR]
    )


def judge_added(
    *, memory_id: UUID, now: datetime, ask: Callable[..., Judgment] = ask_model
) -> Mapping[str, Any]:
    """Compare one memory with what stood before it; return counts, and what was missing.

    Raises EmbedderUnavailable and PermanentFailure as embedding does.
    """
    embedding.embed_batch(memory_ids=(memory_id,))
    with tenancy.unit():
        rows = Memory.objects.select_related("project")
        row = rows.filter(pk=memory_id, status=Status.ACTIVE.value).first()
        if row is None or row.project_id is None:
            return {"gone": 1}
        wish = _wish(row)
        allowance = Allowance(
            mode=Mode(wish.mode),
            calls=max(0, wish.adds_per_day - _calls_today(row, now)),
            tokens=_tokens(wish, row.project_id, now),
            may_leave=row.scope != Scope.PERSONAL,
        )
        near = apply_decision.comparable(row=row)
        pairs = () if near is None else _pairs(row.content, 0, *near)
    if pairs and allowance.calls < 1:
        return {"compared": len(pairs), "degraded": {DAY_CAP: 1}}
    found = ask(pairs=pairs, allowance=allowance)
    if found.spent.calls:
        used = counters.Count(
            kind=JUDGED_ADDS,
            audience=row.audience if row.scope == Scope.PERSONAL else row.project_id,
            project_id=row.project_id,
            day=now.date(),
            key="all",
            counts={"calls": found.spent.calls},
        )
        with tenancy.unit():
            book_use(spent=found.spent, project_id=row.project_id, now=now)
            counter_rows.add(counts=(used,), now=now)
    with tenancy.unit():
        return _take(found, row, now)


def _calls_today(row: Memory, now: datetime) -> int:
    """Return how many calls adds cost today that others may see, and the author's. In a unit."""
    seen = tuple(one for one in (row.project_id, row.author_user) if one)
    sums = Statistic.objects.filter(
        kind=JUDGED_ADDS, project_id=row.project_id, day=now.date(), audience__in=seen
    )
    return sum(int(counts.get("calls", 0)) for counts in sums.values_list("counts", flat=True))


def _take(found: Judgment, row: Memory, now: datetime) -> Mapping[str, Any]:
    """Do what was judged of a text, where the memory still has it; another is judged anew."""
    held = Memory.objects.select_for_update(of=("self",)).filter(pk=row.pk).first()
    judged = found.judged.get(0, ())
    is_other = held is not None and held.content_hash != row.content_hash
    changed = 0
    if held is not None and is_other:
        remember.enqueue_model_look(row=held, created_by=None)
    elif judged:
        share = apply_decision.ReplacementShare(ids=frozenset({row.id}))
        changed = apply_decision.integrate_stored(
            memory_ids=(row.id,), share=share, now=now, judged=judged
        )
    return {
        "compared": found.pairs,
        "judged": len(judged),
        "integrated": changed,
        "calls": found.spent.calls,
        "tokens": found.spent.tokens,
        **({"dropped": dict(found.dropped)} if found.dropped else {}),
        **({"degraded": {found.degraded: 1}} if found.degraded else {}),
        **({"changed": 1} if is_other else {}),
    }
