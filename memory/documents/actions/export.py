"""Write memories as a file: what the caller may see and a filter lets through.

The file is whole before its first byte is sent. So all of it is of one moment and read inside the
walls of its organization, a fault is reported instead of half a file, and however slowly somebody
takes it, no connection to the database waits. What is large lies on the disk, not in memory. Tried
and dropped: sending while reading, which keeps one of the few connections for as long as the
slowest reader takes.
"""

from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from tempfile import SpooledTemporaryFile
from typing import IO, Final, cast

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import TooLarge, wrong_field
from accounts.messages import message
from memory.documents.queries import exports
from memory.documents.writing import BUDGET_TOKENS, KEPT_IN_MEMORY, WRITERS, ExportFormat
from memory.records import filters as language
from teams import audit
from teams.permissions import Act, require

MOST: Final = 1_000_000  # memories of one file, some 2 GB on the disk; not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What is to be exported: a filter of the query box, its format, tokens of a CLAUDE.md."""

    project: str | None = None
    query: str = ""
    format: ExportFormat = ExportFormat.JSON
    budget_tokens: int = BUDGET_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A file: its name and type, its bytes from the first on, and how many memories were read."""

    name: str
    media: str
    file: IO[bytes]
    memories: int


def export(*, caller: Caller, request: ExportRequest, now: datetime) -> Exported:
    """Write a file and record it in the audit log.

    The file is gone when it is closed. Raises InvalidInput for words, which rank and filter not,
    NotFound, TooLarge, and RateLimited where the organization writes as many as it may at once.
    """
    require(caller=caller, act=Act.READ)
    filters = language.parse(text=request.query, project=request.project)
    if filters.text:
        raise wrong_field(
            pointer="/query",
            detail=message("“{words}” is no filter.", words=filters.text[:80]),
            hint="Filter by is:, type:, tag:, file:, module:, topic:, by: or conf:.",
            code="words",
        )
    found = exports.count(caller=caller, filters=filters)
    if found > MOST:
        raise TooLarge(
            detail=message("{count} memories pass the filters.", count=found),
            hint=message("Export at most {most} at once; filter by project or type.", most=MOST),
        )
    writer = WRITERS[request.format]
    numbers = count()
    # the transaction in which they are read ends with this, also where the disk is full
    with closing(exports.records(caller=caller, filters=filters)) as records, ExitStack() as opened:
        counted = (record for record, _ in zip(records, numbers, strict=False))
        file = opened.enter_context(SpooledTemporaryFile(max_size=KEPT_IN_MEMORY))
        for piece in writer.write(counted, request.budget_tokens):
            file.write(piece)
        opened.pop_all()  # it is whole, and stays open
    file.seek(0)
    memories = next(numbers)
    with tenancy.unit():
        audit.append(
            act="memory.exported",
            object_type="memory",
            object_id=request.project or caller.organization_slug,
            caller=caller,
            details={"memories": memories, "format": request.format.value},
        )
    name = "CLAUDE.md"
    if request.format is not ExportFormat.CLAUDE:
        scope = "".join(
            one for one in request.project or "memories" if one.isalnum() or one in "-_"
        )
        name = f"{scope[:64]}-{now:%Y-%m-%d}.{writer.ending}"
    return Exported(name=name, media=writer.media, file=cast(IO[bytes], file), memories=memories)
