"""What a model wrote down of a conversation, checked one by one.

Nothing is taken on trust: a candidate names a turn that was shown, says what that turn says in
mostly the same words, has the length of a statement and one of the types. What fails is dropped and
counted by its reason, never mended and never stored half.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from memory.extraction import chatter
from memory.extraction.extract import LONGEST, SHORTEST, Candidate, SpokenEvidence, without_twins
from memory.extraction.prompts import schemas
from memory.intake.integrate import Judged, Relation
from memory.records import assertions
from memory.records.assertions import Difference
from memory.sessions import turns as spoken
from memory.sessions.turns import Speaker, Turn
from memory.taxonomy import MemoryType
from memory.text import text as texts

GROUNDED: Final = 0.6  # share of a candidate's words that its turn has too; default, not measured
MOST_WORDS: Final = 8  # topics or files of a candidate; default, not measured
LONGEST_WORD: Final = 200  # characters of one; default, not measured


class Fault(StrEnum):
    """Why a candidate was dropped."""

    SHAPE = "shape"
    TURN = "turn"
    LENGTH = "length"
    TYPE = "type"
    UNGROUNDED = "ungrounded"
    INSTRUCTION = "instruction"
    TWIN = "twin"
    TOO_MANY = "too_many"


def read(
    *, data: Mapping[str, Any], turns: tuple[Turn, ...]
) -> tuple[tuple[Candidate, ...], Counter[str]]:
    """Return the candidates of an answer that hold, and how many were dropped for which reason."""
    shown = {turn.sequence: turn for turn in turns}
    own = {turn.sequence: spoken.prose(turn=turn) for turn in turns}
    listed = data["memories"]
    dropped: Counter[str] = Counter()
    found: list[Candidate] = []
    for entry in listed[: schemas.MOST]:
        checked = _checked(entry, shown, own)
        if isinstance(checked, Fault):
            dropped[checked.value] += 1
        else:
            found.append(checked)
    kept = without_twins(candidates=tuple(found))
    dropped[Fault.TWIN.value] += len(found) - len(kept)
    dropped[Fault.TOO_MANY.value] += max(0, len(listed) - schemas.MOST)
    return kept, +dropped


def _checked(entry: Any, shown: Mapping[int, Turn], own: Mapping[int, str]) -> Candidate | Fault:
    if not isinstance(entry, dict) or not _has_shape(entry):
        return Fault.SHAPE
    turn = shown.get(entry["turn"])
    content = " ".join(entry["text"].split())
    fault = _fault(turn, entry["type"], content, own)
    if fault is not None or turn is None:
        return fault or Fault.TURN
    return Candidate(
        content=content,
        type=MemoryType(entry["type"]),
        evidence=SpokenEvidence(turn=turn.sequence, line=1),
        speaker=turn.speaker,
        files=_words(entry.get("files")),
        topics=_words(entry.get("topics")),
        event_at=_timestamp(entry.get("event_time")),
        importance=min(1.0, max(0.0, float(entry.get("importance", 0.5)))),
        relation=entry["relation"] if entry.get("relation") in schemas.RELATIONS else "new",
    )


def _fault(turn: Turn | None, type: str, content: str, own: Mapping[int, str]) -> Fault | None:
    """Return the first thing that is wrong with a candidate."""
    if turn is None or turn.speaker not in {Speaker.USER, Speaker.ASSISTANT}:
        return Fault.TURN
    has_length = SHORTEST <= len(content) <= LONGEST and not texts.check_text(text=content)
    checks = (
        (Fault.TYPE, type in schemas.KEPT_TYPES),
        (Fault.LENGTH, has_length),
        (Fault.INSTRUCTION, not chatter.speaks_to_the_machine(text=content)),
        (Fault.UNGROUNDED, _is_grounded(content, own[turn.sequence])),
    )
    return next((fault for fault, holds in checks if not holds), None)


def _has_shape(entry: Mapping[str, Any]) -> bool:
    number = entry.get("turn")
    weight = entry.get("importance", 0.5)
    return (
        isinstance(number, int)
        and not isinstance(number, bool)
        and isinstance(entry.get("text"), str)
        and isinstance(entry.get("type"), str)
        and isinstance(weight, int | float)
        and not isinstance(weight, bool)
        and math.isfinite(weight)
    )


def _is_grounded(content: str, said: str) -> bool:
    """Say whether a turn says this: most words are there, and every number and quoted value."""
    words = texts.content_words(text=content)
    there = texts.content_words(text=said)
    if not words or len(words & there) < GROUNDED * len(words):
        return False
    values = assertions.hard_values(text=said) | frozenset(said.lower().split())
    if assertions.hard_values(text=content) - values:
        return False
    return _difference(content, said) is not Difference.POLARITY


def _difference(content: str, said: str) -> Difference:
    """Compare polarity with the sentence that is nearest, not with a whole turn."""
    sentences = [part for part in said.replace("\n", ". ").split(". ") if part.strip()]
    words = assertions.words(text=content)
    nearest = max(
        sentences,
        key=lambda part: assertions.jaccard(left=words, right=assertions.words(text=part)),
        default="",
    )
    near = assertions.jaccard(left=words, right=assertions.words(text=nearest))
    if near < GROUNDED:
        return Difference.NONE
    return assertions.difference_of_restatement(old=nearest, new=assertions.assertion(text=content))


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    fitting = (one for one in value if isinstance(one, str) and 0 < len(one) <= LONGEST_WORD)
    clean = (one for one in fitting if not texts.check_text(text=one) and not one.isspace())
    return tuple(dict.fromkeys(clean))[:MOST_WORDS]


def _timestamp(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value[:40])
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# What a model said that candidates are to what is known, checked one by one.
#
# Pairs of a new statement and a stored one are numbered and shown between two marks that nobody
# can have known. An answer is taken only for a pair that was shown, with a relation of the list
# and a certainty that is high enough; of two answers about a pair neither. Whatever is missing or
# wrong is left to words: nothing is guessed from a broken answer.

MOST_PAIRS: Final = 24  # a call; default, not measured
LONGEST_SIDE: Final = 600  # characters of a statement in a call; default, not measured
LEAST_CERTAINTY: Final = 0.6  # below, words decide; default, not measured
NAMES: Final[Mapping[str, Relation]] = {
    "update": Relation.UPDATE,
    "contradicts": Relation.CONTRADICT,
    "extend": Relation.EXTEND,
    "derive": Relation.DERIVE,
    "none": Relation.NEW,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementPair:
    """A candidate, by its place in a part, and a stored memory near it, as it was read."""

    candidate: int
    new: str
    known_id: UUID
    version: int | None
    known: str


def write_pairs(
    *, pairs: tuple[StatementPair, ...], nonce: str, clean: Callable[[str], str]
) -> str:
    """Return the pairs between their marks; `clean` takes secrets out."""
    told = (
        f"[pair {number}]\nstored: {_side(pair.known, nonce, clean)}\n"
        f"new: {_side(pair.new, nonce, clean)}"
        for number, pair in enumerate(pairs, 1)
    )
    return "\n".join((f"<<<{nonce}", *told, f"{nonce}>>>"))


def read_relations(
    *, data: Mapping[str, Any], pairs: tuple[StatementPair, ...]
) -> tuple[dict[int, tuple[Judged, ...]], Counter[str]]:
    """Return by candidate what was judged of it, and how many answers were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[int, Judged] = {}
    twice: set[int] = set()
    for entry in data["relations"]:
        checked = _checked_relation(entry, pairs)
        if isinstance(checked, str):
            dropped[checked] += 1
            continue
        number, judged = checked
        twice |= {number} & found.keys()
        found[number] = judged
    dropped["relation_twice"] += len(twice)
    by_candidate: dict[int, tuple[Judged, ...]] = {}
    for number, judged in sorted(found.items()):
        if number not in twice:
            place = pairs[number - 1].candidate
            by_candidate[place] = (*by_candidate.get(place, ()), judged)
    return by_candidate, +dropped


