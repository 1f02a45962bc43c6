"""Ask a model what a new memory is to what is known, with one call and within a budget.

What conversations teach is compared before it is stored. Without a model, words have decided at the
door already.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.extraction import model_answers
from memory.extraction.actions import extraction
from memory.extraction.prompts import schemas
from memory.intake.actions.candidate import find_placement, gate
from memory.intake.actions.remember import NewMemory, in_use, prepare
from memory.intake.actions.similar_memories import find_similar, thresholds_of
from memory.intake.integrate import (
    CandidateStatement,
    GateOutcome,
    Judged,
    StoredStatement,
    is_worth_judging,
)
from memory.providers.contracts import ChatMessage, ChatRequest, ChatRole
from memory.providers.errors import ProviderError
from memory.secrets import scanner

log = logging.getLogger(__name__)

MOST_NEAR: Final = 3  # stored memories that a candidate is compared with; default, not measured
OUTPUT_TOKENS_EACH: Final = 40  # of an answer about a pair; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """What was judged, by the candidate's place; what it cost, what was dropped or missing."""

    judged: Mapping[int, tuple[Judged, ...]] = field(default_factory=dict)
    pairs: int = 0
    spent: extraction.Spent = field(default_factory=extraction.Spent)
    dropped: Mapping[str, int] = field(default_factory=dict)
    degraded: str = ""


def judge(
    *, caller: Caller, news: tuple[NewMemory, ...], allowance: extraction.Allowance, now: datetime
) -> Judgment:
    """Judge candidates that have not been stored yet, with at most one call of a model."""
    if allowance.mode is extraction.Mode.HEURISTIC or not news:
        return Judgment()
    tenant = tenancy.current().schema_name
    missing, _ = extraction.model_for(allowance=allowance, tenant=tenant)
    if missing is extraction.Degraded.NO_MODEL:
        return Judgment()
    pairs = tuple(
        pair
        for number, new in enumerate(news)
        for pair in _pairs_of_candidate(caller, new, number, now)
    )
    return ask_model(pairs=pairs[: model_answers.MOST_PAIRS], allowance=allowance)


def ask_model(
    *, pairs: tuple[model_answers.StatementPair, ...], allowance: extraction.Allowance
) -> Judgment:
    """Judge pairs with at most one call of a model. Outside of a unit."""
    if allowance.mode is extraction.Mode.HEURISTIC or not pairs:
        return Judgment()
    tenant = tenancy.current().schema_name
    missing, model = extraction.model_for(allowance=allowance, tenant=tenant)
    if model is None:
        return Judgment(pairs=len(pairs), degraded="" if missing is None else missing.value)
    try:
        answer = model.complete_json(request=_request(pairs))
    except ProviderError as error:
        log.warning("Compared by words, the model failed: %s", error.detail)
        spent = extraction.Spent(model=model.key, calls=1, fallbacks=1)
        return Judgment(
            pairs=len(pairs), spent=spent, degraded=extraction.Degraded.MODEL_FAILED.value
        )
    judged, dropped = model_answers.read_relations(data=answer.data, pairs=pairs)
    spent = extraction.Spent(
        model=model.key,
        calls=1,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
    )
    return Judgment(judged=judged, pairs=len(pairs), spent=spent, dropped=Counter(dropped))


def _pairs_of_candidate(
    caller: Caller, new: NewMemory, number: int, now: datetime
) -> tuple[model_answers.StatementPair, ...]:
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
    return pairs_of(new.content, number, statement, stored, thresholds.conflict_cosine)


def pairs_of(
    content: str,
    number: int,
    statement: CandidateStatement,
    known: Iterable[StoredStatement],
    cosine: float,
) -> tuple[model_answers.StatementPair, ...]:
    """Return a text beside what is worth judging and may be shown with it, the closest first."""
    worth = [
        one
        for one in known
        if not one.is_elsewhere
        and is_worth_judging(candidate=statement, known=one, conflict_cosine=cosine)
    ]
    worth.sort(key=lambda one: (-one.cosine, one.id))
    return tuple(
        model_answers.StatementPair(
            candidate=number,
            new=content,
            known_id=one.id,
            version=one.version,
            known=one.content,
        )
        for one in worth[:MOST_NEAR]
    )


def _request(pairs: tuple[model_answers.StatementPair, ...]) -> ChatRequest:
    nonce = secrets.token_hex(extraction.NONCE_BYTES)
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
