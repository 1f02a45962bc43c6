"""Methodologies over REST: those there are, and the organization's own (spec 3.1, 8.1)."""

from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.shapes import Field, Free, Record, Several, Text
from accounts.caller import TokenScope
from memory.actions import methodologies as actions
from memory.api import inputs
from memory.observer.completing import OnComplete
from memory.observer.injection.relays import Transition
from memory.queries import methodologies as queries
from memory.queries.methodologies import MethodologyView
from memory.retrieval.methodology import LONGEST_NAME, MOST_PHASES, NAME
from memory.retrieval.phases import Phase
from memory.taxonomy import MemoryType

EXAMPLE: Final[dict[str, Any]] = {
    "name": "kanban",
    "phases": {"ready": "define", "doing": "implement", "review": "validate"},
    "is_own": True,
    "relays": [{"from": "doing", "to": "review", "types": ["gotcha", "decision"]}],
    "on_complete": ["record_outcome"],
}
STAGE: Final = Text(largest=20, smallest=1)  # as a session's phase
RELAY: Final = Record(
    name="Relay",
    fields=(
        Field(name="from", shape=STAGE, says="The stage that ends.", required=True),
        Field(name="to", shape=STAGE, says="The stage that begins.", required=True),
        Field(
            name="types",
            shape=Several(of=inputs.TYPE, largest=len(MemoryType)),
            says="The types that pass on; all when left out.",
            default=(),
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
    ),
)


def index(ask: Ask) -> Answer:
    """Return the methodologies there are."""
    found = queries.known(caller=ask.caller)
    return Answer(body={"items": [_shown(view) for view in found]})


def define(ask: Ask) -> Answer:
    """Define a methodology of the organization's own."""
    relays = tuple(
        Transition(
            before=one["from"], after=one["to"], types=frozenset(map(MemoryType, one["types"]))
        )
        for one in ask.body["relays"]
    )
    made = actions.define(
        caller=ask.caller,
        name=ask.body["name"],
        phases=ask.body["phases"],
        course=actions.Course(
            relays=relays, on_complete=tuple(map(OnComplete, ask.body["on_complete"]))
        ),
        now=ask.now,
    )
    return Answer(status=201, body=_shown(made))


def remove(ask: Ask) -> Answer:
    """Remove a methodology of the organization's own, and return those that remain."""
    actions.remove(caller=ask.caller, name=ask.path["ref"])
    return index(ask)


def _shown(view: MethodologyView) -> dict[str, Any]:
    return {
        "name": view.name,
        "phases": dict(view.phases),
        "is_own": view.is_own,
        "relays": [queries.to_body(transition=one) for one in view.relays],
        "on_complete": list(view.on_complete),
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
        example={name: EXAMPLE[name] for name in ("name", "phases", "relays", "on_complete")},
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
