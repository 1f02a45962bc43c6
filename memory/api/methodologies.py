"""Methodologies over REST: those there are, and the organization's own."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field
from pydantic.config import JsonDict

from accounts.api.endpoints import Call, delete, get, post
from accounts.api.schemas import Body, Choice, Free, Items, Name, OneOf, Result, Several
from memory.api.schemas.memories import Kind
from memory.customization import actions, custom_type_rules, queries
from memory.customization.phases import (
    LONGEST_NAME,
    MOST_PHASES,
    NAME,
    OnComplete,
    Phase,
    Transition,
)
from memory.customization.queries import MethodologyView

Stage = Annotated[Name, Field(max_length=actions.LONGEST_STAGE)]
PHASES: Final[JsonDict] = {  # what the action refuses, in better words
    "minProperties": 1,
    "maxProperties": MOST_PHASES,
    "propertyNames": {"minLength": 1, "maxLength": LONGEST_NAME, "pattern": r"\S"},
    "additionalProperties": {"type": "string", "enum": [*Phase]},
}


class NewRelay(Body):
    """What a stage passes on to the next."""

    before: Stage = Field(alias="from", description="The stage that ends.")
    after: Stage = Field(alias="to", description="The stage that begins.")
    types: Several[Kind] = Field(
        (),
        max_length=len(custom_type_rules.OURS) + custom_type_rules.MOST,
        description="The types that pass on, its own ones too; all when left out.",
    )


class NewOwnType(Body):
    """A type of memories that a methodology adds."""

    name: Name = Field(
        max_length=custom_type_rules.LONGEST,
        description=("How memories of it are called: small letters, digits, hyphens, underscores."),
        json_schema_extra={"pattern": f"^{custom_type_rules.FORM}$"},
    )
    base: Annotated[str, OneOf(custom_type_rules.BASES)] = Field(
        description="Which of our types it is: as that one it fades and is searched."
    )
    says: Name = Field(
        max_length=custom_type_rules.LONGEST_SAYS,
        description="One sentence for those who choose a type.",
    )


class NewMethodology(Body):
    """A methodology of the organization's own."""

    name: Name = Field(
        max_length=40,
        description="How contexts name it: small letters, digits, hyphens, underscores.",
        examples=["kanban"],
        json_schema_extra={"pattern": "^" + NAME.pattern.replace(r"\Z", "") + "$"},
    )
    phases: Free = Field(
        description="Which of our six phases each of its own is, by its name.",
        examples=[{"ready": "define", "doing": "implement", "review": "validate"}],
        json_schema_extra=PHASES,
    )
    relays: Several[NewRelay] = Field(
        (),
        max_length=MOST_PHASES,
        description="What each stage passes on to the next; ours when left out.",
        examples=[[{"from": "doing", "to": "review", "types": ["gotcha", "decision"]}]],
    )
    on_complete: Several[Choice[OnComplete]] = Field(
        (),
        max_length=len(OnComplete),
        description=(
            "What is remembered when a session with a unit of work ends; nothing as usual."
        ),
        examples=[["record_outcome"]],
    )
    types: Several[NewOwnType] = Field(
        (),
        max_length=custom_type_rules.MOST,
        description="Types of memories that it adds to ours.",
        examples=[
            [{"name": "user-story", "base": "requirement", "says": "What a user needs, and why."}]
        ],
    )


class Relay(Result):
    """What a stage passes on to the next."""

    before: str = Field(serialization_alias="from")
    after: str = Field(serialization_alias="to")
    types: Annotated[tuple[str, ...], BeforeValidator(sorted)]


class OwnType(Result):
    """A type of memories that a methodology adds."""

    name: str
    base: str
    says: str


class Methodology(Result):
    """The methodology."""

    name: str
    phases: dict[str, Any]
    is_own: bool
    relays: tuple[Relay, ...]
    on_complete: tuple[OnComplete, ...]
    types: tuple[OwnType, ...]


class Methodologies(Items[Methodology]):
    """By name."""


@get("methodologies", tag="search", answer=Methodologies)
def list_methodologies(call: Call) -> tuple[MethodologyView, ...]:
    """List methodologies.

    Ours and the organization's own, with the phase each of their phases is.
    """
    return queries.list_methodologies(caller=call.caller)


@post("methodologies", tag="search", answer=Methodology, status=201)
def define_methodology(call: Call, body: NewMethodology) -> MethodologyView:
    """Define a methodology.

    One of that name is defined anew; one of ours is covered by it.
    """
    course = actions.Course(
        relays=tuple(
            Transition(before=one.before, after=one.after, types=frozenset(one.types))
            for one in body.relays
        ),
        on_complete=body.on_complete,
        types=queries.TYPE_ROWS.validate_python([dict(one) for one in body.types]),
    )
    return actions.define_methodology(
        caller=call.caller, name=body.name, phases=body.phases, course=course, now=call.now
    )


@delete("methodologies/{ref}", tag="search", answer=Methodologies, idempotent=True)
def remove_methodology(call: Call) -> tuple[MethodologyView, ...]:
    """Remove a methodology."""
    actions.remove_methodology(caller=call.caller, name=call.ref)
    return queries.list_methodologies(caller=call.caller)
