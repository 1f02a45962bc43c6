"""Which files to have at hand when work on a module begins.

Files read in more than 80 % of a module's sessions come first, those in more than 50 % next, at
most twelve and 32,000 tokens. A file whose size nobody knows is not planned: a budget that rests on
a guess is none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memory.observer import syntheses
from memory.observer.statistics import FileRow, ModuleRow

TOKENS_MOST: Final = 30_000  # of the 32,000 of spec 4.6; the others are for what is said beside
FILES_MOST: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One file to have at hand; `always` tells the first group from the second."""

    path: str
    tokens: int
    always: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The files in their order, what they cost together, and those that were left out."""

    files: tuple[Planned, ...]
    tokens: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A module that is worked on, and what is known of its files."""

    module: ModuleRow
    files: tuple[FileRow, ...]


def plan(*, works: Iterable[Work], tokens: Mapping[str, int]) -> Plan:
    """Plan the files of some modules; `tokens` are what each costs now."""
    every = tuple(works)
    always = _shared(every, syntheses.ALWAYS_ABOVE)
    often = _shared(every, syntheses.OFTEN_ABOVE)
    kept: list[Planned] = []
    left: list[str] = []
    spent = 0
    for path in dict.fromkeys((*always, *often)):
        cost = tokens.get(path)
        if cost is None or spent + cost > TOKENS_MOST or len(kept) >= FILES_MOST:
            left.append(path)
            continue
        kept.append(Planned(path=path, tokens=cost, always=path in always))
        spent += cost
    return Plan(files=tuple(kept), tokens=spent, left_out=tuple(left))


def _shared(works: tuple[Work, ...], above: float) -> tuple[str, ...]:
    """Return the files above a share of their own module's sessions."""
    return tuple(
        path
        for work in works
        for path in syntheses.shares(module=work.module, files=work.files, above=above)
    )
