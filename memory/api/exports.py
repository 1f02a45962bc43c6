"""Exports over REST: a file of what the caller may see and a filter lets through."""

from pydantic import Field

from accounts.api.endpoints import Answer, Call, post
from accounts.api.schemas import Body, Choice
from accounts.caller import TokenScope
from memory.api.schemas.memories import Slug
from memory.documents.actions import export
from memory.documents.writing import BUDGET_TOKENS, WRITERS, ExportFormat
from memory.search.context import LARGEST_BUDGET


class ExportRequest(Body):
    """What a file is to hold."""

    project: Slug | None = Field(None, description="A project's slug or id.", examples=["shop"])
    format: Choice[ExportFormat] = Field(
        ExportFormat.JSON,
        description="json, ndjson and markdown lose nothing; csv and claude are for reading.",
        examples=["ndjson"],
    )
    query: str = Field(
        "",
        max_length=1_000,
        description="Filters of the query box, is:any for all; what is active when left out.",
        examples=["is:any"],
    )
    budget_tokens: int = Field(
        BUDGET_TOKENS, ge=100, le=LARGEST_BUDGET, description="Tokens a CLAUDE.md may take."
    )


@post(
    "exports",
    tag="imports",
    scope=TokenScope.READ,
    media=tuple(dict.fromkeys(one.media.partition(";")[0] for one in WRITERS.values())),
    idempotent=False,
)
def export_memories(call: Call, body: ExportRequest) -> Answer:
    """Export memories.

    A file of what you may see and the filters let through, with versions, links, provenance and
    times. What an import of it brings back is the same. An organization writes three at once; 429
    says when to ask again.
    """
    request = export.ExportRequest(**dict(body))
    made = export.export(caller=call.caller, request=request, now=call.now)
    return Answer(made.file, filename=made.name, media=made.media)