def _side(text: str, nonce: str, clean: Callable[[str], str]) -> str:
    return " ".join(clean(text.replace(nonce, "")).split())[:LONGEST_SIDE]


def _checked_relation(entry: Any, pairs: tuple[StatementPair, ...]) -> tuple[int, Judged] | str:
    """Return the pair's number and what was judged of it, or why the answer is dropped."""
    if not isinstance(entry, dict) or not _has_relation_shape(entry):
        return "relation_shape"
    number = entry["pair"]
    if not 1 <= number <= len(pairs):
        return "relation_pair"
    certainty = float(entry["certainty"])
    if not LEAST_CERTAINTY <= certainty <= 1.0:
        return "relation_unsure"
    pair = pairs[number - 1]
    relation = NAMES[entry["relation"]]
    judged = Judged(
        known_id=pair.known_id, version=pair.version, relation=relation, certainty=certainty
    )
    return number, judged


def _has_relation_shape(entry: Mapping[str, Any]) -> bool:
    number, certainty = entry.get("pair"), entry.get("certainty")
    return (
        isinstance(number, int)
        and not isinstance(number, bool)
        and isinstance(entry.get("relation"), str)
        and entry["relation"] in schemas.JUDGED
        and isinstance(certainty, int | float)
        and not isinstance(certainty, bool)
        and math.isfinite(certainty)
    )
