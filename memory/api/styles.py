"""Communication styles over REST: those there are, and the one that fits."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, TEXT, TRUTH, maybe, record, ref, several
from accounts.api.shapes import Field, Record, Several, Text, Truth
from accounts.caller import TokenScope
from memory.customization.actions import put_style, remove_style
from memory.customization.queries import choose_style, list_styles
from memory.customization.style import (
    INTERFACES,
    LONGEST_TEXT,
    LONGEST_TOPIC,
    MOST_TOPICS,
    NAME,
    SCOPES,
    Composed,
    Fit,
    NewStyle,
    Style,
)
from memory.search.context import Styled

LONGEST_SAID: Final = 1_000  # characters of what a session is about, ours
_TOOL: Final = Text(largest=20, choices=INTERFACES)
STYLE: Final = Record(
    name="NewStyle",
    fields=(
        Field(
            name="name",
            shape=Text(largest=40, smallest=1, form=NAME.pattern.replace(r"\Z", "")),
            says="Its name: small letters, digits, hyphens, underscores.",
            required=True,
        ),
        Field(
            name="text",
            shape=Text(largest=LONGEST_TEXT, smallest=1),
            says="How answers should read.",
            required=True,
        ),
        Field(
            name="scope",
            shape=Text(largest=12, choices=SCOPES),
            says="Whose it is: the organization's, or a person's own, which nobody else sees.",
            default=SCOPES[0].value,
        ),
        Field(
            name="topics",
            shape=Several(of=Text(largest=LONGEST_TOPIC, smallest=1), largest=MOST_TOPICS),
            says="What sessions are about that it is for, such as `coding` or `quick notes`.",
            default=(),
        ),
        Field(
            name="interfaces",
            shape=Several(of=_TOOL, largest=len(INTERFACES)),
            says="The tools that it is for; none named: any.",
            default=(),
        ),
        Field(
            name="is_default",
            shape=Truth(),
            says="Whether it is used where no other fits; there is one for everybody at most.",
            default=False,
        ),
    ),
)
SESSION: Final = (
    Field(
        name="topic",
        shape=Text(largest=LONGEST_SAID, smallest=1),
        says="What the session is about, in a few words or a sentence.",
    ),
    Field(name="interface", shape=_TOOL, says="The tool it is in; your own when left out."),
)
_STYLE: Final = record(
    id=ID,
    name=TEXT,
    scope={"type": "string", "enum": list(SCOPES)},
    text=TEXT,
    topics=several(TEXT),
    interfaces=several(TEXT),
    is_default=TRUTH,
)
PICKED: Final = record(  # in a context
    id=ID, name=TEXT, reason={"type": "string", "enum": list(Fit)}, topic=TEXT, told=TRUTH
)
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Style": _STYLE,
    "Styles": record(items=several(ref("Style"))),
    "ComposedStyle": record(
        style=maybe(ref("Style")),
        reason=maybe({"type": "string", "enum": list(Fit)}),
        topic=TEXT,
    ),
}
_EXAMPLE: Final[Mapping[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a95",
    "name": "coding",
    "scope": "organization",
    "text": "Answer in short sentences, code first, and name the file of each claim.",
    "topics": ["coding", "code review"],
    "interfaces": ["claude-code"],
    "is_default": False,
}


def index(ask: Ask) -> Answer:
    """Return the styles there are."""
    return Answer(body={"items": [_shown(style) for style in list_styles(caller=ask.caller)]})


def put(ask: Ask) -> Answer:
    """Define a style, or define it anew."""
    made = put_style(caller=ask.caller, new=NewStyle(**ask.body), now=ask.now)
    return Answer(body=_shown(made))


def compose(ask: Ask) -> Answer:
    """Return the style that fits a session."""
    found = choose_style(
        caller=ask.caller, topic=ask.query["topic"] or "", interface=ask.query["interface"]
    )
    return Answer(body=_composed(found))


def remove(ask: Ask) -> Answer:
    """Remove a style, and return those that remain."""
    remove_style(caller=ask.caller, style_id=path_id(ask=ask))
    return index(ask)


def picked(found: Styled) -> dict[str, Any]:
    """Return the style that a context begins with, or only names where it would take too much."""
    composed = found.composed
    return {
        "id": composed.style.id,
        "name": composed.style.name,
        "reason": composed.fit,
        "topic": composed.topic,
        "told": bool(found.text),
    }


def _composed(found: Composed | None) -> dict[str, Any]:
    if found is None:
        return {"style": None, "reason": None, "topic": ""}
    return {"style": _shown(found.style), "reason": found.fit, "topic": found.topic}


def _shown(style: Style) -> dict[str, Any]:
    return {name: getattr(style, name) for name in _EXAMPLE}


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="styles",
        name="list_styles",
        tag="styles",
        summary="List communication styles",
        says="The organization's, and your own.",
        scope=TokenScope.READ,
        run=index,
        replies=(
            Reply(status=200, says="By name.", schema="Styles", example={"items": [_EXAMPLE]}),
        ),
    ),
    Endpoint(
        method="PUT",
        path="styles",
        name="put_style",
        tag="styles",
        summary="Define a communication style",
        says=(
            "One of that name is defined anew. Owners and admins define the organization's, people "
            "their own. A new default takes the place of the one before."
        ),
        scope=TokenScope.WRITE,
        run=put,
        body=STYLE,
        example={name: value for name, value in _EXAMPLE.items() if name != "id"},
        replies=(Reply(status=200, says="The style.", schema="Style", example=_EXAMPLE),),
    ),
    Endpoint(
        method="GET",
        path="styles/composed",
        name="compose_style",
        tag="styles",
        summary="Find the style that fits a session",
        says=(
            "By topic and tool, the same for the same session: the style whose contexts fit, else "
            "the default. A topic tells more than a tool, your own style comes before the "
            "organization's, and `reason` says which it was."
        ),
        scope=TokenScope.READ,
        run=compose,
        query=SESSION,
        replies=(
            Reply(
                status=200,
                says="The style; null where none fits.",
                schema="ComposedStyle",
                example={"style": _EXAMPLE, "reason": "topic", "topic": "coding"},
            ),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="styles/{id}",
        name="remove_style",
        tag="styles",
        summary="Remove a communication style",
        scope=TokenScope.WRITE,
        run=remove,
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="Those that remain.",
                schema="Styles",
                example={"items": [_EXAMPLE]},
            ),
        ),
    ),
)
