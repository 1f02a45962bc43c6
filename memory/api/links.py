"""Links between memories over REST."""

from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Answer, Call, get, post
from accounts.api.schemas import (
    Body,
    Choice,
    Identifier,
    Items,
    Result,
)
from memory.api.schemas.memories import Decided
from memory.records.queries import memories
from memory.records.queries.memories import LinkView
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.taxonomy import LinkKind


class LinkEnd(Body):
    """A link of a memory."""

    other: Identifier = Field(
        description="The memory at its other end.",
        examples=["01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79"],
    )
    kind: Choice[LinkKind] = Field(description="As the list of links says.", examples=["extend"])
    outgoing: bool = Field(True, description="Whether it leads from this memory to the other one.")


class Link(Result):
    """A link of a memory; `automatic`: a rule or a model found it."""

    other: UUID = Field(validation_alias="other_id")
    kind: LinkKind
    outgoing: bool
    citation: str
    type: str
    confidence: float
    automatic: bool
    description: str
    may_end: bool


class Links(Items[Link]):
    """Its links; `may_end`: it can be taken back."""


@get("memories/{id}/links", tag="memories", answer=Links)
def list_links(call: Call) -> tuple[LinkView, ...]:
    """List what a memory hangs together with.

    Links whose other end you see. `automatic`: a rule or a model found it.
    """
    return memories.links(caller=call.caller, memory_id=call.id)


@post("memories/{id}/unlink", tag="memories", answer=Decided)
def unlink_memory(call: Call, body: LinkEnd) -> Answer:
    """Take a link between two memories back.

    Neither memory changes; `POST reviews/{id}/undo` puts it back as it was. What supersedes or
    contradicts ends by settling the conflict, or by undoing the correction.
    """
    edge = MemoryEdge(other_id=body.other, kind=body.kind, outgoing=body.outgoing)
    done = unlink(caller=call.caller, memory_id=call.id, edge=edge, now=call.now)
    return Answer(done, version=done.memory.version)
