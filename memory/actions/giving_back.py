"""What is given back to an agent at a point of its session, and the ledger of it (spec 4.6, 11.1).

Whatever is given stands in the ledger with its tokens, in the same unit in which it was chosen and
while the session is held, so nothing is given twice and the sums are those of the texts. What may
be given is what its caller may see, of the session's project or of none; never what is tainted or
waits for a person, and never one side of a contradiction alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.caller import Caller
from memory.actions import allowing, withholding
from memory.actions import narrowing as narrowings
from memory.actions.narrowing import Narrowing
from memory.actions.search import SearchAnswer
from memory.models import GivenOut, Session
from memory.observer.injection import choosing
from memory.observer.injection.choosing import Moment, Offer
from memory.observer.injection.points import OF_A_FILE, POINTS, Point
from memory.queries import injections, relations
from memory.queries.views import MemoryView, give_out, views_of
from memory.retrieval import packing_blocks, packing_text
from memory.retrieval import packing_tokens as tokens
from memory.retrieval.graph_part import GraphPart
from memory.retrieval.packing_text import NOTICE, Block, Entry
from memory.sql import ways
from memory.taxonomy import MemoryType
from teams import visibility

LOOKED_AT: Final = 20  # memories of one file, ours
BY_NAME: Final = 1  # of that very path, or of one that ends alike
CERTAIN: Final = 1.0  # how relevant a memory is to the file that it names


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A memory that was given and the tokens of the text that are its own."""

    memory: MemoryView
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBack:
    """The text for the agent and what it is made of; both empty: silence.

    `heading_tokens` are those of what stands before its memories.
    """

    text: str = ""
    given: tuple[Given, ...] = ()
    heading_tokens: int = 0

    @property
    def tokens(self) -> int:
        """The tokens of the text: the sum of those of its memories, and of what stands before."""
        return self.heading_tokens + sum(one.tokens for one in self.given)


