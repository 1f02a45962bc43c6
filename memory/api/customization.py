"""What an organization makes its own, over REST: methodologies, and communication styles."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field
from pydantic.config import JsonDict

from accounts.api import schemas
from accounts.api.endpoints import Call, delete, get, post, put
from memory.api.schemas.memories import Kind
from memory.customization import actions, custom_type_rules, queries, style
from memory.customization.phases import (
    LONGEST_NAME,
    MOST_PHASES,
    NAME,
    OnComplete,
    Phase,
    Transition,
)

Stage = Annotated[schemas.Name, Field(max_length=actions.LONGEST_STAGE)]
PHASES: Final[JsonDict] = {  # what the action refuses, in better words
    "minProperties": 1,
    "maxProperties": MOST_PHASES,
    "propertyNames": {"minLength": 1, "maxLength": LONGEST_NAME, "pattern": r"\S"},
    "additionalProperties": {"type": "string", "enum": [*Phase]},
}


class NewRelay(schemas.Body):
    """What a stage passes on to the next."""

    before: Stage = Field(alias="from", description="The stage that ends.")
    after: Stage = Field(alias="to", description="The stage that begins.")
    types: schemas.Several[Kind] = Field(
        (),
        max_length=len(custom_type_rules.OURS) + custom_type_rules.MOST,
        description="The types that pass on, its own ones too; all when left out.",
    )


class NewOwnType(schemas.Body):
    """A type of memories that a methodology adds."""

    name: schemas.Name = Field(
        max_length=custom_type_rules.LONGEST,
        description=("How memories of it are called: small letters, digits, hyphens, underscores."),
        json_schema_extra={"pattern": f"^{custom_type_rules.FORM}$"},
    )
    base: Annotated[str, schemas.OneOf(custom_type_rules.BASES)] = Field(
        description="Which of our types it is: as that one it fades and is searched."
    )
    says: schemas.Name = Field(
        max_length=custom_type_rules.LONGEST_SAYS,
        description="One sentence for those who choose a type.",
    )


class NewMethodology(schemas.Body):
    """A methodology of the organization's own."""

    name: schemas.Name = Field(
        max_length=40,
        description="How contexts name it: small letters, digits, hyphens, underscores.",
        examples=["kanban"],
        json_schema_extra={"pattern": "^" + NAME.pattern.replace(r"\Z", "") + "$"},
    )
    phases: schemas.Free = Field(
        description="Which of our six phases each of its own is, by its name.",
        examples=[{"ready": "define", "doing": "implement", "review": "validate"}],
        json_schema_extra=PHASES,
    )
    relays: schemas.Several[NewRelay] = Field(
        (),
        max_length=MOST_PHASES,
        description="What each stage passes on to the next; ours when left out.",
        examples=[[{"from": "doing", "to": "review", "types": ["gotcha", "decision"]}]],
    )
    on_complete: schemas.Several[schemas.Choice[OnComplete]] = Field(
        (),
        max_length=len(OnComplete),
        description=(
            "What is remembered when a session with a unit of work ends; nothing as usual."
        ),
        examples=[["record_outcome"]],
    )
    types: schemas.Several[NewOwnType] = Field(
        (),
        max_length=custom_type_rules.MOST,
        description="Types of memories that it adds to ours.",
        examples=[
            [{"name": "user-story", "base": "requirement", "says": "What a user needs, and why."}]
        ],
    )


class Relay(schemas.Result):
    """What a stage passes on to the next."""

    before: str = Field(serialization_alias="from")
    after: str = Field(serialization_alias="to")
    types: Annotated[tuple[str, ...], BeforeValidator(sorted)]


@schemas.fields_of(custom_type_rules.OwnType)
class OwnType(schemas.Result):
    """A type of memories that a methodology adds."""

    base: str


@schemas.fields_of(queries.MethodologyView)
class Methodology(schemas.Result):
    """The methodology."""

    phases: dict[str, Any]
    relays: tuple[Relay, ...]
    types: tuple[OwnType, ...]


class Methodologies(schemas.Items[Methodology]):
    """By name."""


