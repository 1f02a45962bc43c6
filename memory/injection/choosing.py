"""Which of some memories are given at a point: few, fresh, relevant, within a hard budget.

Whatever else holds, nothing tainted is given, nothing twice in a session, and never more tokens
than the point has; a memory that does not fit is passed over for a shorter one behind it. Spec 4.3,
4.6, 11.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory.injection.steps import CONFIDENCE_LEAST
from memory.search import packing_tokens
from memory.sessions.points import OF_A_FILE, POINTS, Group, Point, Switches, is_open
from memory.taxonomy import MemoryType
from teams import trust

MEMORIES_MOST: Final = {  # at once; points 3 and 4: spec 4.6, others: ours
    Point.SYSTEM_PROMPT: 12,
    Point.FIRST_MESSAGE: 12,
    Point.TOOL_RESULT: 4,
    Point.STEP: 4,
    Point.PLANNER: 30,
}
TOKENS_EACH: Final = 4  # of the line that carries a memory beside its content, ours
SALIENCE_BOOST: Final = 0.15  # of a memory whose files are being worked on, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A memory as the choice sees it; `relevance` is calibrated, `confidence` the effective one."""

    id: UUID
    type: MemoryType
    content: str
    files: tuple[str, ...]
    confidence: float
    relevance: float
    is_tainted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where a session stands: its point, group, switches, what it was told, what it works on.

    `threshold` is the relevance, `confidence` the effective confidence that the project asks for.
    After a tool result, and between steps when a file was touched, `working_files` are those just
    touched, and what is given must be about them.
    """

    point: Point
    group: Group
    switches: Switches
    told: frozenset[UUID]
    working_files: frozenset[str]
    threshold: float
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is given: memories in order, their tokens; empty is silence."""

    offers: tuple[Offer, ...]
    tokens: int


SILENCE: Final = Chosen(offers=(), tokens=0)


def choose(*, offers: Iterable[Offer], moment: Moment) -> Chosen:
    """Choose what is given at a moment; most often nothing."""
    row = POINTS[moment.point]
    if not is_open(point=moment.point, switches=moment.switches, group=moment.group):
        return SILENCE
    fitting = [offer for offer in offers if _is_fitting(offer, moment)]
    ordered = sorted(fitting, key=lambda offer: (-salience(offer=offer, moment=moment), offer.id))
    return _within(ordered, tokens=row.tokens, most=MEMORIES_MOST[moment.point])


def salience(*, offer: Offer, moment: Moment) -> float:
    """Compute S = relevance · confidence, + 0.15 when one of its files is being worked on."""
    is_near = not moment.working_files.isdisjoint(offer.files)
    return offer.relevance * offer.confidence + (SALIENCE_BOOST if is_near else 0.0)


def tokens_of(*, offer: Offer) -> int:
    """Return an upper estimate of the tokens that giving a memory takes."""
    return packing_tokens.count(text=offer.content) + TOKENS_EACH


def _is_fitting(offer: Offer, moment: Moment) -> bool:
    """Say whether a memory may be given at all."""
    types = POINTS[moment.point].types
    return (
        not offer.is_tainted
        and offer.id not in moment.told
        and (not types or offer.type in types)
        and offer.relevance >= moment.threshold
        and trust.is_sure(confidence=offer.confidence, least=moment.confidence)
        and (not _is_about_files(moment) or _warns_of_them(offer, moment))
    )


def _is_about_files(moment: Moment) -> bool:
    """Say whether what is given must belong to a file just touched."""
    is_between = moment.point is Point.STEP and bool(moment.working_files)
    return moment.point is Point.TOOL_RESULT or is_between


def _warns_of_them(offer: Offer, moment: Moment) -> bool:
    is_near = not moment.working_files.isdisjoint(offer.files)
    is_sure = trust.is_sure(confidence=offer.confidence, least=CONFIDENCE_LEAST)
    return is_near and offer.type in OF_A_FILE and is_sure


def _within(ordered: list[Offer], *, tokens: int, most: int) -> Chosen:
    kept: dict[UUID, Offer] = {}
    spent = 0
    for offer in ordered:
        cost = tokens_of(offer=offer)
        if offer.id not in kept and spent + cost <= tokens and len(kept) < most:
            kept[offer.id] = offer
            spent += cost
    return Chosen(offers=tuple(kept.values()), tokens=spent)
