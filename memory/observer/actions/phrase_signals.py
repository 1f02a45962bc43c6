"""Let a model put what a session showed into better words, in one call of its life.

Runs outside of a unit, in the job behind an ended session, within what the session and the month
may spend. A session that goes on after that, and the pieces of a long build while it runs, are told
by templates: the call is for the end, which sees the most. What only its person sees is never shown
to a model that is not on this machine, unless they agreed. Without a model, and whatever goes wrong
with one, the words of the template stay, and the session says so.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from accounts import tenancy
from memory.extraction.actions import extraction
from memory.extraction.actions.extraction import NONCE_BYTES, Degraded, Mode, Spent
from memory.extraction.prompts import schemas
from memory.observer import phrasing
from memory.observer.actions import offers
from memory.observer.actions.offers import Offer, Proposing
from memory.providers.contracts import ChatMessage, ChatModel, ChatRequest, ChatRole
from memory.providers.errors import ProviderError
from memory.secrets import scanner
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad

log = logging.getLogger(__name__)

OUTPUT_TOKENS_EACH: Final = 160  # of an answer about a signal; default, not measured
CALLS: Final = "phrasing_calls"  # of a session's result: it has one
SPENT: Final = "phrased_before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrased:
    """How many candidates have better words, what was dropped, and what was missing."""

    phrased: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    degraded: str = ""


def phrase_signals(
    *,
    who: Proposing,
    row: Session,
    scratchpad: Scratchpad,
    offered: tuple[Offer, ...],
    now: datetime,
) -> tuple[tuple[Offer, ...], Phrased]:
    """Return the offers, those that would be kept in better words, with at most one call."""
    with tenancy.unit():
        allowance = extraction.of_session(row=row, now=now)
        is_spent = bool(Session.objects.get(pk=row.pk).result.get(CALLS))
    if not offered or allowance.mode is Mode.HEURISTIC:
        return offered, Phrased()
    if is_spent:
        return offered, Phrased(degraded=SPENT)
    tenant = tenancy.current().schema_name
    missing, model = extraction.model_for(allowance=allowance, tenant=tenant)
    if model is None:
        return offered, Phrased(degraded="" if missing is None else missing.value)
    with tenancy.unit():  # a look alone: what is kept is decided again when it is stored
        worth = offers.choose(
            caller=who.caller,
            row=row,
            scratchpad=scratchpad,
            offered=offered,
            dropped=Counter(),
        )
    asked = tuple(one.candidate for one in worth)[: phrasing.MOST]
    if not asked:
        return offered, Phrased()
    nonce = secrets.token_hex(NONCE_BYTES)
    data, spent = ask(
        model=model,
        prompt="phrase",
        nonce=nonce,
        text=phrasing.written(candidates=asked, nonce=nonce),
        schema=("phrases", schemas.PHRASE, schemas.PHRASE_LEAST),
        max_output_tokens=OUTPUT_TOKENS_EACH * (len(asked) + 1),
    )
    extraction.book(session_id=row.id, spent=spent, now=now, counted_as=CALLS)
    if data is None:
        return offered, Phrased(degraded=Degraded.MODEL_FAILED.value)
    found, dropped = phrasing.read(data=data, candidates=asked)
    words = {key: text for key, text in found.items() if not scanner.find_secrets(text=text)}
    dropped["secret"] += len(found) - len(words)
    phrased = Phrased(phrased=len(words), dropped=dict(+dropped))
    return offers.reword(who=who, row=row, offered=offered, words=words), phrased


def ask(
    *,
    model: ChatModel,
    prompt: str,
    nonce: str,
    text: str,
    schema: tuple[str, Mapping[str, Any], Mapping[str, Any]],
    max_output_tokens: int,
) -> tuple[Mapping[str, Any] | None, Spent]:
    """Ask a model; return its data and what it cost, None where it failed. Outside of a unit.

    `prompt` names the rules, `text` is data between two marks, a nonce that nobody can have known.
    `schema` is its name, the schema that is asked for, and the least that is accepted.
    """
    rules = schemas.prompt(name=prompt).replace("{nonce}", nonce)
    schema_name, json_schema, accepts = schema
    request = ChatRequest(
        messages=(
            ChatMessage(role=ChatRole.SYSTEM, text=rules),
            ChatMessage(role=ChatRole.USER, text=text),
        ),
        schema_name=schema_name,
        json_schema=json_schema,
        accepts=accepts,
        max_output_tokens=max_output_tokens,
    )
    try:
        answer = model.complete_json(request=request)
    except ProviderError as error:
        log.warning("Said by templates, the model failed: %s", error.detail)
        return None, Spent(model=model.key, calls=1, fallbacks=1)
    spent = Spent(
        model=model.key,
        calls=1,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
    )
    return answer.data, spent
