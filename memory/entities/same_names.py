"""Names that are said to be one thing, as groups.

What is said is a list of pairs; a group is what they connect. Nothing is lost by joining, because a
pair that is taken back leaves the groups that the others make.
"""

from collections.abc import Iterable

Name = tuple[int, str]  # type code and key


def groups(*, pairs: Iterable[tuple[Name, Name]]) -> dict[Name, int]:
    """Return the number of the group of each name in a pair; numbers follow the pairs' order."""
    found: dict[Name, int] = {}
    for first, second in pairs:
        numbers = {found[name] for name in (first, second) if name in found}
        number = min(numbers, default=len(found))
        joined = [name for name, old in found.items() if old in numbers]
        found |= dict.fromkeys((*joined, first, second), number)
    return found


def together(*, names: Iterable[Name], numbers: dict[Name, int]) -> frozenset[Name]:
    """Return all names of the groups that some names are in, and those that are in none."""
    asked = frozenset(names)
    wanted = {numbers[name] for name in asked if name in numbers}
    return asked | {name for name, number in numbers.items() if number in wanted}
