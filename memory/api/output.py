"""Memories as JSON: plain functions, because this is the largest part of an answer."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.schemas import (
    FREE,
    ID,
    MOMENT,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    maybe,
    page_of,
    record,
    ref,
    several,
)
from memory.api import styles
from memory.customization.methodology import OnComplete
from memory.customization.phases import Phase
from memory.intake.actions.remember import Outcome
from memory.records.queries.memories import VersionView
from memory.records.queries.relations import Contradiction, Relation
from memory.records.queries.views import MemoryView
from memory.search.actions import Hit, Layout, SearchAnswer
from memory.search.context import Context, Reason
from memory.search.lookups import Closeness, Matches
from memory.search.presentation import Order

NAMES: Final = tuple(
    name for name in MemoryView.__dataclass_fields__ if name not in {"project_slug", "project_id"}
)
_SHAPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "id": ID,
    "external_id": TEXT,
    "type": TEXT,
    "own_type": TEXT,
    "content": TEXT,
    "citation": TEXT,
    "tags": several(TEXT),
    "related_files": several(TEXT),
    "related_modules": several(TEXT),
    "structure": TEXT,
    "attributes": FREE,
    "scope": TEXT,
    "team_id": maybe(ID),
    "reach": TEXT,
    "phase": TEXT,
    "methodology": TEXT,
    "confidence": NUMBER,
    "effective_confidence": NUMBER,
    "confirmations": WHOLE,
    "last_confirmed_at": maybe(MOMENT),
    "verification": TEXT,
    "verified_at": maybe(MOMENT),
    "needs_review": TRUTH,
    "user_verified": TRUTH,
    "taint_reason": TEXT,
    "authority": WHOLE,
    "importance": NUMBER,
    "surprise": NUMBER,
    "tier": TEXT,
    "governance": WHOLE,
    "pinned": TRUTH,
    "decay_half_life_days": maybe(NUMBER),
    "event_at": maybe(MOMENT),
    "created_at": MOMENT,
    "updated_at": MOMENT,
    "valid_from": MOMENT,
    "valid_until": maybe(MOMENT),
    "status": TEXT,
    "superseded_by": maybe(ID),
    "stale_at": maybe(MOMENT),
    "archived_reason": TEXT,
    "version": WHOLE,
    "source": TEXT,
    "source_interface": TEXT,
    "source_uri": TEXT,
    "source_line": maybe(WHOLE),
    "commit_sha": TEXT,
    "author_user": maybe(ID),
    "author_agent": TEXT,
    "access_count": WHOLE,
    "last_accessed_at": maybe(MOMENT),
    "embedded": TRUTH,
}
SHOWN_DIGITS: Final = 4  # of confidences and values between 0 and 1
_OF_CONTEXT: Final = (
    "tokens", "budget_tokens", "phase", "order", "hint", "nothing_relevant", "degraded", "took_ms",
    "profile",
)  # fmt: skip
_WHY: Final = record(  # as memory.search.presentation makes it
    score=NUMBER,
    parts=FREE,
    multipliers=FREE,
    fusion=NUMBER,
    paths=FREE,
    boost=maybe(record(shared_files=WHOLE, value=NUMBER)),
    rerank=maybe(record(rank_before=WHOLE, score=NUMBER)),
    relevance=record(value=NUMBER, threshold=NUMBER, calibration=TEXT, signs=FREE, parts=FREE),
)
_RELATION: Final = record(id=ID, type=TEXT, citation=TEXT, kind=TEXT, outgoing=TRUTH)
_SIDE: Final = record(id=ID, type=TEXT, citation=TEXT, content=TEXT, conflict_id=maybe(ID))
_MEMORY: Final = record(project=maybe(TEXT), project_id=maybe(ID), **_SHAPES)
_RESULT: Final = {  # what is not required is there only where it was asked for
    **record(memory=ref("Memory"), relevance=NUMBER),
    "properties": {
        "memory": ref("Memory"),
        "relevance": NUMBER,
        "explain": _WHY,
        "excerpt": TEXT,
        "neighbors": several(_RELATION),
        "see_also": several(_RELATION),
        "contradictions": several(_SIDE),
    },
}
_OF_RESULTS: Final[dict[str, Any]] = record(
    results=several(_RESULT),
    nothing_relevant=TRUTH,
    degraded=several(TEXT),
    took_ms=NUMBER,
    profile=TEXT,
)
_RESULTS: Final = {
    **_OF_RESULTS,
    "properties": {
        **_OF_RESULTS["properties"],
        "order": {"type": "string", "enum": list(Order)},
        "hint": TEXT,
        "made_up": TEXT,
        "topic": record(id=ID, label=TEXT, closeness=NUMBER),
        "funnel": record(paths=FREE, found=WHOLE, judged=WHOLE, shown=WHOLE, threshold=NUMBER),
    },
}
_OUTCOME: Final = {"type": "string", "enum": ["added", "confirmed", "known", "updated", "refused"]}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Memory": {  # what contradicts it is there only where something does
        **_MEMORY,
        "properties": {**_MEMORY["properties"], "contradictions": several(_SIDE)},
    },
    "MemoryPage": page_of("Memory"),
    "Remembered": record(
        outcome=_OUTCOME,
        memory=ref("Memory"),
        gate=TEXT,
        reason=TEXT,
        hint=TEXT,
        embedding={"type": "string", "enum": ["stored", "queued", "none"]},
        job_id=maybe(ID),
        operation={"type": "string", "enum": ["", "supersedes", "contradicts", "extend", "derive"]},
        related_id=maybe(ID),
        conflict_id=maybe(ID),
        cause=TEXT,
    ),
    "RememberedAll": record(
        outcomes=several(
            record(
                outcome=_OUTCOME,
                memory=maybe(record(id=ID, external_id=TEXT)),
                gate=TEXT,
                reason=TEXT,
                hint=TEXT,
            )
        ),
        job_id=maybe(ID),
    ),
    "Versions": record(
        items=several(
            record(
                number=WHOLE,
                content=TEXT,
                fields=FREE,
                reason=TEXT,
                changed_by=maybe(ID),
                changed_agent=TEXT,
                changed_at=MOMENT,
            )
        )
    ),
    "SearchResults": _RESULTS,
    "Methodology": record(
        name=TEXT,
        phases=FREE,
        is_own=TRUTH,
        relays=several(record(**{"from": TEXT, "to": TEXT, "types": several(TEXT)})),
        on_complete=several({"type": "string", "enum": [*OnComplete]}),
        types=several(record(name=TEXT, base=TEXT, says=TEXT)),
    ),
    "Methodologies": record(items=several(ref("Methodology"))),
    "Similar": record(
        items=several(record(memory=ref("Memory"), similarity=NUMBER)),
        degraded=several(TEXT),
        took_ms=NUMBER,
    ),
    "Recall": record(
        items=several(
            record(memory=ref("Memory"), closeness={"type": "string", "enum": list(Closeness)})
        ),
        took_ms=NUMBER,
    ),
    "TimelinePage": record(
        items=several(record(memory=ref("Memory"), at=MOMENT)), next_cursor=maybe(TEXT)
    ),
    "Context": record(
        text=TEXT,
        memories=several(
            record(memory=ref("Memory"), relevance=maybe(NUMBER), contradicts=several(ID))
        ),
        left_out=several(
            record(
                id=ID,
                type=TEXT,
                citation=TEXT,
                reason={"type": "string", "enum": list(Reason)},
                stands_for_it=maybe(ID),
            )
        ),
        tokens=WHOLE,
        budget_tokens=WHOLE,
        phase=maybe({"type": "string", "enum": list(Phase)}),
        order={"type": "string", "enum": list(Order)},
        hint=TEXT,
        nothing_relevant=TRUTH,
        degraded=several(TEXT),
        took_ms=NUMBER,
        profile=TEXT,
        style=maybe(styles.PICKED),
    ),
}


def memory(view: MemoryView) -> dict[str, Any]:
    """Return a memory; `project` is its slug, null for none."""
    shown: dict[str, Any] = {
        "project": view.project_slug or None,
        "project_id": view.project_id,
    }
    for name in NAMES:
        value = getattr(view, name)
        shown[name] = round(value, SHOWN_DIGITS) if isinstance(value, float) else value
    return shown


def together(view: MemoryView, others: tuple[Contradiction, ...]) -> dict[str, Any]:
    """Return a memory with what contradicts it, so that no side is told alone."""
    shown = memory(view)
    return {**shown, "contradictions": [side(one) for one in others]} if others else shown


def outcome(result: Outcome, *, is_embedded: bool) -> dict[str, Any]:
    """Return what became of one memory; `is_embedded` says that its job has ended well since."""
    shown = None if result.memory is None else memory(result.memory)
    if shown is not None and is_embedded:
        shown["embedded"] = True
    return {
        "outcome": result.outcome,
        "memory": shown,
        "gate": result.gate,
        "reason": result.reason,
        "hint": result.hint,
        "embedding": "stored" if is_embedded else result.embedding,
        "job_id": result.job_id,
        "operation": result.operation,
        "related_id": result.related_id,
        "conflict_id": result.conflict_id,
        "cause": result.cause,
    }


def short_outcome(result: Outcome) -> dict[str, Any]:
    """Return what became of one memory of many."""
    view = result.memory
    return {
        "outcome": result.outcome,
        "memory": None if view is None else {"id": view.id, "external_id": view.external_id},
        "gate": result.gate,
        "reason": result.reason,
        "hint": result.hint,
    }


def version(view: VersionView) -> dict[str, Any]:
    """Return one version of a memory."""
    return {name: getattr(view, name) for name in VersionView.__dataclass_fields__}


def answer(result: SearchAnswer, *, with_reasons: bool) -> dict[str, Any]:
    """Return the results of a search; with reasons, also what each step kept."""
    shown = {
        "results": [_hit(hit, with_reasons) for hit in result.hits],
        "nothing_relevant": result.nothing_relevant,
        "degraded": result.degraded,
        "took_ms": result.took_ms,
        "profile": result.profile,
    }
    if result.made_up:
        shown["made_up"] = result.made_up
    if result.topic is not None:
        near = result.topic
        shown["topic"] = {
            "id": near.topic.id,
            "label": near.topic.label,
            "closeness": near.closeness,
        }
    return {**shown, "funnel": asdict(result.funnel)} if with_reasons else shown


def layout(result: Layout, *, with_reasons: bool) -> dict[str, Any]:
    """Return the results of a search laid out, each with what it is linked with."""
    shown = answer(result.answer, with_reasons=with_reasons)
    for one, hit in zip(shown["results"], result.answer.hits, strict=True):
        around = result.surroundings[hit.memory.id]
        one["neighbors"] = [_relation(other) for other in around.neighbors]
        one["see_also"] = [_relation(other) for other in around.see_also]
    return {**shown, "order": result.order, "hint": result.hint}


def _relation(one: Relation) -> dict[str, Any]:
    return {
        "id": one.other_id,
        "type": one.type,
        "citation": one.citation,
        "kind": one.kind,
        "outgoing": one.outgoing,
    }


def matches(found: Matches) -> dict[str, Any]:
    """Return what a pattern matches, in the shape of a search: a match is wholly relevant."""
    return {
        "results": [
            {
                "memory": together(one.memory, found.sides.get(one.memory.id, ())),
                "relevance": 1.0,
                "excerpt": one.excerpt,
            }
            for one in found.items
        ],
        "nothing_relevant": not found.items,
        "degraded": (),
        "took_ms": found.took_ms,
        "profile": "pattern",
    }


def context(result: Context) -> dict[str, Any]:
    """Return a packed context: its text, the memories it is made of, and those it is not."""
    return {
        "text": result.text,
        "memories": [
            {
                "memory": memory(one.memory),
                "relevance": one.relevance,
                "contradicts": one.contradicts,
            }
            for one in result.told
        ],
        "left_out": [
            {
                "id": one.memory.id,
                "type": one.memory.type,
                "citation": one.memory.citation,
                "reason": one.reason,
                "stands_for_it": one.stands_for_it,
            }
            for one in result.left_out
        ],
        **{name: getattr(result, name) for name in _OF_CONTEXT},
        "style": None if result.style is None else styles.picked(result.style),
    }


def _hit(hit: Hit, with_reasons: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"memory": memory(hit.memory), "relevance": hit.relevance}
    if hit.contradictions:
        shown["contradictions"] = [side(one) for one in hit.contradictions]
    return {**shown, "explain": hit.explain} if with_reasons else shown


def side(one: Contradiction) -> dict[str, Any]:
    """Return the other side of a contradiction."""
    return {
        "id": one.memory_id,
        "type": one.type,
        "citation": one.citation,
        "content": one.content,
        "conflict_id": one.conflict_id,
    }
