"""How a tool is declared: one decorator on the function that answers, as calls of REST are.

    @tool(title="Read one memory", scope=TokenScope.READ, answer=OneMemory)
    def get(call: Call, arguments: MemoryId) -> dict[str, Any]:
        ...

The function's name is the tool's, its docstring what a model reads of it, and `arguments` is
checked by the model that it is annotated with. It returns what the `answer` model can be made of.
What comes back is data under a fixed banner, because a memory is text that somebody wrote and must
never be read as an instruction.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Generic, Self, TypeVar, get_origin, get_type_hints
from uuid import UUID

from pydantic import ConfigDict, Field

from accounts.api import schemas
from accounts.api.schemas import Body, Identifier, Result
from accounts.caller import Caller, TokenScope
from memory.api.schemas.memories import Absent, Slug
from memory.records.queries.views import Contradiction, MemoryView
from memory.search.lookups import Lookup
from memory.search.packing import NOTICE

BANNER: Final = NOTICE


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who calls a tool, and when."""

    caller: Caller
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as agents see it, and the function behind it.

    A `weighed` one costs more the more is sent, and counts as several calls by its size.
    """

    name: str
    title: str
    description: str
    scope: TokenScope
    arguments: type[Body]
    answer: type[Result]
    run: Callable[[Call, Any], Any]
    is_idempotent: bool
    weighed: bool

    def check(self, *, given: Mapping[str, Any], project: str | None) -> Body:
        """Return the checked arguments. Raises InvalidInput with every fault.

        Where they name no project, they get the connection's own. A list that a client sent as JSON
        text is taken for the list it is; some clients do that.
        """
        fields = self.arguments.model_fields
        value = {
            name: _parse_list(one)
            if isinstance(one, str)
            and name in fields
            and get_origin(fields[name].annotation) is tuple
            else one
            for name, one in given.items()
        }
        checked = schemas.check(model=self.arguments, value=value)
        if project is None or getattr(checked, "project", project) is not None:
            return checked
        return checked.model_copy(update={"project": project})

    def respond(self, *, call: Call, arguments: Body) -> Result:
        """Answer a call whose arguments are checked."""
        found = self.run(call, arguments)
        return self.answer.model_validate(found, from_attributes=True)


def tool(
    *,
    title: str,
    scope: TokenScope,
    answer: type[Result],
    is_idempotent: bool = True,
    weighed: bool = False,
) -> Callable[[Callable[[Call, Any], Any]], Tool]:
    """Declare the tool that a function answers."""

    def declare(function: Callable[[Call, Any], Any]) -> Tool:
        return Tool(
            name=function.__name__,
            title=title,
            description=" ".join(inspect.getdoc(function).split()),  # type: ignore[union-attr]
            scope=scope,
            arguments=get_type_hints(function)["arguments"],
            answer=answer,
            run=function,
            is_idempotent=is_idempotent,
            weighed=weighed,
        )

    return declare


def schema_of(*, model: type[Body | Result]) -> dict[str, Any]:
    """Return the JSON Schema of a model in one piece: not every client follows references."""
    whole = model.model_json_schema(
        mode="serialization" if issubclass(model, Result) else "validation"
    )
    named = whole.pop("$defs", {})

    def in_place(part: Any) -> Any:
        if isinstance(part, list):
            return [in_place(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            target = named[part["$ref"].rpartition("/")[2]]
            return in_place({**target, **{key: part[key] for key in part if key != "$ref"}})
        return {key: in_place(one) for key, one in part.items()}

    described: dict[str, Any] = in_place(whole)
    described.pop("description", None)  # of the class, for readers of the code
    return described


def _parse_list(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


# What the tools share: how a memory is shown to an agent, and the arguments of several tools.
#
# Filters are those of REST. Answers are smaller: an agent pays for each word that it reads.

MOST: Final = 50  # memories an answer; more would crowd out the agent's own work
Limit = Annotated[int, Field(ge=1, le=MOST, description="How many at most.")]


class ProjectArgument(Body):
    """The project that a tool works in."""

    project: Slug | None = Field(None, description="Slug or id of the project you work on.")


class ProjectList(ProjectArgument):
    """How much of a list is asked for."""

    limit: Limit = 20


class MemoryId(Body):
    """Which memory is meant."""

    id: Identifier = Field(description="The memory's id.")


class OtherSide(Result):
    """The other side of a contradiction."""

    id: UUID = Field(validation_alias="memory_id")
    type: str
    content: str
    conflict_id: UUID | None


class ShownMemory(Result):
    """A memory as tools show it, with what contradicts it: no side is shown alone."""

    project: Annotated[str | None, Absent] = Field(validation_alias="project_slug")
    id: UUID
    type: str
    content: str
    tags: tuple[str, ...]
    related_files: tuple[str, ...]
    confidence: float
    verification: str
    needs_review: bool
    status: str
    author_agent: str
    created_at: datetime
    updated_at: datetime
    own_type: str = Field("", exclude_if=lambda name: not name)
    contradictions: tuple[OtherSide, ...] = Field((), exclude_if=lambda sides: not sides)

    @classmethod
    def of(cls, view: MemoryView, sides: tuple[Contradiction, ...] = (), **found: Any) -> Self:
        """Show a memory; `found` is what a tool adds to it."""
        own = {
            name: getattr(view, name)
            for name in ShownMemory.model_fields
            if name not in {"project", "contradictions"}
        }
        return cls.model_validate(
            {**own, "project_slug": view.project_slug, "contradictions": sides, **found},
            from_attributes=True,
        )


Shown = TypeVar("Shown", bound=ShownMemory)


def shown_by(model: type[Shown], found: Lookup[Any], name: str, **more: Any) -> list[Shown]:
    """Show what a lookup found, and what it says of each memory by this name."""
    return [
        model.of(memory, found.sides.get(memory.id, ()), **{name: value}, **more)
        for memory, value in found.items
    ]


class Noticed(Result):
    """An answer that holds what somebody wrote, and says so."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    notice: str = BANNER


class Results(Noticed, Generic[Shown]):
    """Memories in their order."""

    results: tuple[Shown, ...]
