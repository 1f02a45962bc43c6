"""Deliver memories to an agent at a point of its session.

Whatever is delivered is logged with its tokens in the unit in which it was selected, while the
session is locked, so nothing is delivered twice and the sums are those of the texts. Only what the
caller may see is delivered, of the session's project or of none, and only what `eligibility` lets
pass; never one side of a contradiction alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from django.db.models import F

from memory.experiments.actions import measurement
from memory.experiments.points import OF_A_FILE, POINTS, Point
from memory.injection import queries, rules
from memory.injection.actions import delivery_log, policy
from memory.injection.rules import TOKENS_MOST, CandidateSet, select
from memory.records.queries.views import GraphPart, MemoryView, contradicting, views_of
from memory.search.actions import SearchAnswer
from memory.search.context import reader_of
from memory.search.packing import NOTICE, Block, Reader, alone, blocks_of, write
from memory.search.queries import Question, find_about_files, list_of_modules
from memory.search.request import Narrowing, Work, narrowed_question
from memory.sessions.models import Session
from memory.taxonomy import MemoryType
from memory.text import tokens
from teams import visibility

FILE_MEMORIES_MOST: Final = 20  # of one file that are looked at; default, not measured
BY_NAME: Final = 1  # of that very path, or of one that ends alike
CERTAIN: Final = 1.0  # the relevance of a memory to the file or module that it names
OPENING: Final = f"{NOTICE}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredMemory:
    """A memory that was delivered and the tokens of the text that are its own."""

    memory: MemoryView
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The text for the agent and the memories in it; both empty: silence.

    `heading_tokens` are those of text beside the memories. `is_late`: there may have been something
    to deliver, but the program does not wait any more.
    """

    text: str = ""
    memories: tuple[DeliveredMemory, ...] = ()
    heading_tokens: int = 0
    is_late: bool = False

    @property
    def tokens(self) -> int:
        """The tokens of the text: those of its memories, and of the text beside them."""
        return self.heading_tokens + sum(one.tokens for one in self.memories)


SILENCE: Final = Delivery()
LATE: Final = Delivery(is_late=True)
NO_CANDIDATES: Final = CandidateSet()


def of_search(*, answer: SearchAnswer, working: Iterable[str] = ()) -> CandidateSet:
    """Return what a search found as candidates."""
    return CandidateSet(
        views={hit.memory.id: hit.memory for hit in answer.hits},
        relevance={hit.memory.id: hit.relevance for hit in answer.hits},
        working=frozenset(working),
        graph=answer.graph,
    )


def of_memories(
    *, recipient: policy.Recipient, memory_ids: Iterable[UUID], relevance: float = CERTAIN
) -> CandidateSet:
    """Return memories that the caller may see as candidates, all as relevant. In a unit."""
    ids, sight = tuple(memory_ids), visibility.sight_of(caller=recipient.caller)
    views = views_of(memory_ids=ids, sight=sight, now=recipient.now) if ids else {}
    return CandidateSet(views=views, relevance=dict.fromkeys(views, relevance))


def of_modules(
    *,
    recipient: policy.Recipient,
    modules: tuple[str, ...],
    types: Iterable[MemoryType],
    limit: int,
    relevance: float = CERTAIN,
) -> CandidateSet:
    """Find memories of some types about some modules. In a unit."""
    if not modules:
        return NO_CANDIDATES
    ids = list_of_modules(
        modules=modules, question=question_of(recipient=recipient, types=types), limit=limit
    )
    return of_memories(recipient=recipient, memory_ids=ids, relevance=relevance)


def of_files(*, recipient: policy.Recipient, files: tuple[str, ...]) -> CandidateSet:
    """Find what warns of some files. In a unit."""
    about = find_about_files(
        files=files,
        closeness=BY_NAME,
        question=question_of(recipient=recipient, types=OF_A_FILE),
        limit=FILE_MEMORIES_MOST,
    )
    named: dict[UUID, str] = {}
    for path, found in zip(files, about, strict=True):
        named = {**{memory_id: path for memory_id, _ in found}, **named}
    return replace(of_memories(recipient=recipient, memory_ids=named), files=named)


