"""Ask a model what candidates are to what is known, in one call of a part.

Runs outside of a unit, in a job, within what a session and a month may spend, and only about pairs
that the lazy check would look at anyhow: near by meaning with a shared topic, entity or file. What
only its author sees is never shown to a model that is not on this machine. Whatever goes wrong,
words decide, and the result says so.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.extraction import llm_answers
from memory.extraction.actions import extraction
from memory.extraction.actions.extraction import NONCE_BYTES, Allowance, Degraded, Mode, Spent
from memory.extraction.llm_answers import MOST_PAIRS, Pair
from memory.extraction.prompts import schemas
from memory.intake import integrate
from memory.intake.actions.remember import gate, in_use, prepare
from memory.intake.actions.similar_memories import look_around, thresholds_of
from memory.intake.integrate import Judged, Known
from memory.providers.contracts import ChatMessage, ChatRequest, ChatRole
from memory.providers.errors import ProviderError
from memory.records.actions.candidate import NewMemory, place
from memory.records.gates import GateOutcome
from memory.secrets import scanner

log = logging.getLogger(__name__)

MOST_NEAR: Final = 3  # stored memories that a candidate is compared with, ours
OUTPUT_TOKENS_EACH: Final = 40  # of an answer about a pair, ours


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
    pairs = () if missing is Degraded.NO_MODEL else _pairs(caller, news, now)
    return ask(pairs=pairs, allowance=allowance)


def ask(*, pairs: tuple[Pair, ...], allowance: Allowance) -> Judgment:
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
    judged, dropped = llm_answers.read(data=answer.data, pairs=pairs)
    spent = Spent(
        model=model.key,
        calls=1,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
    )
    return Judgment(judged=judged, pairs=len(pairs), spent=spent, dropped=Counter(dropped))


def _pairs(caller: Caller, news: tuple[NewMemory, ...], now: datetime) -> tuple[Pair, ...]:
    """Return what is worth judging, the closest of each candidate first."""
    found = [
        Pair(
            candidate=number,
            new=new.content,
            known_id=known.id,
            version=known.version,
            known=known.content,
        )
        for number, new in enumerate(news)
        for known in _near(caller, new, now)
    ]
    return tuple(found[:MOST_PAIRS])


def _near(caller: Caller, new: NewMemory, now: datetime) -> tuple[Known, ...]:
    """Return what stands near a candidate that will be stored; what is refused has nothing."""
    try:
        prepared = prepare(caller=caller, new=new)
        with tenancy.unit():
            where = place(caller=caller, new=new)
            around = look_around(
                caller=caller,
                drafted=prepared.drafted,
                where=where,
                embedded=in_use(embedded=prepared.embedded),
                now=now,
            )
    except (InvalidInput, Forbidden, NotFound):  # the door says so again, and counts it
        return ()
    thresholds = thresholds_of(project=where.project)
    passed = gate(drafted=prepared.drafted, neighborhood=around.neighborhood, thresholds=thresholds)
    if passed.outcome is not GateOutcome.ACCEPTED:
        return ()
    worth = (
        known
        for known in around.known
        if not known.is_elsewhere
        and integrate.is_worth_judging(
            candidate=around.statement, known=known, conflict_cosine=thresholds.conflict_cosine
        )
    )
    return tuple(sorted(worth, key=lambda one: (-one.cosine, one.id))[:MOST_NEAR])


def _request(pairs: tuple[Pair, ...]) -> ChatRequest:
    nonce = secrets.token_hex(NONCE_BYTES)
    rules = schemas.prompt(name="relate").replace("{nonce}", nonce)
    return ChatRequest(
        messages=(
            ChatMessage(role=ChatRole.SYSTEM, text=rules),
            ChatMessage(
                role=ChatRole.USER,
                text=llm_answers.written(pairs=pairs, nonce=nonce, clean=_clean),
            ),
        ),
        schema_name="relations",
        json_schema=schemas.RELATE,
        accepts=schemas.RELATE_LEAST,
        max_output_tokens=OUTPUT_TOKENS_EACH * (len(pairs) + 1),
    )


def _clean(text: str) -> str:
    return scanner.without_secrets(text=text)
