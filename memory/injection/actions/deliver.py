"""What is given back to an agent at a point of its session, and the ledger of it.

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
from memory.experiments.actions import holdout
from memory.injection import choosing
from memory.injection.actions import delivery_log, policy
from memory.injection.actions.recipient import Listener
from memory.injection.choosing import Moment, Offer
from memory.records.queries import relations
from memory.records.queries.views import MemoryView, views_of
from memory.search import packing_blocks, packing_text
from memory.search import packing_tokens as tokens
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.actions.search import SearchAnswer
from memory.search.graph_effect import GraphPart
from memory.search.packing_text import NOTICE, Block, Entry
from memory.search.sql import lookups
from memory.sessions.models import Session
from memory.sessions.points import OF_A_FILE, POINTS, Point
from memory.taxonomy import MemoryType
from teams import visibility

LOOKED_AT: Final = 20  # memories of one file, ours
BY_NAME: Final = 1  # of that very path, or of one that ends alike
CERTAIN: Final = 1.0  # how relevant a memory is to the file that it names
OPENING: Final = f"{NOTICE}\n"
MOST: Final = max(row.tokens for row in POINTS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A memory that was given and the tokens of the text that are its own."""

    memory: MemoryView
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBack:
    """The text for the agent and what it is made of; both empty: silence.

    `heading_tokens` are those of what stands before its memories. `is_late`: there may have been
    something to say, but whoever asked has left.
    """

    text: str = ""
    given: tuple[Given, ...] = ()
    heading_tokens: int = 0
    is_late: bool = False

    @property
    def tokens(self) -> int:
        """The tokens of the text: the sum of those of its memories, and of what stands before."""
        return self.heading_tokens + sum(one.tokens for one in self.given)


