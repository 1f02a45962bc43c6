"""Links between memories over REST: those of a memory, and taking one back."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, NUMBER, TEXT, TRUTH, record, several
from accounts.api.shapes import Field, Identifier, Record, Text, Truth
from accounts.caller import TokenScope
from memory.api import examples, output
from memory.records.queries import memories
from memory.records.queries.memories import LinkView
from memory.review.actions.unlink import Edge, unlink
from memory.taxonomy import LinkKind

_KIND: Final = {"type": "string", "enum": list(LinkKind)}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Links": record(
        items=several(
            record(
                other=ID,
                kind=_KIND,
                outgoing=TRUTH,
                citation=TEXT,
                type=TEXT,
                confidence=NUMBER,
                automatic=TRUTH,
                description=TEXT,
                may_end=TRUTH,
            )
        )
    ),
}
EDGE: Final = Record(
    name="Edge",
    fields=(
        Field(name="other", shape=Identifier(), says="The memory at its other end.", required=True),
        Field(
            name="kind",
            shape=Text(largest=20, choices=tuple(LinkKind)),
            says="As the list of links says.",
            required=True,
        ),
        Field(
            name="outgoing",
            shape=Truth(),
            says="Whether it leads from this memory to the other one.",
            default=True,
        ),
    ),
)
_EXAMPLE: Final = {
    "other": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79",
    "kind": "extend",
    "outgoing": True,
    "citation": "The cart caches prices.",
    "type": "fact",
    "confidence": 0.8,
    "automatic": True,
    "description": "It adds the number of seconds.",
    "may_end": True,
}
_DECIDED: Final = {
    "review_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a80",
    "verdict": "unlink",
    "memory": examples.MEMORY,
}


def index(ask: Ask) -> Answer:
    """Return the links of a memory whose other end the caller sees."""
    found = memories.links(caller=ask.caller, memory_id=path_id(ask=ask))
    return Answer(body={"items": [_shown(one) for one in found]})


def take_back(ask: Ask) -> Answer:
    """Take a link away."""
    edge = Edge(
        other_id=ask.body["other"],
        kind=LinkKind(ask.body["kind"]),
        outgoing=ask.body["outgoing"],
    )
    done = unlink(caller=ask.caller, memory_id=path_id(ask=ask), edge=edge, now=ask.now)
    body = {
        "review_id": done.review_id,
        "verdict": done.verdict,
        "memory": output.memory(done.memory),
    }
    return Answer(body=body, version=done.memory.version)


def _shown(link: LinkView) -> dict[str, Any]:
    same = ("kind", "outgoing", "citation", "type", "confidence", "automatic", "description")
    told = {name: getattr(link, name) for name in same}
    return {"other": link.other_id, **told, "may_end": link.may_end}


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="memories/{id}/links",
        name="list_links",
        tag="memories",
        summary="List what a memory hangs together with",
        says="Links whose other end you see. `automatic`: a rule or a model found it.",
        scope=TokenScope.READ,
        run=index,
        replies=(
            Reply(
                status=200,
                says="Its links; `may_end`: it can be taken back.",
                schema="Links",
                example={"items": [_EXAMPLE]},
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="memories/{id}/unlink",
        name="unlink_memory",
        tag="memories",
        summary="Take a link between two memories back",
        says=(
            "Neither memory changes; `POST reviews/{id}/undo` puts it back as it was. What "
            "supersedes or contradicts ends by settling the conflict, or by undoing the correction."
        ),
        scope=TokenScope.WRITE,
        run=take_back,
        body=EDGE,
        example={"other": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79", "kind": "extend"},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="The verdict, and the memory as it is.",
                schema="Decided",
                example=_DECIDED,
            ),
        ),
    ),
)
