"""Context: what an agent should know for a piece of work, packed into its token budget.

Search first, then the contradictions of what was found are brought in, overlaps left out, and the
rest packed by the shares of the phase and written in its order. Whole memories
only, both sides of a contradiction or none, never a token over the budget by our count, and each
memory that was found and is left out is named with the reason. Nothing relevant is an answer: its
text is empty.
"""

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from accounts.queries import people
from memory.customization import phases
from memory.customization.queries import choose_style, own_methodologies
from memory.customization.style import Composed
from memory.records.queries.views import MemoryView, contradictions, give_out, views_of
from memory.search import packing, presentation
from memory.search.actions import Hit, organize_hits, search
from memory.search.request import SearchRequest, Silence
from memory.taxonomy import MemoryType
from memory.text import text as texts
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
class PackedMemory:
    """A memory of the text, in its order; `contradicts` are others of the text.

    `relevance` is None for one that no search found, which contradicts another of the text.
    """

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
    told: tuple[PackedMemory, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    budget_tokens: int
    phase: phases.Phase | None
    order: presentation.Order
    hint: str
    nothing_relevant: bool
    degraded: tuple[str, ...]
    took_ms: float
    profile: str
    style: Styled | None


def context(*, caller: Caller, request: ContextRequest, now: datetime) -> Context:
    """Pack what fits the work ahead.

    Raises InvalidInput naming the field, NotFound for a project the caller cannot see.
    """
    started = time.perf_counter()
    is_named = (request.phase, request.methodology) != (None, None)
    own = own_methodologies(caller=caller) if is_named else {}
    phase = phases.named_phase(methodology=request.methodology, name=request.phase, own=own)
    budget = _budget(phase, request.budget_tokens)
    wanted = replace(request.search, phase=phase, limit=LOOKED_AT, silence=Silence.HIT)
    answer = search(caller=caller, request=wanted, now=now)
    hits = _by_salience(answer.hits, request.working_files)
    with tenancy.unit():
        order, ids, related = organize_hits(caller=caller, hits=hits)
        sides = contradictions(relations=related)
        others = _read_other_sides(caller, hits, sides.keys(), now)
        views = {hit.memory.id: hit.memory for hit in hits} | others
        reader = reader_of(caller=caller, views=views.values(), now=now)
    blocks, overlaps = packing.blocks_of(
        ranked=tuple(hit.memory for hit in hits), contradictions=sides, others=others
    )
    style = _style(caller, request, budget)
    heading = "" if style is None else style.text
    rest = budget.tokens - tokens.count(text=heading)
    fitting, unpacked = _pack(blocks, replace(budget, tokens=rest), ids, reader)
    text = heading + packing.write(blocks=fitting, reader=reader)
    relevance = {hit.memory.id: hit.relevance for hit in hits}
    packed = [view.id for block in fitting for view in block.memories]
    told = tuple(
        PackedMemory(
            memory=views[id],
            relevance=relevance.get(id),
            contradicts=tuple(sorted(sides.get(id, frozenset()).intersection(packed))),
        )
        for id in packed
    )
    left_out = _left_out(unpacked, overlaps, views)
    return Context(
        text=text,
        told=told,
        left_out=left_out,
        tokens=tokens.count(text=text),
        budget_tokens=budget.tokens,
        phase=phase,
        order=order,
        hint=presentation.hint(
            order=order,
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


def _budget(phase: phases.Phase | None, given: int | None) -> phases.Budget:
    usual = phases.GENERAL if phase is None else phases.TABLES[phase].budget
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


def _by_salience(hits: tuple[Hit, ...], working: tuple[str, ...]) -> tuple[Hit, ...]:
    """Raise what is about the files that are worked on; without any, the order is the search's."""
    if not working:
        return hits
    near = frozenset(working)

    def salience(hit: Hit) -> float:
        is_near = not near.isdisjoint(hit.memory.related_files)
        return hit.relevance + (packing.SALIENCE_BOOST if is_near else 0.0)

    return tuple(sorted(hits, key=salience, reverse=True))


def _read_other_sides(
    caller: Caller, hits: tuple[Hit, ...], sides: Collection[UUID], now: datetime
) -> dict[UUID, MemoryView]:
    """Read what contradicts the hits and was not found; the search noted what it gave beside."""
    missing = set(sides) - {hit.memory.id for hit in hits}
    noted = missing & {one.memory_id for hit in hits for one in hit.contradictions}
    fresh = tuple(sorted(missing - noted))
    sight = visibility.sight_of(caller=caller)
    others = views_of(memory_ids=tuple(sorted(noted)), sight=sight, now=now) if noted else {}
    return others | (give_out(memory_ids=fresh, sight=sight, now=now) if fresh else {})


def _style(caller: Caller, request: ContextRequest, budget: phases.Budget) -> Styled | None:
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


def _pack(
    blocks: tuple[packing.Block, ...],
    budget: phases.Budget,
    ids: tuple[UUID, ...],
    reader: packing.Reader,
) -> tuple[tuple[packing.Block, ...], tuple[packing.Block, ...]]:
    """Return the blocks that fit beside the notice, as they are written, and those that do not."""
    room = max(0, budget.tokens - tokens.count(text=f"{packing.NOTICE}\n"))
    lines = (packing.alone(block=block, reader=reader) for block in blocks)
    costs = tuple(
        (MemoryType(block.memories[0].type), tokens.count(text=text))
        for block, text in zip(blocks, lines, strict=True)
    )
    places = packing.pack(costs=costs, budget=replace(budget, tokens=room))
    fitting = sorted(
        (blocks[place] for place in places),
        key=lambda block: ids.index(block.memories[0].id),
    )
    unpacked = tuple(block for place, block in enumerate(blocks) if place not in places)
    return tuple(fitting), unpacked


def reader_of(
    *, caller: Caller, views: Iterable[MemoryView], now: datetime, files: Iterable[str] = ()
) -> packing.Reader:
    """Return who reads some memories, with the names of their authors who are others. In a unit.

    A name is one line, and no address: the text goes to the vendor of somebody's model.
    """
    others = {one.author_user for one in views} - {None, caller.user_id}
    called = people(caller=caller, ids=others)
    return packing.Reader(
        now=now,
        person=caller.user_id,
        names={id: texts.normalize(text=name.partition("@")[0]) for id, name in called.items()},
        files=frozenset(files),
    )


def _left_out(
    unpacked: tuple[packing.Block, ...],
    overlaps: Mapping[UUID, UUID],
    views: Mapping[UUID, MemoryView],
) -> tuple[LeftOut, ...]:
    left = [
        LeftOut(memory=views[id], reason=Reason.OVERLAP, stands_for_it=other)
        for id, other in overlaps.items()
    ]
    for block in unpacked:
        is_alone = len(block.memories) == 1
        reason = Reason.OVER_BUDGET if is_alone else Reason.CONTRADICTION_OVER_BUDGET
        left += [LeftOut(memory=view, reason=reason, stands_for_it=None) for view in block.memories]
    return tuple(left)
