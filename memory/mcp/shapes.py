"""What a tool is, and what all of them share: how a memory is shown, and common fields.

A tool is a value: how it is described to a model, the shape of its arguments, and one function that
asks one action or query. What comes back is data under a fixed banner, because a memory is text
that somebody wrote and must never be read as an instruction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from accounts.api.schemas import ID, MOMENT, NUMBER, TEXT, TRUTH, maybe, record, several
from accounts.api.shapes import Field, Moment, Record, Several, Shape, Text, Whole
from accounts.caller import Caller, TokenScope
from memory.customization.custom_type_rules import FORM, LONGEST
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView
from memory.search.packing import NOTICE
from memory.search.request import Narrowing
from memory.taxonomy import MemoryType

BANNER: Final = NOTICE
MOST: Final = 50  # memories an answer; more would crowd out the agent's own work
TYPE: Final = Text(  # ours, or one that a methodology adds
    largest=LONGEST,
    smallest=1,
    choices=tuple(item.value for item in MemoryType),
    form=FORM,
)
WORDS: Final = Several(of=Text(largest=400, smallest=1), largest=64)
PROJECT: Final = Field(
    name="project",
    shape=Text(largest=64, smallest=1),
    says="Slug or id of the project you work on.",
)
_SHOWN: Final = (
    "id", "type", "content", "tags", "related_files", "confidence", "verification",
    "needs_review", "status", "author_agent", "created_at", "updated_at",
)  # fmt: skip
SIDES: Final = several(record(id=ID, type=TEXT, content=TEXT, conflict_id=maybe(ID)))
_ALONE: Final = record(
    project=maybe(TEXT),
    id=ID,
    type=TEXT,
    content=TEXT,
    tags=several(TEXT),
    related_files=several(TEXT),
    confidence=NUMBER,
    verification=TEXT,
    needs_review=TRUTH,
    status=TEXT,
    author_agent=TEXT,
    created_at=MOMENT,
    updated_at=MOMENT,
)
MEMORY: Final = {  # what contradicts it, and a methodology's name of its type, only where there is
    **_ALONE,
    "properties": {**_ALONE["properties"], "own_type": TEXT, "contradictions": SIDES},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool: checked arguments and who asks. `project` is the connection's own."""

    caller: Caller
    arguments: Mapping[str, Any]
    project: str | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as agents see it, and the function behind it.

    A `weighed` one costs more the more is sent, and counts as several calls by its size.
    """

    name: str
    title: str
    says: str
    scope: TokenScope
    takes: Record
    gives: Mapping[str, Any]
    run: Callable[[Call], dict[str, Any]]
    is_idempotent: bool = True
    weighed: bool = False


def shown(*, view: MemoryView, sides: tuple[Contradiction, ...] = ()) -> dict[str, Any]:
    """Return a memory as tools show it, with what contradicts it: no side is told alone."""
    given = {
        "project": view.project_slug or None,
        **{name: getattr(view, name) for name in _SHOWN},
        **({"own_type": view.own_type} if view.own_type else {}),
    }
    if not sides:
        return given
    names = {"id": "memory_id", "type": "type", "content": "content", "conflict_id": "conflict_id"}
    others = [{name: getattr(one, own) for name, own in names.items()} for one in sides]
    return {**given, "contradictions": others}


def limit(*, default: int) -> Field:
    """Return the field that bounds an answer."""
    shape = Whole(smallest=1, largest=MOST)
    return Field(name="limit", shape=shape, says="How many at most.", default=default)


def types(*, says: str) -> Field:
    """Return the field that narrows to some types."""
    shape = Several(of=TYPE, largest=len(MemoryType))
    return Field(name="types", shape=shape, says=says, default=())


def option(*, name: str, shape: Shape, says: str, default: Any = None) -> Field:
    """Return a field that may be left out."""
    return Field(name=name, shape=shape, says=says, default=default)


def narrowing(*, call: Call) -> Narrowing:
    """Return the filters of a call's arguments, in the connection's project when none is named."""
    names = (*(field.name for field in FILTERS), "limit")
    given = {name: call.arguments[name] for name in names if call.arguments.get(name) is not None}
    return Narrowing(**{**given, "project": given.get("project") or call.project})


NARROWING: Final = (
    PROJECT,
    option(name="projects", shape=WORDS, says="Only these projects.", default=()),
    types(says="Only these types of memory."),
    option(name="tags", shape=WORDS, says="With all of these tags.", default=()),
    option(name="files", shape=WORDS, says="About one of these paths or globs.", default=()),
    option(name="topics", shape=WORDS, says="In one of these topics of `list_topics`.", default=()),
    option(name="author", shape=Text(largest=120, smallest=1), says="A person, agent or tool."),
)
FILTERS: Final = (
    *NARROWING,
    option(name="since", shape=Moment(), says="Learned at that moment or later."),
    option(name="until", shape=Moment(), says="Learned before that moment."),
    option(name="as_of", shape=Moment(), says="What was known at that moment."),
)
