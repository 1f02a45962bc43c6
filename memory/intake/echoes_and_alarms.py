"""Guards at the door: what was given out is not learned again, and what is planted rings.

One store of the field held 668 copies of a hallucination that had been recalled, extracted and
stored again. So what a session was given is compared with what is taken from it: the same text, a
quotation, a light paraphrase, or one that is near by meaning says nothing new. What says the
opposite, or another number, is news and passes; integration decides about it.

And three alarms about what looks like an attempt to plant a memory: a person is told, and nothing
is refused. Content that orders, names an address to go to or a command to run, for which the
candidate of a session waits; a burst of memories that say nearly the same; one memory that takes
most of what is given out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final
from uuid import UUID

from memory.records import assertions, changes, restatements
from memory.text import text as texts

NOBODY: Final = UUID(int=0)
FEWEST = 4  # words that say something, for a quotation; default, not measured
_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "alarms.toml")
_ALARMS: Final = texts.compile_patterns(table=_TABLES["alarms"])

ALARM: Final = "alarm"  # kind of statistics; its key is the memory's id, its counts the alarms
ALARM_BURST: Final = "burst"
ALARM_DOMINANT: Final = "dominant"
BURST_LEAST: Final = 5  # memories nearly the same in one burst; default, not measured
BURST_SECONDS: Final = 600.0  # that a burst lasts at most; default, not measured
BURST_ALIKE: Final = 0.6  # Jaccard, at least; default, not measured
COMPARED_MOST: Final = 200  # memories before one that it is compared with; default, not measured
HELD_FROM: Final = 2  # alarms of one content: an order alone may be good advice; default
DOMINANT_SHARE: Final = 0.5  # of what was given out; default, not measured
DOMINANT_LEAST: Final = 20  # given out in all before a share means anything; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoLimits:
    """How like a memory a statement must be to be an echo of it; defaults, not measured.

    `new_words`: the share of its words that may be new; `overlap`: the Jaccard, and `cosine`, from
    which it is one whatever is new. `is_whole`: only the same words, all of them, are one.
    """

    new_words: float
    overlap: float
    cosine: float
    is_whole: bool = False


# of what an agent says of itself
SAME_WORDS = EchoLimits(new_words=0.0, overlap=1.0, cosine=1.01, is_whole=True)
OTHER_WORDS = EchoLimits(new_words=0.2, overlap=0.55, cosine=0.86)  # of what others put into words


@dataclass(frozen=True, kw_only=True)
class DeliveredText:
    """A memory that was given out; what it is compared by is made for the few that come near."""

    memory_id: UUID
    content: str

    @cached_property
    def content_hash(self) -> str:
        """Its normalized content, hashed."""
        return texts.content_hash(content=self.content)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words that say something."""
        return texts.content_words(text=self.content)


def echo_of(
    *,
    content: str,
    given: tuple[DeliveredText, ...],
    cosines: Mapping[UUID, float],
    limits: EchoLimits,
) -> UUID | None:
    """Return the given-out memory that a candidate restates, None for one that says more.

    `cosines` are those of the given-out memories with the candidate, as far as they are known.
    """
    if not given:
        return None
    said = DeliveredText(memory_id=NOBODY, content=content)
    close = [
        (score, one)
        for one in given
        if _may_be_close(said, one, cosines.get(one.memory_id, 0.0), limits)
        and (score := _closeness(said, one, cosines.get(one.memory_id, 0.0), limits))
    ]
    for _, one in sorted(close, key=lambda item: (-item[0], item[1].memory_id)):
        if one.content_hash == said.content_hash or not _differs(one, said, limits):
            return one.memory_id
    return None


def _may_be_close(
    said: DeliveredText, one: DeliveredText, cosine: float, limits: EchoLimits
) -> bool:
    """Say, without taking a memory apart, whether it can have enough of a candidate's words.

    A word of both stands in the memory's text; outside of ASCII, texts are alike in more ways.
    """
    if cosine >= limits.cosine or not (said.content.isascii() and one.content.isascii()):
        return True
    lowered = one.content.lower()
    shared = sum(word in lowered for word in said.words)
    return shared >= min(1.0 - limits.new_words, limits.overlap) * len(said.words)


def _closeness(said: DeliveredText, one: DeliveredText, cosine: float, limits: EchoLimits) -> float:
    """Return how surely a candidate repeats a memory by its words or meaning, 0 where not."""
    if one.content_hash == said.content_hash:
        return 2.0
    overlap = assertions.jaccard(left=said.words, right=one.words)
    new = len(said.words - one.words)
    is_quoted = len(said.words) >= FEWEST and new <= limits.new_words * len(said.words)
    is_like = is_quoted or overlap >= limits.overlap or cosine >= limits.cosine
    return max(overlap, cosine) if is_like else 0.0


def _differs(old: DeliveredText, new: DeliveredText, limits: EchoLimits) -> bool:
    """Say whether the new one says more than the old one, or something else."""
    if limits.is_whole:
        return not restatements.restates(old=old.content, new=new.content)
    return not changes.adds_nothing(old=old.content, new=new.content)


class Alarm(StrEnum):
    """What was noticed."""

    ORDERS = "orders"
    ADDRESS = "address"
    COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A memory as a burst is looked for: when it was written, in seconds of one clock."""

    id: UUID
    at_seconds: float
    content: str


def of_content(*, content: str) -> tuple[Alarm, ...]:
    """Return what a content rings; invisible characters hide nothing."""
    seen = texts.straighten_apostrophes(text=texts.visible_text(text=content))
    return tuple(Alarm(name) for name, pattern in _ALARMS.items() if pattern.search(seen))


def burst(*, written: Sequence[Written]) -> tuple[UUID, ...]:
    """Return the memories of groups that say nearly the same and were written close together.

    A group is one memory and those alike that came within ten minutes after it, five at least.
    Each is compared with the 200 before it: linear in a flood, which is held as a whole.
    """
    ordered = sorted(written, key=lambda one: (one.at_seconds, one.id))
    words = {one.id: assertions.words(text=one.content) for one in ordered}
    alike: dict[UUID, list[UUID]] = {one.id: [one.id] for one in ordered}
    for place, later in enumerate(ordered):
        for first in ordered[max(0, place - COMPARED_MOST) : place]:
            is_close = later.at_seconds - first.at_seconds <= BURST_SECONDS
            overlap = assertions.jaccard(left=words[first.id], right=words[later.id])
            if is_close and overlap >= BURST_ALIKE:
                alike[first.id].append(later.id)
    groups = (group for group in alike.values() if len(group) >= BURST_LEAST)
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


def dominant(*, given_out: Mapping[UUID, int]) -> UUID | None:
    """Return the memory that takes half or more of what was given out; None without one."""
    total = sum(given_out.values())
    if total < DOMINANT_LEAST:
        return None
    most = max(given_out, key=lambda id: (given_out[id], id))
    return most if given_out[most] / total >= DOMINANT_SHARE and len(given_out) > 1 else None