def question_of(*, recipient: policy.Recipient, types: Iterable[MemoryType] = ()) -> Question:
    """Return the filters of a search for what the session's project knows. In a unit."""
    narrowing = narrowing_of(recipient.session, types)
    return narrowed_question(caller=recipient.caller, narrowing=narrowing)


def narrowing_of(
    session: Session, types: Iterable[MemoryType] = (), near: tuple[str, ...] | None = None
) -> Narrowing:
    """Return the filter of a session's project and work, and of some types.

    `near` are its files and modules; None where what is looked for is of them.
    """
    project = session.project
    return Narrowing(
        project=None if project is None else str(project.id),
        types=tuple(sorted({type.value for type in types})),
        work=Work(session_id=session.id, unit=session.work_unit, near=near),
    )


def merge(*, sets: Iterable[CandidateSet]) -> CandidateSet:
    """Merge candidates of several origins; a memory is as relevant as the best of them."""
    every = tuple(sets)
    views: dict[UUID, MemoryView] = {}
    relevance: dict[UUID, float] = {}
    files: dict[UUID, str] = {}
    for one in every:
        views.update(one.views)
        files.update(one.files)
        for memory_id, value in one.relevance.items():
            relevance[memory_id] = max(value, relevance.get(memory_id, 0.0))
    return CandidateSet(
        views=views,
        relevance=relevance,
        files=files,
        working=frozenset[str]().union(*(one.working for one in every)),
        heading="".join(one.heading for one in every),
        reserved=sum(one.reserved for one in every),
        aside="".join(one.aside for one in every),
        tokens_most=min((one.tokens_most for one in every), default=TOKENS_MOST),
        graph=next((one.graph for one in every if one.graph), None),
    )


def deliver(*, recipient: policy.Recipient, point: Point, candidates: CandidateSet) -> Delivery:
    """Select of the candidates, log what a locked session is given, and return it. In a unit.

    After the deadline nothing is delivered, and nothing is logged.
    """
    if not candidates.views and not candidates.heading:
        return SILENCE
    allowed = policy.policy_of_recipient(recipient=recipient, point=point)
    if not allowed.is_open:
        return SILENCE
    selected = select(
        candidates=deliverable(recipient=recipient, point=point, candidates=candidates),
        point=point,
        delivered=delivery_log.delivered_before(
            recipient=recipient, point=point, memory_ids=candidates.views
        ),
    )
    budget = min(POINTS[point].tokens - candidates.reserved, candidates.tokens_most)
    room = budget - tokens.count(text=OPENING)  # the text beside memories: the heading first
    heading = _fitting(candidates.heading, room)
    beside = heading + _fitting(candidates.aside, room - tokens.count(text=heading))
    most = budget - tokens.count(text=beside)
    sides = _sides(recipient, selected)
    reader = _reader(recipient, candidates, selected)
    blocks = _blocks(selected, sides, candidates, most, reader)
    if recipient.deadline.is_past():
        return LATE
    ids = tuple(view.id for block in blocks for view in block.memories)
    rest = _withhold(recipient, point, blocks)
    if rest != ids:
        blocks = _blocks(rest, sides, candidates, most, reader)
    if not blocks and not heading:
        return SILENCE
    return _log(recipient, point, beside, blocks, candidates.graph, reader)


def deliver_warnings(
    *, recipient: policy.Recipient, point: Point, files: tuple[str, ...]
) -> Delivery:
    """Deliver what warns of some files. In a unit."""
    if not files:
        return SILENCE
    found = of_files(recipient=recipient, files=files)
    return deliver(recipient=recipient, point=point, candidates=found)


def join(*, deliveries: Iterable[Delivery]) -> Delivery:
    """Put deliveries into one answer; each but the first was made as a continued one."""
    parts = tuple(one for one in deliveries if one.text)
    return Delivery(
        text="".join(one.text for one in parts),
        memories=tuple(memory for one in parts for memory in one.memories),
        heading_tokens=sum(one.heading_tokens for one in parts),
    )


