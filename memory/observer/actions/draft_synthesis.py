"""Let a model say what the sums of a module show, in one call a threshold.

Runs outside of a unit, in the job behind a session that made it due, within what that session and
the month may spend. The sums are those of the session's own place, so nobody is told what others
did for themselves; those of one person reach a model elsewhere only where they agreed for each
session that is counted there. Without a model, and whatever goes wrong with one, templates speak,
and the job says so.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from accounts import tenancy
from memory.extraction.actions import budget, extraction
from memory.extraction.actions.extraction import NONCE_BYTES, Allowance, Degraded, Mode, Spent
from memory.extraction.prompts import schemas
from memory.observer import drafting, syntheses
from memory.observer.drafting import Fact
from memory.observer.syntheses import DRAFTS_MOST, Draft, Summary
from memory.providers.contracts import ChatMessage, ChatModel, ChatRequest, ChatRole
from memory.providers.errors import ProviderError
from memory.secrets import scanner
from memory.sessions.models import Session

log = logging.getLogger(__name__)

OUTPUT_TOKENS_EACH: Final = 200  # of an answer about a memory, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """What a synthesis says, whether a model says it, what it cost, and what was dropped."""

    drafts: tuple[Draft, ...]
    is_of_model: bool = False
    spent: Spent = field(default_factory=Spent)
    dropped: Mapping[str, int] = field(default_factory=dict)
    degraded: str = ""


def draft_synthesis(*, row: Session, summary: Summary, now: datetime) -> Drafted:
    """Return what the sums of a module justify, with at most one call of a model."""
    drafted = _drafted(row, summary, now)
    if drafted.is_of_model:
        return drafted
    return replace(drafted, drafts=syntheses.of_module(summary=summary))


def _drafted(row: Session, summary: Summary, now: datetime) -> Drafted:
    """Return what a model says; nothing that is of one where it may not, or does not, speak."""
    told = drafting.facts(summary=summary)
    with tenancy.unit():
        allowance = _allowance(row, now)
    if not told or allowance.mode is Mode.HEURISTIC:
        return Drafted(drafts=())
    tenant = tenancy.current().schema_name
    missing, model = extraction.model_for(allowance=allowance, tenant=tenant)
    if model is None:
        return Drafted(drafts=(), degraded="" if missing is None else missing.value)
    drafted = _asked(summary.module.module, told, model)
    budget.book(session_id=row.id, spent=drafted.spent, now=now)
    return drafted


def _allowance(row: Session, now: datetime) -> Allowance:
    """Return what is left for a session; the sums of a person hold all of theirs. In a unit."""
    held = Session.objects.select_related("project").get(pk=row.pk)
    allowance = budget.of_session(row=held, now=now)
    if row.audience != row.opened_by:
        return allowance
    counted = Session.objects.filter(audience=row.audience, project=row.project_id)
    kept = counted.filter(finalized_at__isnull=False, models_agreed=False).exists()
    return replace(allowance, may_leave=allowance.may_leave and not kept)


def _asked(module: str, told: tuple[Fact, ...], model: ChatModel) -> Drafted:
    try:
        answer = model.complete_json(request=_request(module, told))
    except ProviderError as error:
        log.warning("Synthesized by templates, the model failed: %s", error.detail)
        spent = Spent(model=model.key, calls=1, fallbacks=1)
        return Drafted(drafts=(), spent=spent, degraded=Degraded.MODEL_FAILED.value)
    found, dropped = drafting.read(data=answer.data, told=told)
    kept = tuple(one for one in found if not scanner.find_secrets(text=one.content))
    held = Counter({"secret": len(found) - len(kept)})
    return Drafted(
        drafts=kept,
        is_of_model=bool(kept) or not dropped + held,
        spent=Spent(
            model=model.key,
            calls=1,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
        ),
        dropped=+(dropped + held),
    )


def _request(module: str, told: tuple[Fact, ...]) -> ChatRequest:
    nonce = secrets.token_hex(NONCE_BYTES)
    rules = schemas.prompt(name="synthesize").replace("{nonce}", nonce)
    text = drafting.written(module=module, told=told, nonce=nonce, clean=_clean)
    return ChatRequest(
        messages=(
            ChatMessage(role=ChatRole.SYSTEM, text=rules),
            ChatMessage(role=ChatRole.USER, text=text),
        ),
        schema_name="syntheses",
        json_schema=schemas.SYNTHESIZE,
        accepts=schemas.SYNTHESIZE_LEAST,
        max_output_tokens=OUTPUT_TOKENS_EACH * (DRAFTS_MOST + 1),
    )


def _clean(text: str) -> str:
    return scanner.without_secrets(text=text)