SILENCE: Final = GivenBack()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What may be given: memories by id, how relevant each is, and for which file.

    `working` are files that are worked on: what is about them comes first. `heading` is a text that
    stands before, `reserved` how many of the point's tokens it names to be spent elsewhere. `graph`
    is what the graph did to the ranking, where a search found them.
    """

    views: Mapping[UUID, MemoryView]
    relevance: Mapping[UUID, float]
    files: Mapping[UUID, str]
    working: frozenset[str] = frozenset()
    heading: str = ""
    reserved: int = 0
    graph: GraphPart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """The blocks that are given, and what the graph did to the ranking that they come of."""

    blocks: tuple[Block, ...]
    graph: GraphPart | None


def of_search(*, answer: SearchAnswer, working: Iterable[str] = ()) -> Found:
    """Return what a search found, as what may be given."""
    return Found(
        views={hit.memory.id: hit.memory for hit in answer.hits},
        relevance={hit.memory.id: hit.relevance for hit in answer.hits},
        files={},
        working=frozenset(working),
        graph=answer.graph,
    )


def together(*, found: Iterable[Found]) -> Found:
    """Put together what was found in several ways; a memory is as relevant as the best of them."""
    every = tuple(found)
    relevance: dict[UUID, float] = {}
    for memory_id, value in (pair for one in every for pair in one.relevance.items()):
        relevance[memory_id] = max(value, relevance.get(memory_id, 0.0))
    return Found(
        views={memory_id: view for one in every for memory_id, view in one.views.items()},
        relevance=relevance,
        files={memory_id: path for one in every for memory_id, path in one.files.items()},
        working=frozenset(path for one in every for path in one.working),
        heading="".join(one.heading for one in every),
        reserved=sum(one.reserved for one in every),
        graph=next((one.graph for one in every if one.graph), None),
    )


def about_files(*, caller: Caller, row: Session, files: tuple[str, ...], now: datetime) -> Found:
    """Find what warns of some files. In a unit."""
    sight = visibility.sight_of(caller=caller)
    project = row.project
    narrowing = Narrowing(
        project=None if project is None else str(project.id),
        types=tuple(sorted(type.value for type in OF_A_FILE)),
    )
    question = narrowings.question(caller=caller, narrowing=narrowing)
    named: dict[UUID, str] = {}
    about = ways.about_files(
        files=files, closeness=BY_NAME, question=question, limit=LOOKED_AT, sight=sight
    )
    for path, found in zip(files, about, strict=True):
        named = {**{memory_id: path for memory_id, _ in found}, **named}
    views = views_of(memory_ids=tuple(named), sight=sight, now=now) if named else {}
    return Found(views=views, relevance=dict.fromkeys(views, CERTAIN), files=named)


def give_back(
    *, caller: Caller, row: Session, point: Point, found: Found, now: datetime
) -> GivenBack:
    """Choose of what was found, put it into the ledger of a held session, return it. In a unit."""
    if not found.views and not found.heading:
        return SILENCE
    allowed = allowing.of_session(caller=caller, row=row, point=point)
    moment = Moment(
        point=point,
        group=allowed.group,
        switches=allowed.switches,
        told=injections.told_in(session_id=row.id),
        working_files=found.working | frozenset(found.files.values()),
        threshold=0.0,
        confidence=allowed.confidence,
    )
    if not allowed.is_open:
        return SILENCE
    chosen = choosing.choose(offers=offers(row=row, found=found), moment=moment)
    ids = tuple(offer.id for offer in chosen.offers)
    heading = _heading(found, POINTS[point].tokens)
    most = POINTS[point].tokens - found.reserved - tokens.count(text=heading)
    blocks = _within(_blocks(caller, ids, found), most=most)
    views = tuple(found.views[entry.memory_id] for block in blocks for entry in block.entries)
    without = withholding.withhold(row=row, point=point, views=views, now=now)
    if without:
        rest = tuple(view.id for view in views if view.id not in without)
        blocks = _within(_blocks(caller, rest, found), most=most)
    given = _Chosen(blocks=blocks, graph=found.graph)
    return _headed(heading, _recorded(caller, row, point, given, now) if blocks else SILENCE)


def _heading(found: Found, most: int) -> str:
    """Return what stands before the memories, under the notice; nothing where it does not fit."""
    whole = f"{NOTICE}\n\n{found.heading}" if found.heading else ""
    return whole if tokens.count(text=whole) <= most - found.reserved else ""


def _headed(heading: str, back: GivenBack) -> GivenBack:
    """Put a heading before what is given; that all of it is data is said once, at the beginning."""
    if not heading:
        return back
    text = heading + back.text.removeprefix(f"{NOTICE}\n")
    return replace(back, text=text, heading_tokens=tokens.count(text=text) - back.tokens)


def offers(*, row: Session, found: Found) -> tuple[Offer, ...]:
    """Return what was found as the choice sees it: of the session's project, for nobody to look at
    first."""
    return tuple(
        Offer(
            id=view.id,
            type=MemoryType(view.type),
            content=view.content,
            files=(found.files[view.id],) if view.id in found.files else view.related_files,
            confidence=view.effective_confidence,
            relevance=found.relevance[view.id],
            is_tainted=bool(view.taint_reason),
        )
        for view in found.views.values()
        if not view.needs_review and view.project_id in {None, row.project_id}
    )


def _blocks(caller: Caller, chosen: tuple[UUID, ...], found: Found) -> tuple[Block, ...]:
    """Return what is chosen in its order, without what would be told from one side alone."""
    sight = visibility.sight_of(caller=caller)
    told = relations.contradicting(memory_ids=chosen, sight=sight)
    sides = {
        memory_id: frozenset(one.memory_id for one in others) for memory_id, others in told.items()
    }
    kept = _whole(chosen, sides)
    made = packing_blocks.blocks_of(
        ranked=tuple(_entry(found.views[memory_id], found) for memory_id in kept),
        contradictions=sides,
        others={},
    )
    return packing_text.by_file(blocks=made.blocks)


def _whole(chosen: tuple[UUID, ...], sides: Mapping[UUID, frozenset[UUID]]) -> tuple[UUID, ...]:
    """Leave out each memory that contradicts one which is not given beside it."""
    kept = chosen
    while True:
        among = frozenset(kept)
        left = tuple(one for one in kept if sides.get(one, frozenset()) <= among)
        if left == kept:
            return kept
        kept = left


def _entry(view: MemoryView, found: Found) -> Entry:
    first = view.related_files[0] if view.related_files else ""
    return Entry(
        memory_id=view.id,
        type=view.type,
        content=view.content,
        citation=view.citation,
        file=found.files.get(view.id, first),
        verification=view.verification,
        needs_review=view.needs_review,
    )


def _within(blocks: tuple[Block, ...], *, most: int) -> tuple[Block, ...]:
    """Return the first blocks whose text keeps to the budget."""
    kept = blocks
    while kept and tokens.count(text=packing_text.write(blocks=kept)) > most:
        kept = kept[:-1]
    return kept


def _recorded(
    caller: Caller, row: Session, point: Point, chosen: _Chosen, now: datetime
) -> GivenBack:
    costs = _costs(chosen.blocks)
    sight = visibility.sight_of(caller=caller)
    views = give_out(memory_ids=tuple(costs), sight=sight, now=now, graph=chosen.graph)
    _put_down(caller, row, point, costs, now)
    return GivenBack(
        text=packing_text.write(blocks=chosen.blocks),
        given=tuple(Given(memory=views[one], tokens=cost) for one, cost in costs.items()),
    )


def note(
    *, caller: Caller, row: Session, point: Point, ids: tuple[UUID, ...], now: datetime
) -> None:
    """Put what something told rests on into the ledger of a held session, for no tokens of its own.

    What stands there already is left as it is. In a unit.
    """
    told = injections.told_in(session_id=row.id)
    new = tuple(one for one in dict.fromkeys(ids) if one not in told)
    views = give_out(memory_ids=new, sight=visibility.sight_of(caller=caller), now=now)
    _put_down(caller, row, point, dict.fromkeys(views, 0), now)


def _put_down(
    caller: Caller, row: Session, point: Point, costs: Mapping[UUID, int], now: datetime
) -> None:
    """Write the rows of what was given, behind all that the session has stored by now."""
    if not costs:
        return
    reached = injections.reached(session_id=row.id)
    GivenOut.objects.bulk_create(
        GivenOut(
            person=caller.user_id,
            token=caller.token_id,
            memory_id=memory_id,
            at=now,
            session_id=row.id,
            point=point.value,
            tokens=cost,
            after_event=reached.event,
            after_row=reached.row,
        )
        for memory_id, cost in costs.items()
    )


def _costs(blocks: tuple[Block, ...]) -> dict[UUID, int]:
    """Return what each memory adds to the text; the first line of it counts to the first."""
    costs: dict[UUID, int] = {}
    before = 0
    for place, block in enumerate(blocks, start=1):
        through = tokens.count(text=packing_text.write(blocks=blocks[:place]))
        for entry in block.entries:
            costs[entry.memory_id] = 0
        costs[block.entries[0].memory_id] = through - before
        before = through
    return costs