SILENCE: Final = GivenBack()
LATE: Final = GivenBack(is_late=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What may be given: memories by id, how relevant each is, and for which file.

    `working` are files that are worked on: what is about them comes first. `heading` is a text that
    stands before, `reserved` how many of the point's tokens it names to be spent elsewhere; `aside`
    one that is never said alone. `most` tokens are given, where a point has more. `graph` is what
    the graph did to the ranking, where a search found them.
    """

    views: Mapping[UUID, MemoryView]
    relevance: Mapping[UUID, float]
    files: Mapping[UUID, str]
    working: frozenset[str] = frozenset()
    heading: str = ""
    reserved: int = 0
    aside: str = ""
    most: int = MOST
    graph: GraphPart | None = None


NOTHING: Final = Found(views={}, relevance={}, files={})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """What is given: blocks of memories, and what is said beside them.

    `graph` is what the graph did to the ranking that the blocks come of.
    """

    heading: str
    aside: str
    blocks: tuple[Block, ...] = ()
    graph: GraphPart | None = None

    @property
    def is_any(self) -> bool:
        """Say whether there is anything to say."""
        return bool(self.blocks or self.heading)


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
        aside="".join(one.aside for one in every),
        most=min((one.most for one in every), default=MOST),
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
    about = lookups.about_files(
        files=files, closeness=BY_NAME, question=question, limit=LOOKED_AT, sight=sight
    )
    for path, found in zip(files, about, strict=True):
        named = {**{memory_id: path for memory_id, _ in found}, **named}
    views = views_of(memory_ids=tuple(named), sight=sight, now=now) if named else {}
    return Found(views=views, relevance=dict.fromkeys(views, CERTAIN), files=named)


def give_back(
    *, caller: Caller, listener: Listener, point: Point, found: Found, now: datetime
) -> GivenBack:
    """Choose of what was found, put it into the ledger of a held session, return it. In a unit.

    Whoever has left by then is given nothing, and nothing is written down.
    """
    row = listener.row
    if not found.views and not found.heading:
        return SILENCE
    allowed = policy.of_session(caller=caller, row=row, point=point)
    if not allowed.is_open:
        return SILENCE
    moment = Moment(
        point=point,
        group=allowed.group,
        switches=allowed.switches,
        told=delivery_log.told(
            caller=caller, listener=listener, point=point, memory_ids=found.views
        ),
        working_files=found.working | frozenset(found.files.values()),
        threshold=0.0,
        confidence=allowed.confidence,
    )
    chosen = choosing.choose(offers=offers(row=row, found=found), moment=moment)
    budget = min(POINTS[point].tokens - found.reserved, found.most)
    beside = _beside(found, budget)
    most = budget - tokens.count(text=f"{beside.heading}{beside.aside}")
    blocks = _within(_blocks(caller, tuple(offer.id for offer in chosen.offers), found), most=most)
    if listener.deadline.is_past():
        return LATE
    views = tuple(found.views[entry.memory_id] for block in blocks for entry in block.entries)
    without = holdout.withhold(row=row, point=point, views=views, now=now)
    if without:
        rest = tuple(view.id for view in views if view.id not in without)
        blocks = _within(_blocks(caller, rest, found), most=most)
    given = replace(beside, blocks=blocks, graph=found.graph)
    return _recorded(caller, listener, point, given, now) if given.is_any else SILENCE


def joined(*, parts: Iterable[GivenBack]) -> GivenBack:
    """Put into one answer what was given for it, each but the first to one that goes on."""
    said = tuple(one for one in parts if one.text)
    return GivenBack(
        text="".join(one.text for one in said),
        given=tuple(given for one in said for given in one.given),
        heading_tokens=sum(one.heading_tokens for one in said),
    )


def _beside(found: Found, budget: int) -> _Chosen:
    """Return what is said beside memories, as far as it fits under the notice: the first first."""
    room = budget - tokens.count(text=OPENING)
    heading = _fitting(found.heading, room)
    aside = _fitting(found.aside, room - tokens.count(text=heading))
    return _Chosen(heading=heading, aside=aside)


def _fitting(text: str, most: int) -> str:
    whole = f"\n{text.rstrip()}\n" if text else ""
    return whole if tokens.count(text=whole) <= most else ""


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
        own_type=view.own_type,
    )


def _within(blocks: tuple[Block, ...], *, most: int) -> tuple[Block, ...]:
    """Return the first blocks whose text keeps to the budget."""
    kept = blocks
    while kept and tokens.count(text=packing_text.write(blocks=kept)) > most:
        kept = kept[:-1]
    return kept


def _recorded(
    caller: Caller, listener: Listener, point: Point, chosen: _Chosen, now: datetime
) -> GivenBack:
    """Write down what is given, and return it; that all of it is data is said once an answer."""
    opening = "" if listener.goes_on else OPENING
    body = packing_text.write(blocks=chosen.blocks).removeprefix(OPENING)
    text = f"{opening}{chosen.heading}{chosen.aside}{body}"
    costs = _costs(chosen.blocks, opening)
    ids = tuple(costs)
    views = (
        delivery_log.given_out(caller=caller, memory_ids=ids, graph=chosen.graph, now=now)
        if ids
        else {}
    )
    delivery_log.put_down(caller=caller, listener=listener, point=point, costs=costs, now=now)
    back = GivenBack(
        text=text,
        given=tuple(Given(memory=views[one], tokens=cost) for one, cost in costs.items()),
        heading_tokens=tokens.count(text=text) - sum(costs.values()),
    )
    delivery_log.put_down_heading(listener=listener, tokens=back.heading_tokens)
    return back


def _costs(blocks: tuple[Block, ...], opening: str) -> dict[UUID, int]:
    """Return what each memory adds to the text; the opening of it counts to the first."""
    costs: dict[UUID, int] = {}
    before = tokens.count(text=OPENING) - tokens.count(text=opening)
    for place, block in enumerate(blocks, start=1):
        through = tokens.count(text=packing_text.write(blocks=blocks[:place]))
        for entry in block.entries:
            costs[entry.memory_id] = 0
        costs[block.entries[0].memory_id] = through - before
        before = through
    return costs
