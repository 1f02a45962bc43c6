"""Communication styles over REST: those there are, and the one that fits."""

from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Call, delete, get, put
from accounts.api.schemas import Body, Items, Name, OneOf, Query, Result, Several
from memory.customization import actions, queries
from memory.customization.style import (
    INTERFACES,
    LONGEST_TEXT,
    LONGEST_TOPIC,
    MOST_TOPICS,
    NAME,
    SCOPES,
    Fit,
)
from memory.customization.style import NewStyle as StyleValue
from memory.customization.style import Style as StyleView

LONGEST_SAID: Final = 1_000  # characters of what a session is about; a default
Tool = Annotated[str, OneOf(INTERFACES)]
StyleScope = Annotated[str, OneOf(SCOPES)]


class NewStyle(Body):
    """A style to define."""

    name: Name = Field(
        max_length=40,
        description="Its name: small letters, digits, hyphens, underscores.",
        examples=["coding"],
        json_schema_extra={"pattern": "^" + NAME.pattern.replace(r"\Z", "") + "$"},
    )
    text: Name = Field(
        max_length=LONGEST_TEXT,
        description="How answers should read.",
        examples=["Answer in short sentences, code first, and name the file of each claim."],
    )
    scope: StyleScope = Field(
        SCOPES[0].value,
        description="Whose it is: the organization's, or a person's own, which nobody else sees.",
    )
    topics: Several[Annotated[Name, Field(max_length=LONGEST_TOPIC)]] = Field(
        (),
        max_length=MOST_TOPICS,
        description="What sessions are about that it is for, such as `coding` or `quick notes`.",
        examples=[["coding", "code review"]],
    )
    interfaces: Several[Tool] = Field(
        (),
        max_length=len(INTERFACES),
        description="The tools that it is for; none named: any.",
        examples=[["claude-code"]],
    )
    is_default: bool = Field(
        False,
        description="Whether it is used where no other fits; there is one for everybody at most.",
    )


class StyleQuery(Query):
    """Which session a style is asked for."""

    topic: Name | None = Field(
        None,
        max_length=LONGEST_SAID,
        description="What the session is about, in a few words or a sentence.",
    )
    interface: Tool | None = Field(None, description="The tool it is in; your own when left out.")


class Style(Result):
    """The style."""

    id: UUID
    name: str
    scope: StyleScope
    text: str
    topics: tuple[str, ...]
    interfaces: tuple[str, ...]
    is_default: bool


class Styles(Items[Style]):
    """By name."""


class ComposedStyle(Result):
    """The style; null where none fits."""

    style: Style | None
    reason: Fit | None
    topic: str


@get("styles", tag="styles", answer=Styles)
def list_styles(call: Call) -> tuple[StyleView, ...]:
    """List communication styles.

    The organization's, and your own.
    """
    return queries.list_styles(caller=call.caller)


@put("styles", tag="styles", answer=Style)
def put_style(call: Call, body: NewStyle) -> StyleView:
    """Define a communication style.

    One of that name is defined anew. Owners and admins define the organization's, people their own.
    A new default takes the place of the one before.
    """
    return actions.put_style(caller=call.caller, new=StyleValue(**dict(body)), now=call.now)


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
def remove_style(call: Call) -> tuple[StyleView, ...]:
    """Remove a communication style."""
    actions.remove_style(caller=call.caller, style_id=call.id)
    return queries.list_styles(caller=call.caller)
