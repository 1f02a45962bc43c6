"""Shapes that modules without models still use."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.shapes import Field, Moment, Record, Several, Text, Whole
from memory.customization.custom_type_rules import FORM, LONGEST
from memory.search.request import LARGEST_LIMIT, Narrowing
from memory.taxonomy import MemoryType, Scope

MOST_IN_ADDRESS: Final = 32  # values of one filter
MOST_TOPICS: Final = 64
CONTENT: Final = Text(largest=100_000)
TYPE: Final = Text(
    largest=LONGEST,
    smallest=1,
    choices=tuple(item.value for item in MemoryType),
    form=FORM,
)
SCOPE: Final = Text(largest=12, choices=tuple(item.value for item in Scope))
PROJECT: Final = Field(
    name="project", shape=Text(largest=64, smallest=1), says="A project's slug or id."
)
REASON: Final = Field(
    name="reason", shape=Text(largest=200), says="Why, for the history.", default=""
)
NOTHING: Final = Record(name="Nothing", fields=())
REST: Final = Record(
    name="Rest",
    fields=(
        Field(
            name="until", shape=Moment(), says="When it waits again, in a year at most.",
            required=True,
        ),
    ),
)  # fmt: skip
LIMIT: Final = Field(
    name="limit",
    shape=Whole(smallest=1, largest=LARGEST_LIMIT),
    says="How many at most.",
    default=10,
)


def _values(longest: int, most: int) -> Several:
    return Several(of=Text(largest=longest, smallest=1), largest=most)


def _list(name: str, shape: Several, says: str) -> Field:
    return Field(name=name, shape=shape, says=says, default=())


NARROWING: Final = (
    PROJECT,
    _list("projects", _values(64, MOST_IN_ADDRESS), "Only these projects, by slug or id."),
    _list("types", Several(of=TYPE, largest=len(MemoryType)), "Only these types."),
    _list("tags", _values(64, MOST_IN_ADDRESS), "With all of these tags."),
    _list(
        "files",
        _values(400, MOST_IN_ADDRESS),
        "About one of these: paths, ends of paths, or globs.",
    ),
    _list(
        "topics",
        _values(200, MOST_TOPICS),
        "In one of these topics, by id or by words of its name.",
    ),
    Field(
        name="author",
        shape=Text(largest=120, smallest=1),
        says="A person's id, an agent or a tool.",
    ),
)


def narrowing(*, given: Mapping[str, Any]) -> Narrowing:
    """Make the value of checked filters, and of the limit where there is one."""
    names = Narrowing.__dataclass_fields__
    return Narrowing(**{name: given[name] for name in names if given.get(name) is not None})
