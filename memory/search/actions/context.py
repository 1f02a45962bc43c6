"""Context: what an agent should know for a piece of work, packed into its token budget.

Search first, then the contradictions of what was found are brought in, overlaps left out, and the
rest packed by the shares of the phase and written under the files it is about. Whole memories
only, both sides of a contradiction or none, never a token over the budget by our count, and each
memory that was found and is not told is named with the reason. Nothing relevant is an answer: its
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
from memory.customization.methodology import Methodology
from memory.customization.phases import BUDGETS, GENERAL, Budget, Phase
from memory.customization.queries import methodologies, styles
from memory.customization.style import Composed
from memory.entities.sql import entities
from memory.injection.selection import SALIENCE_BOOST
from memory.records.queries import relations
from memory.records.queries.relations import Relation
from memory.records.queries.views import MemoryView, give_out, views_of
from memory.search import organize, packing, packing_blocks, packing_text
from memory.search import packing_tokens as tokens
from memory.search.actions.presentation import as_links, item_of
from memory.search.actions.search import Hit, SearchAnswer, SearchRequest, search
from memory.search.organize import Order
from memory.search.packing import Packable, Packed
from memory.search.packing_blocks import Blocks
from memory.search.packing_text import NOTICE, Block, Entry
from memory.taxonomy import MemoryType
from teams import visibility
from teams.visibility import Sight

LOOKED_AT: Final = 50  # results of the search behind a context, ours
LARGEST_BUDGET: Final = 32_000  # tokens, ours
LARGEST_STYLE: Final = 0.25  # of the budget, ours


class Reason(StrEnum):
    """Why a memory that was found is not told."""

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
    """A memory that was found and is not told; `stands_for_it` says the same and is."""

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
    """What may be told: blocks as ranked, who contradicts whom, and where each is to stand."""

    blocks: Blocks
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
    _check_budget(request.budget_tokens)
    phase = methodology.phase(
        methodology=request.methodology, name=request.phase, own=_own(caller, request)
    )
    wanted = replace(request.search, phase=phase, limit=LOOKED_AT)
    answer = search(caller=caller, request=wanted, now=now)
    material = _gather(caller, _salient(answer, request.working_files), now)
    budget = _budget(phase, request.budget_tokens)
    style = _style(caller, request, budget)
    heading = "" if style is None else style.text
    blocks, packed = _pack(material, _less(budget, heading))
    text = heading + packing_text.write(blocks=blocks)
    told, left_out = _told(blocks, material), _left_out(material, packed)
    return Context(
        text=text,
        told=told,
        left_out=left_out,
        tokens=tokens.count(text=text),
        budget_tokens=budget.tokens,
        phase=phase,
        order=material.order,
        hint=_hint(material.order, told, left_out),
        nothing_relevant=answer.nothing_relevant,
        degraded=answer.degraded,
        took_ms=round((time.perf_counter() - started) * 1_000, 2),
        profile=answer.profile,
        style=style,
    )


def _own(caller: Caller, request: ContextRequest) -> Mapping[str, Methodology]:
    """Return the organization's methodologies; without a name to look up, none are read."""
    is_named = request.phase is not None or request.methodology is not None
    return methodologies.own(caller=caller) if is_named else {}


def _check_budget(given: int | None) -> None:
    if given is None or 1 <= given <= LARGEST_BUDGET:
        return
    raise wrong_field(
        pointer="/budget_tokens",
        detail=message("A budget of {given} tokens cannot be kept.", given=given),
        hint=message(
            "Use 1 to {most:,}, or leave it out for the phase's own.", most=LARGEST_BUDGET
        ),
        code="range",
    )


def _budget(phase: Phase | None, given: int | None) -> Budget:
    usual = GENERAL if phase is None else BUDGETS[phase]
    return usual if given is None else replace(usual, tokens=given)


def _less(budget: Budget, heading: str) -> Budget:
    return replace(budget, tokens=budget.tokens - tokens.count(text=heading))


def _style(caller: Caller, request: ContextRequest, budget: Budget) -> Styled | None:
    """Return the style that fits; one that would take too much of the budget is only named."""
    if not request.style:
        return None
    topic = request.search.query if request.topic is None else request.topic
    found = styles.composed(caller=caller, topic=topic, interface=None)
    if found is None:
        return None
    heading = packing_text.heading_of_style(name=found.style.name, text=found.style.text)
    fits = tokens.count(text=heading) <= LARGEST_STYLE * budget.tokens
    return Styled(composed=found, text=heading if fits else "")


