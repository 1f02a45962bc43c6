"""Labelled conversations, and what an extractor did with them: precision, recall.

A line of a set is a conversation: its turns as [speaker, text], and in `keep` what is worth
keeping, each as the number of its turn (from 1), its type, and words that a right statement must
hold. A candidate is right when it is of that turn and holds them all. Each expected memory is met
once, so a second candidate for it is wrong. For the intervals, whole conversations are drawn anew.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, TypeAdapter

from memory.evaluation.dataset import Split, read_lines
from memory.evaluation.measures import Interval, quotient
from memory.extraction.extract import Candidate
from memory.sessions.turns import Speaker, Turn
from memory.taxonomy import MemoryType

SAID: Final = TypeAdapter(list[tuple[Speaker, str]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A memory that a person would keep."""

    turn: int
    type: MemoryType
    words: tuple[str, ...]


def _number(given: object) -> tuple[Turn, ...]:
    """Return pairs of speaker and text as turns, numbered from 1."""
    pairs = enumerate(SAID.validate_python(given), start=1)
    return tuple(
        Turn(sequence=place, speaker=speaker, text=said) for place, (speaker, said) in pairs
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A labelled conversation."""

    id: str
    turns: Annotated[tuple[Turn, ...], BeforeValidator(_number)]
    keep: tuple[Expected, ...]

    @property
    def split(self) -> Split:
        """Return its half, by the hash of its id."""
        digest = hashlib.sha256(self.id.encode()).digest()
        return Split.TRAIN if digest[0] % 2 else Split.HELD


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What an extractor did with one conversation; `wrong` and `missed` are for people to read."""

    id: str
    found: int
    right: int
    right_type: int
    expected: int
    wrong: tuple[str, ...]
    missed: tuple[Expected, ...]


def parse(*, text: str) -> tuple[Conversation, ...]:
    """Read a set of JSON lines. Raises WrongSet naming the line."""
    lines = read_lines(file="conversations.jsonl", text=text, shape=Conversation)
    return tuple(lines.values())


def judge(*, conversation: Conversation, candidates: Sequence[Candidate]) -> CaseOutcome:
    """Compare what was found with what a person would keep."""
    left = list(conversation.keep)
    wrong: list[str] = []
    types = 0
    for candidate in candidates:
        met = next((one for one in left if _meets(candidate, one)), None)
        if met is None:
            wrong.append(candidate.content)
            continue
        left.remove(met)
        types += candidate.type is met.type
    return CaseOutcome(
        id=conversation.id,
        found=len(candidates),
        right=len(candidates) - len(wrong),
        right_type=types,
        expected=len(conversation.keep),
        wrong=tuple(wrong),
        missed=tuple(left),
    )


def scores(*, outcomes: Sequence[CaseOutcome]) -> dict[str, Interval | None]:
    """Return precision, recall and the share of right types among the right ones.

    With 95 % bootstrap intervals; None where there is nothing to divide by.
    """
    right = [one.right for one in outcomes]
    shares = {
        "precision": (right, [one.found for one in outcomes]),
        "recall": (right, [one.expected for one in outcomes]),
        "type": ([one.right_type for one in outcomes], right),
    }
    return {
        name: quotient(numerators=above, denominators=below)
        for name, (above, below) in shares.items()
    }


def _meets(candidate: Candidate, expected: Expected) -> bool:
    said = candidate.content.lower()
    return candidate.turn == expected.turn and all(word in said for word in expected.words)
