"""Named things as values, and names that are said to be one thing, as groups.

What is said is a list of pairs; a group is what they connect. Nothing is lost by joining, because a
pair that is taken back leaves the groups that the others make.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.entities.names import TYPE_CODES
from memory.entities.rules import EntityType

Name = tuple[int, str]  # type code and key


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """What some visible memories name: type, key, usual spelling, how many, every spelling."""

    type: EntityType
    key: str
    name: str
    memories: int
    spellings: tuple[str, ...] = ()
    members: tuple[Name, ...] = ()

    @property
    def names(self) -> tuple[Name, ...]:
        """The names that are this thing, as type codes and keys."""
        return self.members or ((TYPE_CODES[self.type], self.key),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Somebody said that two names are one thing, for an audience that the reader is in."""

    id: UUID
    first: Name
    second: Name
    audience: UUID
    made_by: UUID
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which things are asked for; None lets everything through.

    `begins` are patterns of LIKE; `after`: those behind this one, the most often named first.
    """

    projects: tuple[UUID, ...] | None = None
    type: EntityType | None = None
    keys: tuple[str, ...] | None = None
    begins: tuple[str, ...] | None = None
    after: tuple[int, str, EntityType] | None = None


def groups(*, pairs: Iterable[tuple[Name, Name]]) -> dict[Name, int]:
    """Return the number of the group of each name in a pair; numbers follow the pairs' order."""
    found: dict[Name, int] = {}
    for first, second in pairs:
        numbers = {found[name] for name in (first, second) if name in found}
        number = min(numbers, default=len(found))
        joined = [name for name, old in found.items() if old in numbers]
        found |= dict.fromkeys((*joined, first, second), number)
    return found


def merged_names(*, names: Iterable[Name], numbers: dict[Name, int]) -> frozenset[Name]:
    """Return all names of the groups that some names are in, and those that are in none."""
    asked = frozenset(names)
    wanted = {numbers[name] for name in asked if name in numbers}
    return asked | {name for name, number in numbers.items() if number in wanted}
