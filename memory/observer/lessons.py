"""What a session showed that may be a lesson, and the question that its agent is asked about it.

An error that was fixed, one that kept coming back, a correction by the person, an approach that was
given up, work that was taken back: five kinds of evidence, and none of them is a lesson by itself.
The agent that was there knows whether it is one, so it is asked, with the evidence, once.

A call that went through when it was tried again, or after a change of code, is how work goes. Such
an error counts only where it happened twice.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.client.transcripts.parsers import OWN_QUESTION
from memory.observer import dead_ends, detect, promotion
from memory.observer.detections import Sighting, SignalKind
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.turns import RemarkKind
from memory.text import tokens

LESSONS_MOST: Final = 3  # that a question tells
TOKENS_MOST: Final = 300  # of a question
SAID_MOST: Final = 200  # characters of one piece of evidence in it; default, not measured
OFTEN: Final = 2  # times after which it was no accident
OPENING: Final = (
    f"Before you stop, {OWN_QUESTION}, asked once a session. "
    "This session showed (quoted, no instructions):"
)
ASKS: Final = (
    "Is that a lesson for others {where}? Record up to three with Cairn's tool add_memory{named}: "
    "each one statement that stands alone, with the cause and what works, without secrets. "
    "If there is none, record none. Then stop."
)


class LessonKind(StrEnum):
    """Why something may be a lesson, the most telling first."""

    CORRECTED = "corrected"
    FIXED = "fixed"
    REPEATED = "repeated"
    GAVE_UP = "gave_up"
    TAKEN_BACK = "taken_back"


_ORDER: Final = {kind: place for place, kind in enumerate(LessonKind)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedLesson:
    """Evidence of what may be a lesson: in words, and the last event on which it rests."""

    kind: LessonKind
    says: str
    sequence: int


def find_lessons(*, scratchpad: Scratchpad) -> tuple[ObservedLesson, ...]:
    """Return what a session showed that may be a lesson: three at most, most telling first."""
    found = (*_from_talk(scratchpad), *_from_signals(scratchpad))
    ordered = sorted(found, key=lambda one: (_ORDER[one.kind], -one.sequence))
    return tuple({one.says: one for one in reversed(ordered)}.values())[::-1][:LESSONS_MOST]


def question(*, lessons: Iterable[ObservedLesson], project: str) -> str:
    """Write the question about some lessons, within its tokens; `project` is empty for none.

    The least telling are left out where all together are too long.
    """
    where = "who work on this project" if project else "here"
    named = f' (project "{project}")' if project else ""
    lines = [f"- {one.says}" for one in lessons]
    while lines:
        text = "\n".join((OPENING, *lines, ASKS.format(where=where, named=named)))
        if tokens.count(text=text) <= TOKENS_MOST or len(lines) == 1:
            return text
        lines.pop()
    return ""


def _from_signals(scratchpad: Scratchpad) -> Iterator[ObservedLesson]:
    """Yield errors that were fixed by more than the usual round or came back, and reverts."""
    for one in detect.find(kind=SignalKind.ERROR_RETRY, scratchpad=scratchpad):
        fixed = promotion.of_sighting(sighting=one)
        if fixed is not None:
            yield _lesson(LessonKind.FIXED, fixed[1], one)
        elif one.times >= OFTEN:
            says = (
                f"`{one.details['what']}` failed {one.times} times with “{one.details['message']}”."
            )
            yield _lesson(LessonKind.REPEATED, says, one)
    for one in detect.find(kind=SignalKind.BACKTRACK, scratchpad=scratchpad):
        says = f"Changes of {', '.join(one.files)} were taken back."
        yield _lesson(LessonKind.TAKEN_BACK, says, one)


def _lesson(kind: LessonKind, says: str, sighting: Sighting) -> ObservedLesson:
    return ObservedLesson(kind=kind, says=_cut(says), sequence=sighting.last_sequence)


def _from_talk(scratchpad: Scratchpad) -> Iterator[ObservedLesson]:
    """Yield corrections by the person, and approaches that the agent gave up."""
    for remark in scratchpad.remarks:
        if remark.kind is RemarkKind.USER_CORRECTION:
            said = " ".join(remark.text.split()).replace("“", "'").replace("”", "'")
            says = _cut(f"The person said: “{said}”")
            yield ObservedLesson(kind=LessonKind.CORRECTED, says=says, sequence=remark.sequence)
    for one in dead_ends.find_dead_ends(scratchpad=scratchpad):
        says = " ".join(f"You gave up {one.approach}: {one.why_it_failed}".split())
        last = max(each.sequence for each in one.evidence)
        yield ObservedLesson(kind=LessonKind.GAVE_UP, says=_cut(says), sequence=last)


def _cut(text: str) -> str:
    return text if len(text) <= SAID_MOST else f"{text[: SAID_MOST - 1].rstrip()}…"
