"""Write memories as a file: what the caller may see and a filter lets through (spec 7.6, 8.3)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import TooLarge, wrong_field
from accounts.sentences import sentence
from memory.exchange import writing
from memory.exchange.writing import BUDGET_TOKENS, ExportFormat
from memory.queries import exports
from memory.retrieval import filters as language
from memory.retrieval.filters import Filters
from teams import audit
from teams.permissions import require
from teams.roles import Act

MOST: Final = 50_000  # memories of one file; more is for the command


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What is to be exported: a filter of the query box, its format, tokens of a CLAUDE.md."""

    project: str | None = None
    query: str = ""
    format: ExportFormat = ExportFormat.JSON
    budget_tokens: int = BUDGET_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A file: its name and type, its bytes, and how many memories were looked at."""

    name: str
    media: str
    data: bytes
    memories: int


def export(*, caller: Caller, request: ExportRequest, now: datetime) -> Exported:
    """Write a file and tell the audit log. Raises InvalidInput, NotFound, TooLarge."""
    require(caller=caller, act=Act.READ)
    filters = filters_of(request=request)
    found = exports.count(caller=caller, filters=filters)
    if found > MOST:
        raise TooLarge(
            detail=sentence("{count} memories pass the filters.", count=found),
            hint=sentence("Export at most {most} at once, or use export_memories.", most=MOST),
        )
    records = exports.records(caller=caller, filters=filters)
    data = writing.write(
        format=request.format, records=records, budget_tokens=request.budget_tokens
    )
    with tenancy.unit():
        audit.append(
            act="memory.exported",
            object_type="memory",
            object_id=request.project or caller.organization_slug,
            caller=caller,
            details={"memories": found, "format": request.format.value},
        )
    media, ending = writing.MEDIA[request.format]
    return Exported(name=_name(request, now, ending), media=media, data=data, memories=found)


def filters_of(*, request: ExportRequest) -> Filters:
    """Read the filter of an export. Raises InvalidInput for words, which rank and filter not."""
    filters = language.parse(text=request.query, project=request.project)
    if filters.text:
        raise wrong_field(
            pointer="/query",
            detail=sentence("“{words}” is no filter.", words=filters.text[:80]),
            hint="Filter by is:, type:, tag:, file:, module:, topic:, by: or conf:.",
            code="words",
        )
    return filters


def _name(request: ExportRequest, now: datetime, ending: str) -> str:
    if request.format is ExportFormat.CLAUDE:
        return "CLAUDE.md"
    place = "".join(one for one in request.project or "memories" if one.isalnum() or one in "-_")
    return f"{place[:64]}-{now:%Y-%m-%d}.{ending}"