def _salient(answer: SearchAnswer, working: tuple[str, ...]) -> SearchAnswer:
    """Raise what is about the files that are worked on; without any, the order is the search's."""
    if not working:
        return answer
    near = frozenset(working)

    def raised(hit: Hit) -> float:
        is_near = not near.isdisjoint(hit.memory.related_files)
        return hit.relevance + (SALIENCE_BOOST if is_near else 0.0)

    return replace(answer, hits=tuple(sorted(answer.hits, key=raised, reverse=True)))


def _gather(caller: Caller, answer: SearchAnswer, now: datetime) -> _Material:
    """Read what hangs together with the hits, and make blocks of it all."""
    views = {hit.memory.id: hit.memory for hit in answer.hits}
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        related = relations.relations_of(memory_ids=tuple(views), sight=sight)
        things = entities.things_of(memory_ids=tuple(views), sight=sight)
        sides = relations.contradictions(relations=related)
        missing = sides.keys() - views.keys()
        told = missing & {one.memory_id for hit in answer.hits for one in hit.contradictions}
        others = {  # the search has noted those that it told already
            **(views_of(memory_ids=tuple(sorted(told)), sight=sight, now=now) if told else {}),
            **_given(tuple(sorted(missing - told)), sight, now),
        }
    ranked = tuple(_entry(hit.memory) for hit in answer.hits)
    order, positions = _ordered(answer.hits, related, things)
    return _Material(
        blocks=packing_blocks.blocks_of(
            ranked=ranked,
            contradictions=sides,
            others={memory_id: _entry(view) for memory_id, view in others.items()},
        ),
        contradictions=sides,
        views={**views, **others},
        relevance={hit.memory.id: hit.relevance for hit in answer.hits},
        order=order,
        positions=positions,
    )


def _given(memory_ids: tuple[UUID, ...], sight: Sight, now: datetime) -> dict[UUID, MemoryView]:
    return give_out(memory_ids=memory_ids, sight=sight, now=now) if memory_ids else {}


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


def _ordered(
    hits: tuple[Hit, ...],
    related: tuple[Relation, ...],
    things: Mapping[UUID, frozenset[str]],
) -> tuple[Order, dict[UUID, int]]:
    items = tuple(item_of(view=hit.memory, things=things) for hit in hits)
    found = organize.organize(items=items, links=as_links(relations=related))
    return found.order, {memory_id: place for place, memory_id in enumerate(found.memory_ids)}


def _pack(material: _Material, budget: Budget) -> tuple[tuple[Block, ...], Packed]:
    """Return the blocks that fit, in the order to tell them, and how the packing went."""
    room = max(0, budget.tokens - tokens.count(text=f"{NOTICE}\n"))
    by_id = {block.entries[0].memory_id: block for block in material.blocks.blocks}
    ranked = tuple(_packable(block) for block in material.blocks.blocks)
    packed = packing.pack(ranked=ranked, budget=replace(budget, tokens=room))
    chosen = sorted(packed.chosen, key=lambda item: material.positions[item.memory_id])
    blocks = tuple(by_id[item.memory_id] for item in chosen)
    is_ranked = material.order is Order.SCORE
    return packing_text.by_file(blocks=blocks) if is_ranked else blocks, packed


def _packable(block: Block) -> Packable:
    first = block.entries[0]
    return Packable(
        memory_id=first.memory_id,
        type=MemoryType(first.type),
        tokens=tokens.count(text=packing_text.alone(block=block)),
    )


def _told(blocks: tuple[Block, ...], material: _Material) -> tuple[Told, ...]:
    entries = tuple(entry for block in blocks for entry in block.entries)
    told = frozenset(entry.memory_id for entry in entries)
    return tuple(
        Told(
            memory=material.views[entry.memory_id],
            relevance=material.relevance.get(entry.memory_id),
            contradicts=tuple(
                sorted(material.contradictions.get(entry.memory_id, frozenset()) & told)
            ),
        )
        for entry in entries
    )


def _hint(order: Order, told: tuple[Told, ...], left_out: tuple[LeftOut, ...]) -> str:
    disagreeing = sum(bool(one.contradicts) for one in told)
    return organize.hint(
        order=order, told=len(told), disagreeing=disagreeing, left_out=len(left_out)
    )


def _left_out(material: _Material, packed: Packed) -> tuple[LeftOut, ...]:
    left = {item.memory_id for item in packed.left_out}
    overlaps = tuple(
        LeftOut(
            memory=material.views[one.entry.memory_id],
            reason=Reason.OVERLAP,
            stands_for_it=one.stands_for_it,
        )
        for one in material.blocks.overlaps
    )
    return overlaps + tuple(
        LeftOut(
            memory=material.views[entry.memory_id],
            reason=Reason.OVER_BUDGET
            if len(block.entries) == 1
            else Reason.CONTRADICTION_OVER_BUDGET,
            stands_for_it=None,
        )
        for block in material.blocks.blocks
        if block.entries[0].memory_id in left
        for entry in block.entries
    )
