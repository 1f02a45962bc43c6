"""Which memories are delivered at a point: few, fresh, relevant, within a hard budget.

Whatever else holds, nothing is delivered twice in a session, and never more tokens than the point
has; a memory that does not fit is passed over for a shorter one behind it.

Between steps three triggers are looked at in their order, from the fifth step on. The first alone
is on by default: a file that was just touched. The others are for projects that switch them on.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.experiments.points import OF_A_FILE, POINTS, Point
from memory.records.queries.views import GraphPart, MemoryView
from memory.search.packing import SALIENCE_BOOST
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.tools import Act
from memory.text import tokens
from teams import trust

MEMORIES_MOST: Final = {  # at once; defaults, not measured
    Point.BRIEF: 12,
    Point.SESSION_START: 12,
    Point.TOOL_RESULT: 4,
    Point.STEP: 4,
    Point.PLANNER: 30,
}
TOKENS_MOST: Final = max(row.tokens for row in POINTS.values())
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
class CandidateSet:
    """What may be delivered: memories by id, how relevant each is, and for which file.

    `working` are files that are worked on: memories about them come first. `heading` is a text that
    stands before the memories, `reserved` how many of the point's tokens the files that it names
    take; `aside` a text that is never delivered alone. At most `tokens_most` tokens are delivered.
    `graph` is what the graph did to the ranking, where a search found them.
    """

    views: Mapping[UUID, MemoryView] = field(default_factory=dict)
    relevance: Mapping[UUID, float] = field(default_factory=dict)
    files: Mapping[UUID, str] = field(default_factory=dict)
    working: frozenset[str] = frozenset()
    heading: str = ""
    reserved: int = 0
    aside: str = ""
    tokens_most: int = TOKENS_MOST
    graph: GraphPart | None = None


def select(
    *, candidates: CandidateSet, point: Point, delivered: frozenset[UUID], least: float
) -> tuple[UUID, ...]:
    """Return what is delivered, the most salient first; most often nothing.

    `least` is the least effective confidence. After a tool result, and between steps when a file
    was touched, the files worked on are those just touched, and only what warns of them is
    selected. Salience is relevance · confidence, + 0.15 when one of its files is worked on.
    """
    working = candidates.working | frozenset(candidates.files.values())
    is_after_touch = point is Point.TOOL_RESULT or (point is Point.STEP and bool(working))
    least = max(least, WARNING_CONFIDENCE) if is_after_touch else least
    salience: dict[UUID, float] = {}
    for view in candidates.views.values():
        is_near = view.id in candidates.files or not working.isdisjoint(view.related_files)
        if (
            view.id not in delivered
            and _is_wanted(view, point, is_near=is_near, is_after_touch=is_after_touch)
            and trust.is_sure(confidence=view.effective_confidence, least=least)
        ):
            salience[view.id] = candidates.relevance[view.id] * view.effective_confidence
            salience[view.id] += SALIENCE_BOOST if is_near else 0.0
    return _fit(salience, candidates, point)


def _is_wanted(view: MemoryView, point: Point, *, is_near: bool, is_after_touch: bool) -> bool:
    """Say whether a memory is of a type for a point; after a touch only what warns of the file."""
    types = POINTS[point].types
    if types and view.type not in types:
        return False
    return not is_after_touch or (is_near and view.type in OF_A_FILE)


def _fit(
    salience: Mapping[UUID, float], candidates: CandidateSet, point: Point
) -> tuple[UUID, ...]:
    """Return the most salient memories that fit into the tokens of a point."""
    kept: list[UUID] = []
    room = POINTS[point].tokens
    for memory_id in sorted(salience, key=lambda one: (-salience[one], one)):
        cost = tokens_of(content=candidates.views[memory_id].content)
        if cost <= room and len(kept) < MEMORIES_MOST[point]:
            kept.append(memory_id)
            room -= cost
    return tuple(kept)


def tokens_of(*, content: str) -> int:
    """Return an upper estimate of the tokens that a memory takes."""
    return tokens.count(text=content) + TOKENS_EACH


def triggered_questions(
    *, scratchpad: Scratchpad, through: int, triggers: frozenset[Trigger]
) -> tuple[str, ...]:
    """Return what to look up by words between steps, in the order of triggers.

    `through` is the sequence number of the last event that an earlier step had looked at. Of
    entries that an agent recorded the last is looked up; of its searches the words of the last
    three, the last first, if one of them is new.
    """
    recorded = [one.text for one in scratchpad.recorded if one.sequence > through]
    questions = {
        Trigger.RECORDED: recorded[-1] if recorded else "",
        Trigger.SEARCHED: _searched_words(scratchpad, through),
    }
    texts = (questions[one][:LONGEST_QUESTION].strip() for one in questions if one in triggers)
    return tuple(filter(None, texts))


def _searched_words(scratchpad: Scratchpad, through: int) -> str:
    """Return the words of the last searches, the last first; empty where none is new."""
    deeds = scratchpad.deeds.values()
    searches = [one for one in deeds if one.act in _SEARCHES and one.target][-SEARCHES:]
    if not searches or searches[-1].sequence <= through:
        return ""
    patterns = dict.fromkeys(one.target for one in reversed(searches))
    return " ".join(_NO_WORDS.sub(" ", " ".join(patterns)).split())
