"""Exports over REST: a file of what the caller may see and a filter lets through."""

from typing import Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.shapes import Field, Record, Text, Whole
from accounts.caller import TokenScope
from memory.api import inputs
from memory.documents.actions.export import ExportRequest, export
from memory.documents.writing import BUDGET_TOKENS, WRITERS, ExportFormat
from memory.search.context import LARGEST_BUDGET

EXPORT: Final = Record(
    name="ExportRequest",
    fields=(
        inputs.PROJECT,
        Field(
            name="format",
            shape=Text(largest=10, choices=tuple(ExportFormat)),
            says="json, ndjson and markdown lose nothing; csv and claude are for reading.",
            default=ExportFormat.JSON.value,
        ),
        Field(
            name="query",
            shape=Text(largest=1_000),
            says="Filters of the query box, is:any for all; what is active when left out.",
            default="",
        ),
        Field(
            name="budget_tokens",
            shape=Whole(smallest=100, largest=LARGEST_BUDGET),
            says="Tokens a CLAUDE.md may take.",
            default=BUDGET_TOKENS,
        ),
    ),
)


def create(ask: Ask) -> Answer:
    """Return a file of memories."""
    given = {**ask.body, "format": ExportFormat(ask.body["format"])}
    made = export(caller=ask.caller, request=ExportRequest(**given), now=ask.now)
    return Answer(body=made.file, filename=made.name, media=made.media)


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="exports",
        name="export_memories",
        tag="imports",
        summary="Export memories",
        says=(
            "A file of what you may see and the filters let through, with versions, links, "
            "provenance and times. What an import of it brings back is the same. An organization "
            "writes three at once; 429 says when to ask again."
        ),
        scope=TokenScope.READ,
        run=create,
        body=EXPORT,
        example={"project": "shop", "format": "ndjson", "query": "is:any"},
        replies=(
            Reply(
                status=200,
                says="The file.",
                media=tuple(dict.fromkeys(one.media.partition(";")[0] for one in WRITERS.values())),
            ),
        ),
    ),
)