def deliverable(
    *, recipient: policy.Recipient, point: Point, candidates: CandidateSet
) -> CandidateSet:
    """Leave out what may not be given to the recipient's agent in its project. In a unit."""
    allowed = policy.policy_of_recipient(recipient=recipient, point=point)
    least = rules.least_confidence(candidates=candidates, point=point, least=allowed.confidence)
    views = queries.eligible(
        views=candidates.views,
        reader=recipient.caller.user_id,
        project_id=recipient.session.project_id,
        least=least,
    )
    return replace(candidates, views=views)


def _fitting(text: str, most: int) -> str:
    """Return a text as a paragraph, empty where it has more tokens than there is room."""
    whole = f"\n{text.rstrip()}\n" if text else ""
    return whole if tokens.count(text=whole) <= most else ""


def _reader(
    recipient: policy.Recipient, candidates: CandidateSet, selected: Iterable[UUID]
) -> Reader:
    """Return who reads what is selected. In a unit."""
    return reader_of(
        caller=recipient.caller,
        views=(candidates.views[one] for one in selected),
        now=recipient.now,
        files=candidates.files.values(),
    )


def _withhold(
    recipient: policy.Recipient, point: Point, blocks: tuple[Block, ...]
) -> tuple[UUID, ...]:
    """Note what of some blocks is withheld from a session; return the memories left. In a unit."""
    shown = [view for block in blocks for view in block.memories]
    withheld = measurement.withhold(
        session=recipient.session, point=point, views=shown, now=recipient.now
    )
    return tuple(view.id for view in shown if view.id not in withheld)


def _sides(
    recipient: policy.Recipient, memory_ids: tuple[UUID, ...]
) -> Mapping[UUID, frozenset[UUID]]:
    """Return by memory those that contradict it. In a unit."""
    sight = visibility.sight_of(caller=recipient.caller)
    contradictions = contradicting(memory_ids=memory_ids, sight=sight)
    return {
        memory_id: frozenset(one.memory_id for one in others)
        for memory_id, others in contradictions.items()
    }


def _blocks(
    memory_ids: Iterable[UUID],
    sides: Mapping[UUID, frozenset[UUID]],
    candidates: CandidateSet,
    most: int,
    reader: Reader,
) -> tuple[Block, ...]:
    """Return memories in their order as blocks that keep to the budget.

    A memory that contradicts one which is not delivered beside it is left out.
    """
    kept = tuple(memory_ids)
    while left := [one for one in kept if sides.get(one, frozenset()).difference(kept)]:
        kept = tuple(one for one in kept if one not in left)
    ranked = tuple(candidates.views[one] for one in kept)
    blocks, _ = blocks_of(ranked=ranked, contradictions=sides)
    while blocks and tokens.count(text=write(blocks=blocks, reader=reader)) > most:
        blocks = blocks[:-1]
    return blocks


def _log(
    recipient: policy.Recipient,
    point: Point,
    beside: str,
    blocks: tuple[Block, ...],
    graph: GraphPart | None,
    reader: Reader,
) -> Delivery:
    """Log a delivery and return it; the notice that all of it is data stands once an answer."""
    opening = "" if recipient.is_continued else OPENING
    body = write(blocks=blocks, reader=reader).removeprefix(OPENING)
    text = f"{opening}{beside}{body}"
    costs: dict[UUID, int] = {}  # what each memory adds; the opening counts to the first
    before = tokens.count(text=opening)
    for block in blocks:  # each is lines of its own, so its tokens add up with the others'
        costs.update(dict.fromkeys((view.id for view in block.memories), 0))
        costs[block.memories[0].id] = before + tokens.count(text=alone(block=block, reader=reader))
        before = 0
    views = delivery_log.read_and_count(recipient=recipient, memory_ids=tuple(costs), graph=graph)
    delivery_log.record_deliveries(recipient=recipient, point=point, costs=costs)
    heading_tokens = tokens.count(text=text) - sum(costs.values())
    if heading_tokens:
        rows = Session.objects.filter(pk=recipient.session.pk)
        rows.update(heading_tokens=F("heading_tokens") + heading_tokens)
    return Delivery(
        text=text,
        memories=tuple(
            DeliveredMemory(memory=views[one], tokens=cost) for one, cost in costs.items()
        ),
        heading_tokens=heading_tokens,
    )
