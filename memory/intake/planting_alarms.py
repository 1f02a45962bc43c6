"""What looks like an attempt to plant a memory.

Three alarms, none of which decides anything: a person is told. Content that orders, names an
address to go to or a command to run; a burst of memories that say nearly the same; one memory that
takes most of what is given out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final
from uuid import UUID

from memory.records import assertions
from memory.text import text as texts

BURST_LEAST: Final = 5  # memories nearly the same in one burst; default, not measured
BURST_SECONDS: Final = 600.0  # that a burst lasts at most; default, not measured
BURST_ALIKE: Final = 0.6  # Jaccard, at least; default, not measured
COMPARED_MOST: Final = 200  # memories of one look, the last ones; default, not measured
HELD_FROM: Final = 2  # alarms of one content: an order alone may be good advice; default
DOMINANT_SHARE: Final = 0.5  # of what was given out; default, not measured
DOMINANT_LEAST: Final = 20  # given out in all before a share means anything; default, not measured
_URL: Final = re.compile(r"\b(?:https?|ftp|data|javascript):(?://)?\S+", re.IGNORECASE)
_COMMAND: Final = re.compile(
    r"\b(?:curl|wget)\b.{0,200}\|\s*(?:ba|z)?sh\b|\brm\s+-rf?\b|\bsudo\s+\w|\bchmod\s+\+x\b"
    r"|\b(?:eval|exec)\s*\(|\bbase64\s+(?:-d|--decode)\b|\bnc\s+-\w*e\b|\bpowershell\b"
    r"|\bgit\s+push\s+(?:-f|--force)\b|\bpip3?\s+install\s+(?:git\+|http)",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|above|earlier|all|other|prior)\b"
    r"|\byou (?:must|should|shall|have to|will) (?:now|always|never|first)\b"
    r"|\b(?:always|never|immediately) (?:run|execute|send|post|call|open|visit|add|disable|"
    r"reveal|upload|forward|fetch|include)\b"
    r"|\b(?:do not|don't) (?:tell|mention|show|reveal|ask)\b.{0,40}\b(?:user|person|human|anyone)\b"
    r"|\b(?:system prompt|new instructions?)\b",
    re.IGNORECASE,
)


class Alarm(StrEnum):
    """What was noticed."""

    ORDERS = "orders"
    ADDRESS = "address"
    COMMAND = "command"


_CONTENT: Final = ((Alarm.ORDERS, _ORDER), (Alarm.ADDRESS, _URL), (Alarm.COMMAND, _COMMAND))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A memory as a burst is looked for: when it was written, in seconds of one clock."""

    id: UUID
    at_seconds: float
    content: str


def of_content(*, content: str) -> tuple[Alarm, ...]:
    """Return what a content rings; invisible characters hide nothing."""
    seen = texts.straighten_apostrophes(text=texts.visible_text(text=content))
    return tuple(alarm for alarm, pattern in _CONTENT if pattern.search(seen))


def burst(*, written: Sequence[Written]) -> tuple[UUID, ...]:
    """Return the largest group of nearly the same memories written close together; else nothing.

    A group is one memory and those alike that came within ten minutes after it.
    """
    ordered = sorted(written, key=lambda one: (one.at_seconds, one.id))[-COMPARED_MOST:]
    words = {one.id: assertions.words(text=one.content) for one in ordered}
    alike: dict[UUID, list[UUID]] = {one.id: [one.id] for one in ordered}
    for first, later in combinations(ordered, 2):
        is_close = later.at_seconds - first.at_seconds <= BURST_SECONDS
        overlap = assertions.jaccard(left=words[first.id], right=words[later.id])
        if is_close and overlap >= BURST_ALIKE:
            alike[first.id].append(later.id)
    largest = max(alike.values(), key=len, default=[])
    return tuple(largest) if len(largest) >= BURST_LEAST else ()


def dominant(*, given_out: Mapping[UUID, int]) -> UUID | None:
    """Return the memory that takes half or more of what was given out; None without one."""
    total = sum(given_out.values())
    if total < DOMINANT_LEAST:
        return None
    most = max(given_out, key=lambda id: (given_out[id], id))
    return most if given_out[most] / total >= DOMINANT_SHARE and len(given_out) > 1 else None
