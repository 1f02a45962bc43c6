"""Methodologies over REST: those there are, and the organization's own."""

from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.shapes import Field, Free, Record, Several, Text
from accounts.caller import TokenScope
from memory.api import inputs
from memory.customization import custom_type_rules
from memory.customization.actions import (
    LONGEST_STAGE,
    Course,
    define_methodology,
    remove_methodology,
)
from memory.customization.methodology import LONGEST_NAME, MOST_PHASES, NAME, OnComplete, Transition
from memory.customization.phases import Phase
from memory.customization.queries import MethodologyView, list_methodologies, transition_to_body

EXAMPLE: Final[dict[str, Any]] = {
    "name": "kanban",
    "phases": {"ready": "define", "doing": "implement", "review": "validate"},
    "is_own": True,
    "relays": [{"from": "doing", "to": "review", "types": ["gotcha", "decision"]}],
    "on_complete": ["record_outcome"],
    "types": [{"name": "user-story", "base": "requirement", "says": "What a user needs, and why."}],
}
STAGE: Final = Text(largest=LONGEST_STAGE, smallest=1)
RELAY: Final = Record(
    name="Relay",
    fields=(
        Field(name="from", shape=STAGE, says="The stage that ends.", required=True),
        Field(name="to", shape=STAGE, says="The stage that begins.", required=True),
        Field(
            name="types",
            shape=Several(
                of=inputs.TYPE, largest=len(custom_type_rules.OURS) + custom_type_rules.MOST
            ),
            says="The types that pass on, its own ones too; all when left out.",
            default=(),
        ),
    ),
)
OWN_TYPE: Final = Record(
    name="OwnType",
    fields=(
        Field(
            name="name",
            shape=Text(largest=custom_type_rules.LONGEST, smallest=1, form=custom_type_rules.FORM),
            says="How memories of it are called: small letters, digits, hyphens, underscores.",
            required=True,
        ),
        Field(
            name="base",
            shape=Text(largest=24, choices=custom_type_rules.BASES),
            says="Which of our types it is: as that one it fades and is searched.",
            required=True,
        ),
        Field(
            name="says",
            shape=Text(largest=custom_type_rules.LONGEST_SAYS, smallest=1),
            says="One sentence for those who choose a type.",
            required=True,
        ),
    ),
)
PHASES: Final = {
    "minProperties": 1,
    "maxProperties": MOST_PHASES,
    "propertyNames": {"minLength": 1, "maxLength": LONGEST_NAME, "pattern": r"\S"},
    "additionalProperties": {"type": "string", "enum": [*Phase]},
}
METHODOLOGY: Final = Record(
    name="NewMethodology",
    fields=(
        Field(
            name="name",
            shape=Text(largest=40, smallest=1, form=NAME.pattern.replace(r"\Z", "")),
            says="How contexts name it: small letters, digits, hyphens, underscores.",
            required=True,
        ),
        Field(
            name="phases",
            shape=Free(form=PHASES),
            says="Which of our six phases each of its own is, by its name.",
            required=True,
        ),
        Field(
            name="relays",
            shape=Several(of=RELAY, largest=MOST_PHASES),
            says="What each stage passes on to the next; ours when left out.",
            default=(),
        ),
        Field(
            name="on_complete",
            shape=Several(of=Text(largest=20, choices=tuple(OnComplete)), largest=len(OnComplete)),
            says="What is remembered when a session with a unit of work ends; nothing as usual.",
            default=(),
        ),
        Field(
            name="types",
            shape=Several(of=OWN_TYPE, largest=custom_type_rules.MOST),
            says="Types of memories that it adds to ours.",
            default=(),
        ),
    ),
)


def index(ask: Ask) -> Answer:
    """Return the methodologies there are."""
    found = list_methodologies(caller=ask.caller)
    return Answer(body={"items": [_shown(view) for view in found]})


def define(ask: Ask) -> Answer:
    """Define a methodology of the organization's own."""
    relays = tuple(
        Transition(before=one["from"], after=one["to"], types=frozenset(one["types"]))
        for one in ask.body["relays"]
    )
    types = tuple(custom_type_rules.of_body(kept=one) for one in ask.body["types"])
    made = define_methodology(
        caller=ask.caller,
        name=ask.body["name"],
        phases=ask.body["phases"],
        course=Course(
            relays=relays,
            on_complete=tuple(map(OnComplete, ask.body["on_complete"])),
            types=types,
        ),
        now=ask.now,
    )
    return Answer(status=201, body=_shown(made))


def remove(ask: Ask) -> Answer:
    """Remove a methodology of the organization's own, and return those that remain."""
    remove_methodology(caller=ask.caller, name=ask.path["ref"])
    return index(ask)


def _shown(view: MethodologyView) -> dict[str, Any]:
    return {
        "name": view.name,
        "phases": dict(view.phases),
        "is_own": view.is_own,
        "relays": [transition_to_body(transition=one) for one in view.relays],
        "on_complete": list(view.on_complete),
        "types": [custom_type_rules.to_body(own=one) for one in view.types],
    }


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="methodologies",
        name="list_methodologies",
        tag="search",
        summary="List methodologies",
        says="Ours and the organization's own, with the phase each of their phases is.",
        scope=TokenScope.READ,
        run=index,
        replies=(
            Reply(
                status=200, says="By name.", schema="Methodologies", example={"items": [EXAMPLE]}
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="methodologies",
        name="define_methodology",
        tag="search",
        summary="Define a methodology",
        says="One of that name is defined anew; one of ours is covered by it.",
        scope=TokenScope.WRITE,
        run=define,
        body=METHODOLOGY,
        example={name: EXAMPLE[name] for name in EXAMPLE if name != "is_own"},
        idempotent=True,
        replies=(
            Reply(status=201, says="The methodology.", schema="Methodology", example=EXAMPLE),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="methodologies/{ref}",
        name="remove_methodology",
        tag="search",
        summary="Remove a methodology",
        scope=TokenScope.WRITE,
        run=remove,
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="Those that remain.",
                schema="Methodologies",
                example={"items": [EXAMPLE]},
            ),
        ),
    ),
)
