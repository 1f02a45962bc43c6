"""Context: what an agent should know for a piece of work, packed into its token budget.

Search first, then the contradictions of what was found are brought in, overlaps left out, and the
rest packed by the shares of the phase and written under the files it is about. Whole memories
only, both sides of a contradiction or none, never a token over the budget by our count, and each
memory that was found and is left out is named with the reason. Nothing relevant is an answer: its
text is empty.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.customization import methodology
from memory.customization.phases import BUDGETS, GENERAL, Budget, Phase
from memory.customization.queries import choose_style, own_methodologies
from memory.customization.style import Composed
from memory.records.queries import relations
from memory.records.queries.views import MemoryView, give_out, views_of
from memory.search import packing, presentation
from memory.search.actions import Hit, SearchAnswer, organize_hits, search
from memory.search.packing import NOTICE, SALIENCE_BOOST, Block, Entry, Overlap, Packable
from memory.search.presentation import Order
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from memory.text import tokens
from teams import visibility

LOOKED_AT: Final = 50  # results of the search behind a context
LARGEST_BUDGET: Final = 32_000  # tokens
LARGEST_STYLE: Final = 0.25  # of the budget; all three defaults, not measured


class Reason(StrEnum):
    """Why a memory that was found is left out."""

    OVERLAP = "overlap"
    OVER_BUDGET = "over_budget"
    CONTRADICTION_OVER_BUDGET = "contradiction_over_budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What work is ahead. `phase` is one of ours, or the methodology's own name for it.

    `budget_tokens` None takes the phase's; `search` holds query, project, filters and profile.
    `topic` is what the session is about, the query where it is None; `style` says whether the
    communication style that fits begins the text. What is about `working_files` comes first.
    """

    search: SearchRequest
    phase: str | None = None
    methodology: str | None = None
    budget_tokens: int | None = None
    topic: str | None = None
    style: bool = True
    working_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Styled:
    """The style that fits, and what the text begins with for it; empty where it takes too much."""

    composed: Composed
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A memory of the text, in its order; `contradicts` are others of the text."""

    memory: MemoryView
    relevance: float | None
    contradicts: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A memory that was found and is left out; `stands_for_it` says the same and is not."""

    memory: MemoryView
    reason: Reason
    stands_for_it: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The text, what it is made of and what not; `tokens` is at most `budget_tokens`."""

    text: str
    told: tuple[Told, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    budget_tokens: int
    phase: Phase | None
    order: Order
    hint: str
    nothing_relevant: bool
    degraded: tuple[str, ...]
    took_ms: float
    profile: str
    style: Styled | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    """What may be told: blocks as ranked, overlaps, who contradicts whom, and the order to tell."""

    blocks: tuple[Block, ...]
    overlaps: tuple[Overlap, ...]
    contradictions: Mapping[UUID, frozenset[UUID]]
    views: Mapping[UUID, MemoryView]
    relevance: Mapping[UUID, float]
    order: Order
    positions: Mapping[UUID, int]


def context(*, caller: Caller, request: ContextRequest, now: datetime) -> Context:
    """Pack what fits the work ahead.

    Raises InvalidInput naming the field, NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    is_named = request.phase is not None or request.methodology is not None
    own = own_methodologies(caller=caller) if is_named else {}
    phase = methodology.phase(methodology=request.methodology, name=request.phase, own=own)
    budget = _budget(phase, request.budget_tokens)
    wanted = replace(request.search, phase=phase, limit=LOOKED_AT)
    answer = search(caller=caller, request=wanted, now=now)
    material = _gather(caller, _by_salience(answer, request.working_files), now)
    style = _style(caller, request, budget)
    heading = "" if style is None else style.text
    less = replace(budget, tokens=budget.tokens - tokens.count(text=heading))
    blocks, unpacked = _pack(material, less)
    text = heading + packing.write(blocks=blocks)
    told, left_out = _told(blocks, material), _left_out(material, unpacked)
    return Context(
        text=text,
        told=told,
        left_out=left_out,
        tokens=tokens.count(text=text),
        budget_tokens=budget.tokens,
        phase=phase,
        order=material.order,
        hint=presentation.hint(
            order=material.order,
            told=len(told),
            disagreeing=sum(bool(one.contradicts) for one in told),
            left_out=len(left_out),
        ),
        nothing_relevant=answer.nothing_relevant,
        degraded=answer.degraded,
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
        profile=answer.profile,
        style=style,
    )


def _budget(phase: Phase | None, given: int | None) -> Budget:
    usual = GENERAL if phase is None else BUDGETS[phase]
    if given is None:
        return usual
    if 1 <= given <= LARGEST_BUDGET:
        return replace(usual, tokens=given)
    raise wrong_field(
        pointer="/budget_tokens",
        detail=message("A budget of {given} tokens cannot be kept.", given=given),
        hint=message(
            "Use 1 to {most:,}, or leave it out for the phase's own.", most=LARGEST_BUDGET
        ),
        code="range",
    )


