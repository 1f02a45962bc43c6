"""Take candidates from turns, by words or with a model, within what a project may spend.

Runs outside of a unit, in a job: no request waits for it. Whatever goes wrong with a model (it is
away, slow, refuses, answers rubbish, or its budget is spent), the extractor by words does the same
part, and the result says that it did and why. Documents take the same way: a document is one turn.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.conf import settings

from accounts import tenancy
from memory.extraction import extract, model_answers, queries, transcripts
from memory.extraction.extract import Candidate
from memory.extraction.prompts import schemas
from memory.providers import registry
from memory.providers.contracts import ChatMessage, ChatModel, ChatRequest, ChatRole
from memory.providers.errors import ProviderError
from memory.records.models import Memory
from memory.secrets import scanner
from memory.sessions import counter_rows
from memory.sessions.models import Session
from memory.sessions.turns import Speaker, Turn
from memory.taxonomy import Scope
from teams import queries as places
from teams.queries import Extraction

log = logging.getLogger(__name__)

NONCE_BYTES: Final = 8
MOST_OUTPUT_TOKENS: Final = 4_096  # of one call; default, not measured


class Mode(StrEnum):
    """How a project's conversations are read."""

    HEURISTIC = "heuristic"
    LLM = "llm"
    HYBRID = "hybrid"


class Degraded(StrEnum):
    """Why a part was read by words although a model was wanted."""

    NO_MODEL = "no_model"
    NOT_AGREED = "models_not_agreed"
    MODEL_FAILED = "model_failed"
    SESSION_CAP = "session_calls_spent"
    TURN_CAP = "turn_calls_spent"
    MONTH_CAP = "month_tokens_spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What may still be spent: calls of this session, tokens of this month (None: no bound).

    `may_leave` says whether the turns may be sent to a model that is not on this machine. A turn
    may cost `per_turn` calls; `of_turns` are left of those of a part (None: not counted).
    """

    mode: Mode
    calls: int
    tokens: int | None
    may_leave: bool
    per_turn: int = 1
    of_turns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one part of a conversation cost, with which model."""

    model: str = ""
    calls: int = 0
    fallbacks: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Return all tokens."""
        return self.input_tokens + self.output_tokens


NOTHING_SPENT: Final = Spent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The candidates of a part, what was dropped and why, what it cost, and what was missing."""

    candidates: tuple[Candidate, ...]
    method: str
    dropped: Mapping[str, int]
    degraded: str
    spent: Spent


def extract_part(*, turns: tuple[Turn, ...], allowance: Allowance, tenant: str) -> Extracted:
    """Take candidates from at most 30 turns, with at most one call of a model.

    `tenant` is the schema whose circuit and budget the call uses.
    """
    if allowance.mode is Mode.HEURISTIC:
        return _by_words(turns)
    asked = turns if allowance.mode is Mode.LLM else transcripts.worth_asking(turns=turns)
    nonce = secrets.token_hex(NONCE_BYTES)
    written = transcripts.written(
        turns=asked, nonce=nonce, clean=lambda text: scanner.without_secrets(text=text)
    )
    if not written:
        return _by_words(turns)
    missing, model = model_for(allowance=allowance, tenant=tenant)
    if model is None:
        return _by_words(turns, degraded=missing)
    return _with_model(turns, asked, _request(written, nonce), model)


def extract_text(*, text: str, allowance: Allowance, tenant: str) -> tuple[Extracted, ...]:
    """Take candidates from a document that a person marked as a source, part by part."""
    turns = tuple(
        Turn(sequence=number, speaker=Speaker.USER, text=part)
        for number, part in enumerate(_parts(text), 1)
    )
    found: list[Extracted] = []
    left = allowance
    for batch in transcripts.batches(turns=turns):
        found.append(extract_part(turns=batch, allowance=left, tenant=tenant))
        left = after(allowance=left, spent=found[-1].spent)
    return tuple(found)


def after(*, allowance: Allowance, spent: Spent) -> Allowance:
    """Return what is left of an allowance."""
    tokens = None if allowance.tokens is None else max(0, allowance.tokens - spent.tokens)
    return replace(allowance, calls=max(0, allowance.calls - spent.calls), tokens=tokens)


def model_for(*, allowance: Allowance, tenant: str) -> tuple[Degraded | None, ChatModel | None]:
    """Return the model that may be asked; else none, and why."""
    try:
        model = registry.chat_model(tenant=tenant)
    except ProviderError as error:
        log.warning("Read by words, there is no model: %s", error.detail)
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


def _with_model(
    turns: tuple[Turn, ...], asked: tuple[Turn, ...], request: ChatRequest, model: ChatModel
) -> Extracted:
    try:
        answer = model.complete_json(request=request)
    except ProviderError as error:
        log.warning("Read by words, the model failed: %s", error.detail)
        spent = Spent(model=model.key, calls=1, fallbacks=1)
        return _by_words(turns, degraded=Degraded.MODEL_FAILED, spent=spent)
    found, dropped = model_answers.read(data=answer.data, turns=asked)
    kept, secret = _without_secrets(found)
    spent = Spent(
        model=model.key,
        calls=1,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
    )
    return Extracted(
        candidates=kept, method="llm", dropped=dropped + secret, degraded="", spent=spent
    )


