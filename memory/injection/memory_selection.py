"""Which memories are delivered at a point: few, fresh, relevant, within a hard budget.

Whatever else holds, nothing tainted is delivered, nothing twice in a session, and never more tokens
than the point has; a memory that does not fit is passed over for a shorter one behind it.

Between steps three triggers are looked at in their order, from the fifth step on. The first alone
is on by default: a file that was just touched. The others are for projects that switch them on.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.experiments.points import OF_A_FILE, POINTS, Point
from memory.search.packing import SALIENCE_BOOST
from memory.sessions.scratchpad import Scratchpad, in_order
from memory.sessions.tools import Act
from memory.taxonomy import MemoryType
from memory.text import tokens
from teams import trust

MEMORIES_MOST: Final = {  # at once; defaults, not measured
    Point.SYSTEM_PROMPT: 12,
    Point.FIRST_MESSAGE: 12,
    Point.TOOL_RESULT: 4,
    Point.STEP: 4,
    Point.PLANNER: 30,
}
TOKENS_EACH: Final = 4  # of the line that carries a memory beside its content; default
WARNING_CONFIDENCE: Final = 0.65  # from which a touched file is warned of
FIRST_STEP: Final = 5  # before it nothing is delivered between steps
SEARCHES: Final = 3  # the last ones that are looked at
LONGEST_QUESTION: Final = 400  # characters of an entry that is looked up; default
_NO_WORDS: Final = re.compile(r"\\.|[^\w./-]+")  # of a regular expression or a glob
_SEARCHES: Final = frozenset({Act.GREP, Act.GLOB})


class Trigger(StrEnum):
    """Why something is delivered between steps."""

    FILE_TOUCHED = "file_touched"
    RECORDED = "recorded"
    SEARCHED = "searched"


ON_REQUEST: Final = frozenset({Trigger.RECORDED, Trigger.SEARCHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionCandidate:
    """A memory that may be delivered; `relevance` is calibrated, `confidence` effective."""

    id: UUID
    type: MemoryType
    content: str
    files: tuple[str, ...]
    confidence: float
    relevance: float
    is_tainted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionContext:
    """What a selection depends on: the point, what was delivered, what is worked on.

    `confidence` is the least effective confidence. After a tool result, and between steps when a
    file was touched, `working_files` are those just touched, and only what is about them is
    selected.
    """

    point: Point
    delivered: frozenset[UUID]
    working_files: frozenset[str]
    confidence: float


def select(
    *, candidates: Iterable[InjectionCandidate], context: SelectionContext
) -> tuple[InjectionCandidate, ...]:
    """Return what is delivered, the most salient first; most often nothing."""
    fitting = [one for one in candidates if _is_fitting(one, context)]
    ordered = sorted(fitting, key=lambda one: (-salience(candidate=one, context=context), one.id))
    kept: dict[UUID, InjectionCandidate] = {}
    spent = 0
    for one in ordered:
        cost = tokens_of(candidate=one)
        is_room = (
            spent + cost <= POINTS[context.point].tokens
            and len(kept) < MEMORIES_MOST[context.point]
        )
        if one.id not in kept and is_room:
            kept[one.id] = one
            spent += cost
    return tuple(kept.values())


def salience(*, candidate: InjectionCandidate, context: SelectionContext) -> float:
    """Compute S = relevance · confidence, + 0.15 when one of its files is being worked on."""
    is_near = not context.working_files.isdisjoint(candidate.files)
    return candidate.relevance * candidate.confidence + (SALIENCE_BOOST if is_near else 0.0)


def tokens_of(*, candidate: InjectionCandidate) -> int:
    """Return an upper estimate of the tokens that a memory takes."""
    return tokens.count(text=candidate.content) + TOKENS_EACH


def triggered_questions(
    *, scratchpad: Scratchpad, through: int, triggers: frozenset[Trigger]
) -> tuple[str, ...]:
    """Return what to look up by words between steps, in the order of triggers.

    `through` is the sequence number of the last event that an earlier step had looked at. Of
    entries that an agent recorded the last is looked up; of its searches the words of the last
    three, the last first, if one of them is new.
    """
    recorded = [one.text for one in scratchpad.recorded if one.sequence > through]
    deeds = in_order(scratchpad=scratchpad)
    searches = [one for one in deeds if one.act in _SEARCHES and one.target][-SEARCHES:]
    is_new = bool(searches) and searches[-1].sequence > through
    patterns = dict.fromkeys(one.target for one in reversed(searches)) if is_new else ()
    questions = {
        Trigger.RECORDED: recorded[-1] if recorded else "",
        Trigger.SEARCHED: " ".join(_NO_WORDS.sub(" ", " ".join(patterns)).split()),
    }
    return tuple(
        text[:LONGEST_QUESTION].strip()
        for trigger, text in questions.items()
        if trigger in triggers and text.strip()
    )


def _is_fitting(candidate: InjectionCandidate, context: SelectionContext) -> bool:
    """Say whether a memory may be delivered at all."""
    types = POINTS[context.point].types
    is_after_touch = context.point is Point.TOOL_RESULT or (
        context.point is Point.STEP and bool(context.working_files)
    )
    is_warning = (
        candidate.type in OF_A_FILE
        and not context.working_files.isdisjoint(candidate.files)
        and trust.is_sure(confidence=candidate.confidence, least=WARNING_CONFIDENCE)
    )
    return (
        not candidate.is_tainted
        and candidate.id not in context.delivered
        and (not types or candidate.type in types)
        and trust.is_sure(confidence=candidate.confidence, least=context.confidence)
        and (not is_after_touch or is_warning)
    )