def _style(caller: Caller, request: ContextRequest, budget: Budget) -> Styled | None:
    """Return the style that fits; one that would take too much of the budget is only named."""
    if not request.style:
        return None
    topic = request.search.query if request.topic is None else request.topic
    found = choose_style(caller=caller, topic=topic, interface=None)
    if found is None:
        return None
    heading = packing.heading_of_style(name=found.style.name, text=found.style.text)
    fits = tokens.count(text=heading) <= LARGEST_STYLE * budget.tokens
    return Styled(composed=found, text=heading if fits else "")


def _by_salience(answer: SearchAnswer, working: tuple[str, ...]) -> SearchAnswer:
    """Raise what is about the files that are worked on; without any, the order is the search's."""
    if not working:
        return answer
    near = frozenset(working)

    def salience(hit: Hit) -> float:
        is_near = not near.isdisjoint(hit.memory.related_files)
        return hit.relevance + (SALIENCE_BOOST if is_near else 0.0)

    return replace(answer, hits=tuple(sorted(answer.hits, key=salience, reverse=True)))


def _gather(caller: Caller, answer: SearchAnswer, now: datetime) -> _Material:
    """Read what contradicts the hits, and make blocks of it all."""
    views = {hit.memory.id: hit.memory for hit in answer.hits}
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        order, told, related = organize_hits(caller=caller, hits=answer.hits)
        sides = relations.contradictions(relations=related)
        missing = sides.keys() - views.keys()
        noted = missing & {one.memory_id for hit in answer.hits for one in hit.contradictions}
        fresh = tuple(sorted(missing - noted))
        others: dict[UUID, MemoryView] = {}
        if noted:  # by the search, when it returned them beside its hits
            others = views_of(memory_ids=tuple(sorted(noted)), sight=sight, now=now)
        if fresh:
            others |= give_out(memory_ids=fresh, sight=sight, now=now)
    blocks, overlaps = packing.blocks_of(
        ranked=tuple(_entry(hit.memory) for hit in answer.hits),
        contradictions=sides,
        others={memory_id: _entry(view) for memory_id, view in others.items()},
    )
    return _Material(
        blocks=blocks,
        overlaps=overlaps,
        contradictions=sides,
        views={**views, **others},
        relevance={hit.memory.id: hit.relevance for hit in answer.hits},
        order=order,
        positions={memory_id: position for position, memory_id in enumerate(told)},
    )


def _entry(view: MemoryView) -> Entry:
    return Entry(
        memory_id=view.id,
        type=view.type,
        content=view.content,
        citation=view.citation,
        file=view.related_files[0] if view.related_files else "",
        verification=view.verification,
        needs_review=view.needs_review,
        own_type=view.own_type,
    )


def _pack(material: _Material, budget: Budget) -> tuple[tuple[Block, ...], tuple[Packable, ...]]:
    """Return the blocks that fit, in the order to tell them, and what did not fit."""
    room = max(0, budget.tokens - tokens.count(text=f"{NOTICE}\n"))
    by_id = {block.entries[0].memory_id: block for block in material.blocks}
    ranked = tuple(
        Packable(
            memory_id=memory_id,
            type=MemoryType(block.entries[0].type),
            tokens=tokens.count(text=packing.alone(block=block)),
        )
        for memory_id, block in by_id.items()
    )
    fitting, unpacked = packing.pack(ranked=ranked, budget=replace(budget, tokens=room))
    in_order = sorted(fitting, key=lambda item: material.positions[item.memory_id])
    blocks = tuple(by_id[item.memory_id] for item in in_order)
    is_ranked = material.order is Order.SCORE
    return packing.by_file(blocks=blocks) if is_ranked else blocks, unpacked


def _told(blocks: tuple[Block, ...], material: _Material) -> tuple[Told, ...]:
    entries = tuple(entry for block in blocks for entry in block.entries)
    ids = frozenset(entry.memory_id for entry in entries)
    return tuple(
        Told(
            memory=material.views[entry.memory_id],
            relevance=material.relevance.get(entry.memory_id),
            contradicts=tuple(
                sorted(material.contradictions.get(entry.memory_id, frozenset()) & ids)
            ),
        )
        for entry in entries
    )


def _left_out(material: _Material, unpacked: tuple[Packable, ...]) -> tuple[LeftOut, ...]:
    left = {item.memory_id for item in unpacked}
    overlaps = tuple(
        LeftOut(
            memory=material.views[one.entry.memory_id],
            reason=Reason.OVERLAP,
            stands_for_it=one.stands_for_it,
        )
        for one in material.overlaps
    )
    return overlaps + tuple(
        LeftOut(
            memory=material.views[entry.memory_id],
            reason=Reason.OVER_BUDGET
            if len(block.entries) == 1
            else Reason.CONTRADICTION_OVER_BUDGET,
            stands_for_it=None,
        )
        for block in material.blocks
        if block.entries[0].memory_id in left
        for entry in block.entries
    )