@get("methodologies", tag="search", answer=Methodologies)
def list_methodologies(call: Call) -> tuple[queries.MethodologyView, ...]:
    """List methodologies.

    Ours and the organization's own, with the phase each of their phases is.
    """
    return queries.list_methodologies(caller=call.caller)


@post("methodologies", tag="search", answer=Methodology, status=201)
def define_methodology(call: Call, body: NewMethodology) -> queries.MethodologyView:
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
def remove_methodology(call: Call) -> tuple[queries.MethodologyView, ...]:
    """Remove a methodology."""
    actions.remove_methodology(caller=call.caller, name=call.ref)
    return queries.list_methodologies(caller=call.caller)


LONGEST_SAID: Final = 1_000  # characters of what a session is about; a default
Tool = Annotated[str, schemas.OneOf(style.INTERFACES)]
Fit = style.Fit
StyleScope = Annotated[str, schemas.OneOf(style.SCOPES)]


class NewStyle(schemas.Body):
    """A style to define."""

    name: schemas.Name = Field(
        max_length=40,
        description="Its name: small letters, digits, hyphens, underscores.",
        examples=["coding"],
        json_schema_extra={"pattern": "^" + style.NAME.pattern.replace(r"\Z", "") + "$"},
    )
    text: schemas.Name = Field(
        max_length=style.LONGEST_TEXT,
        description="How answers should read.",
        examples=["Answer in short sentences, code first, and name the file of each claim."],
    )
    scope: StyleScope = Field(
        style.SCOPES[0].value,
        description="Whose it is: the organization's, or a person's own, which nobody else sees.",
    )
    topics: schemas.Several[Annotated[schemas.Name, Field(max_length=style.LONGEST_TOPIC)]] = Field(
        (),
        max_length=style.MOST_TOPICS,
        description="What sessions are about that it is for, such as `coding` or `quick notes`.",
        examples=[["coding", "code review"]],
    )
    interfaces: schemas.Several[Tool] = Field(
        (),
        max_length=len(style.INTERFACES),
        description="The tools that it is for; none named: any.",
        examples=[["claude-code"]],
    )
    is_default: bool = Field(
        False,
        description="Whether it is used where no other fits; there is one for everybody at most.",
    )


class StyleQuery(schemas.Query):
    """Which session a style is asked for."""

    topic: schemas.Name | None = Field(
        None,
        max_length=LONGEST_SAID,
        description="What the session is about, in a few words or a sentence.",
    )
    interface: Tool | None = Field(None, description="The tool it is in; your own when left out.")


@schemas.fields_of(style.Style)
class Style(schemas.Result):
    """The style."""

    scope: StyleScope


class Styles(schemas.Items[Style]):
    """By name."""


class ComposedStyle(schemas.Result):
    """The style; null where none fits."""

    style: Style | None
    reason: Fit | None
    topic: str


@get("styles", tag="styles", answer=Styles)
def list_styles(call: Call) -> tuple[style.Style, ...]:
    """List communication styles.

    The organization's, and your own.
    """
    return queries.list_styles(caller=call.caller)


@put("styles", tag="styles", answer=Style)
def put_style(call: Call, body: NewStyle) -> style.Style:
    """Define a communication style.

    One of that name is defined anew. Owners and admins define the organization's, people their own.
    A new default takes the place of the one before.
    """
    return actions.put_style(caller=call.caller, new=style.NewStyle(**dict(body)), now=call.now)


@get("styles/composed", tag="styles", answer=ComposedStyle)
def compose_style(call: Call, query: StyleQuery) -> dict[str, Any]:
    """Find the style that fits a session.

    By topic and tool, the same for the same session: the style whose contexts fit, else the
    default. A topic tells more than a tool, your own style comes before the organization's, and
    `reason` says which it was.
    """
    found = queries.choose_style(
        caller=call.caller, topic=query.topic or "", interface=query.interface
    )
    if found is None:
        return {"style": None, "reason": None, "topic": ""}
    return {"style": found.style, "reason": found.fit, "topic": found.topic}


@delete("styles/{id}", tag="styles", answer=Styles, idempotent=True)
def remove_style(call: Call) -> tuple[style.Style, ...]:
    """Remove a communication style."""
    actions.remove_style(caller=call.caller, style_id=call.id)
    return queries.list_styles(caller=call.caller)
