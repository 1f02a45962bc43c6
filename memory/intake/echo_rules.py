"""The guard against loops: what was given out is not learned again.

One store of the field held 668 copies of a hallucination that had been recalled, extracted and
stored again. So what a session was given is compared with what is taken from it: the same text, a
quotation, a light paraphrase, or one that is near by meaning says nothing new. What says the
opposite, or another number, is news and passes; integration decides about it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from uuid import UUID

from memory.records import assertions
from memory.records.assertions import Difference
from memory.text import text as texts
from memory.text.text import content_words

NOBODY: Final = UUID(int=0)
FEWEST = 4  # words that say something, for a quotation; default, not measured
_NUMBERS = frozenset({
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "twenty", "thirty", "fifty", "hundred", "thousand", "once", "twice", "half",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoLimits:
    """How like a memory a statement must be to be an echo of it; defaults, not measured.

    `new_words`: the share of its words that may be new; `overlap`: the Jaccard, and `cosine`, from
    which it is one whatever is new.
    """

    new_words: float
    overlap: float
    cosine: float


SAME_WORDS = EchoLimits(new_words=0.0, overlap=1.0, cosine=1.01)  # of what an agent says of itself
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
        return content_words(text=self.content)


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
        if one.content_hash == said.content_hash or not _differs(one, said):
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


def _differs(old: DeliveredText, new: DeliveredText) -> bool:
    """Say whether the new one asserts something else: the opposite, a number, another name."""
    if old.words & _NUMBERS != new.words & _NUMBERS:
        return True
    restated = assertions.difference_of_restatement(
        old=old.content, new=assertions.assertion(text=new.content)
    )
    named = assertions.difference(old=old.content, new=new.content)
    return restated is not Difference.NONE or named is not Difference.NONE