def _by_words(
    turns: tuple[Turn, ...], *, degraded: Degraded | None = None, spent: Spent = NOTHING_SPENT
) -> Extracted:
    kept, secret = _without_secrets(extract.extract(turns=turns))
    return Extracted(
        candidates=kept,
        method="heuristic",
        dropped=secret,
        degraded="" if degraded is None else degraded.value,
        spent=spent,
    )


def _without_secrets(found: tuple[Candidate, ...]) -> tuple[tuple[Candidate, ...], Counter[str]]:
    """Return the candidates that hold no secret, and how many do."""
    kept = tuple(one for one in found if not scanner.find_secrets(text=one.content))
    return kept, +Counter({"secret": len(found) - len(kept)})


def _request(written: str, nonce: str) -> ChatRequest:
    rules = schemas.prompt(name="extract").replace("{nonce}", nonce)
    return ChatRequest(
        messages=(
            ChatMessage(role=ChatRole.SYSTEM, text=rules),
            ChatMessage(role=ChatRole.USER, text=written),
        ),
        schema_name="memories",
        json_schema=schemas.EXTRACT,
        accepts=schemas.EXTRACT_LEAST,
        max_output_tokens=MOST_OUTPUT_TOKENS,
    )


def _parts(text: str) -> tuple[str, ...]:
    """Cut a document at blank lines into parts that fit into a turn of a call."""
    parts: list[str] = []
    for paragraph in text.split("\n\n"):
        together = f"{parts[-1]}\n\n{paragraph}" if parts else paragraph
        if parts and len(together) <= transcripts.LONGEST_TURN:
            parts[-1] = together
        else:
            parts.append(paragraph)
    return tuple(part for part in parts if part.strip())


# What may still be asked of models, the least of all bounds; and what was spent.

KIND: Final = "model_use"  # of statistics
PER: Final = Decimal(1_000_000)  # tokens that a price is for


def of_session(*, row: Session, now: datetime) -> Allowance:
    """Return what a session may spend: the least of its project's and the organization's."""
    wish = Extraction() if row.project is None else places.extraction_of(row=row.project)
    calls = wish.calls_per_session - int(row.result.get("calls", 0))
    return Allowance(
        mode=Mode(wish.mode),
        calls=max(0, calls) if wish.calls_per_turn else 0,
        tokens=_tokens(wish, row.project_id, now),
        may_leave=row.models_agreed or row.audience != row.opened_by,
        per_turn=wish.calls_per_turn,
    )


def of_add(*, row: Memory, spent: int, now: datetime) -> Allowance:
    """Return what judging a memory of a project may spend; today's adds have cost calls already."""
    wish = Extraction() if row.project is None else places.extraction_of(row=row.project)
    return Allowance(
        mode=Mode(wish.mode),
        calls=max(0, wish.adds_per_day - spent),
        tokens=_tokens(wish, row.project_id, now),
        may_leave=row.scope != Scope.PERSONAL,
    )


def _tokens(wish: Extraction, project_id: UUID | None, now: datetime) -> int | None:
    """Return the tokens that are left of the month, None where nothing bounds them. In a unit."""
    bounds = (
        (wish.tokens_per_month, queries.month_of_project(project_id=project_id, day=now.date())),
        (settings.CAIRN_MODEL_TOKENS_PER_MONTH, queries.month(day=now.date())),
    )
    left = [max(0, bound - used.tokens) for bound, used in bounds if bound]
    return min(left) if left else None


def book(*, session_id: UUID, spent: Spent, now: datetime, counted_as: str = "") -> None:
    """Book what was spent for a session, in its sums and on itself. Opens a unit.

    `counted_as` names calls that are counted for themselves besides.
    """
    if not spent.calls:
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
    """Add to the day's sums of a model. In a unit."""
    if not spent.calls:
        return
    counts: dict[str, int | Decimal] = {
        "calls": spent.calls,
        "fallbacks": spent.fallbacks,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": cost_of(spent=spent),
    }
    addition = counter_rows.Addition(
        audience=project_id or tenancy.current().organization_id,
        project_id=project_id,
        day=now.date(),
        key=spent.model,
        counts=counts,
    )
    counter_rows.add(kind=KIND, additions=(addition,), now=now)


def cost_of(*, spent: Spent) -> Decimal:
    """Return the money of a call by the installation's prices; 0 for a model without one."""
    prices: Mapping[str, tuple[Decimal, Decimal]] = settings.CAIRN_MODEL_PRICES
    first, last = prices.get(spent.model, (Decimal(0), Decimal(0)))
    return (first * spent.input_tokens + last * spent.output_tokens) / PER
