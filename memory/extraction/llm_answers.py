"""What a model said that candidates are to what is known, checked one by one.

Pairs of a new statement and a stored one are numbered and shown between two marks that nobody can
have known. An answer is taken only for a pair that was shown, with a relation of the list and a
certainty that is high enough; of two answers about a pair neither. Whatever is missing or wrong is
left to words: nothing is guessed from a broken answer.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memory.extraction.prompts import schemas
from memory.intake.integrate import Judged, Relation

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
class Pair:
    """A candidate, by its place in a part, and a stored memory near it, as it was read."""

    candidate: int
    new: str
    known_id: UUID
    version: int | None
    known: str


def written(*, pairs: tuple[Pair, ...], nonce: str, clean: Callable[[str], str]) -> str:
    """Return the pairs between their marks; `clean` takes secrets out."""
    told = (
        f"[pair {number}]\nstored: {_side(pair.known, nonce, clean)}\n"
        f"new: {_side(pair.new, nonce, clean)}"
        for number, pair in enumerate(pairs, 1)
    )
    return "\n".join((f"<<<{nonce}", *told, f"{nonce}>>>"))


def read(
    *, data: Mapping[str, Any], pairs: tuple[Pair, ...]
) -> tuple[dict[int, tuple[Judged, ...]], Counter[str]]:
    """Return by candidate what was judged of it, and how many answers were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[int, Judged] = {}
    twice: set[int] = set()
    for entry in data["relations"]:
        checked = _checked(entry, pairs)
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


def _checked(entry: Any, pairs: tuple[Pair, ...]) -> tuple[int, Judged] | str:
    """Return the pair's number and what was judged of it, or why the answer is dropped."""
    if not isinstance(entry, dict) or not _has_shape(entry):
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


def _has_shape(entry: Mapping[str, Any]) -> bool:
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
