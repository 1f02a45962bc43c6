"""Write memories as a file: what the caller may see and a filter lets through.

The file is whole before its first byte is sent. So all of it is of one moment and read inside the
walls of its organization, a fault is reported instead of half a file, and however slowly somebody
takes it, no connection to the database waits. What is large lies on the disk, not in memory. Tried
and dropped: sending while reading, which keeps one of the few connections for as long as the
slowest reader takes.

JSON, JSON lines and a folder of Markdown lose nothing: what they hold can be restored as it was.
Markdown keeps the whole record in one line at the head of each note, beside what other tools read
there. CSV is for spreadsheets, CLAUDE.md for agents that read a file: a choice within a budget of
tokens.
"""

import csv
import heapq
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, cast

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import TooLarge, wrong_field
from accounts.messages import message
from memory.documents import file_formats, queries
from memory.records import filters as language
from memory.taxonomy import MemoryType, Status
from memory.text import tokens
from memory.text.text import read_tables
from teams import audit
from teams.permissions import Act, require

MOST: Final = 1_000_000  # memories of one file, some 2 GB on the disk; not measured
Record = Mapping[str, Any]
Writer = Callable[[Iterable[Record], int], Iterator[bytes]]
BUDGET_TOKENS: Final = 4_000  # of a CLAUDE.md, read at each start; default, not measured
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets compute
COLUMNS: Final = (
    "id", "type", "content", "tags", "related_files", "related_modules", "scope", "status",
    "confidence", "confirmations", "verification", "needs_review", "pinned", "governance",
    "importance", "event_at", "created_at", "updated_at", "valid_until", "source",
    "source_interface", "source_uri", "source_line", "author_agent", "external_id",
)  # fmt: skip
HEADINGS: Final = {  # of a CLAUDE.md, in their order
    MemoryType(name): heading
    for name, heading in read_tables(
        file=Path(__file__).parents[1] / "tables" / "headings.toml"
    ).items()
}
CLAUDE_FIELDS: Final = (  # what a CLAUDE.md takes of a record, and its rank
    "id", "type", "content", "related_files", "pinned", "governance", "importance", "confidence",
)  # fmt: skip
LONGEST_SLUG: Final = 60  # characters
KEPT_IN_MEMORY: Final = 1_048_576  # bytes of a file that is being written; more goes to the disk
ZIP_TIME: Final = (1980, 1, 1, 0, 0, 0)  # of every file in a zip, so that equal exports are equal
_UNSAFE: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
_SLUG: Final = re.compile(r"[^a-z0-9]+")
_UNNAMED: Final = re.compile(r"[^\w-]+")  # what no name of a file has


class ExportFormat(StrEnum):
    """What an export is written as."""

    JSON = "json"
    LINES = "ndjson"
    MARKDOWN = "markdown"
    CSV = "csv"
    CLAUDE = "claude"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What is to be exported: a filter of the query box, its format, tokens of a CLAUDE.md."""

    project: str | None = None
    query: str = ""
    format: ExportFormat = ExportFormat.JSON
    budget_tokens: int = BUDGET_TOKENS

    def name(self, *, day: date) -> str:
        """Return what the file is called, by its project and the day."""
        if self.format is ExportFormat.CLAUDE:
            return "CLAUDE.md"
        project = _UNNAMED.sub("", self.project or "memories")[:64]
        ending = "zip" if self.format is ExportFormat.MARKDOWN else self.format.value
        return f"{project}-{day:%Y-%m-%d}.{ending}"


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
    found = queries.count_exported(caller=caller, filters=filters)
    if found > MOST:
        raise TooLarge(
            detail=message("{count} memories pass the filters.", count=found),
            hint=message("Export at most {most} at once; filter by project or type.", most=MOST),
        )
    media, write = WRITERS[request.format]
    numbers = count()
    # the transaction in which they are read ends with this, also where the disk is full
    with (
        closing(queries.export_records(caller=caller, filters=filters)) as records,
        ExitStack() as opened,
    ):
        counted = (record for record, _ in zip(records, numbers, strict=False))
        file = opened.enter_context(SpooledTemporaryFile(max_size=KEPT_IN_MEMORY))
        for piece in write(counted, request.budget_tokens):
            file.write(piece)
        opened.pop_all()  # it is whole, and stays open
    file.seek(0)
    memories = next(numbers)
    with tenancy.unit():
        audit.append(
            "memory.exported",
            "memory",
            request.project or caller.organization_slug,
            caller=caller,
            details={"memories": memories, "format": request.format.value},
        )
    name, written = request.name(day=now.date()), cast(IO[bytes], file)
    return Exported(name=name, media=media, file=written, memories=memories)


def _write_json(records: Iterable[Record], _budget: int) -> Iterator[bytes]:
    """Yield one JSON document."""
    head = _json(file_formats.HEADER).removesuffix("}")
    yield f'{head}, "memories": [\n'.encode()
    for number, record in enumerate(records):
        yield f"{',' if number else ''}{_json(record)}\n".encode()
    yield b"]}\n"


def _write_lines(records: Iterable[Record], _budget: int) -> Iterator[bytes]:
    """Yield a line that says what this is, and a record a line."""
    yield f"{_json(file_formats.HEADER)}\n".encode()
    for record in records:
        yield f"{_json(record)}\n".encode()


def _write_folder(records: Iterable[Record], _budget: int) -> Iterator[bytes]:
    """Yield a zip with a note a memory, in a folder a type.

    A note has what other tools read at its head, the whole record in one line, and the text.
    """
    with SpooledTemporaryFile(max_size=KEPT_IN_MEMORY) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for record in records:
                slug = _SLUG.sub("-", str(record["citation"]).lower()).strip("-")[:LONGEST_SLUG]
                name = f"{record['type']}/{slug or 'memory'}-{record['id']}.md"
                info = zipfile.ZipInfo(name, ZIP_TIME)
                info.compress_type = zipfile.ZIP_DEFLATED
                content = str(record["content"])
                plain = _UNSAFE.sub(" ", content)
                kept = dict(record)
                if plain == content:  # else the record is where it is read from
                    del kept["content"]
                head = (
                    f"format: {file_formats.FORMAT}",
                    f"type: {record['type']}",
                    f"tags: {_json(list(record['tags']))}",
                    f"record: {_json(kept)}",
                )
                archive.writestr(info, "\n".join(("---", *head, "---", "", plain, "")))
        file.seek(0)
        yield from iter(lambda: file.read(KEPT_IN_MEMORY), b"")


def _write_csv(records: Iterable[Record], _budget: int) -> Iterator[bytes]:
    """Yield the fields that people look at, one memory a row; nothing in it is computed."""
    for record in chain((dict(zip(COLUMNS, COLUMNS, strict=True)),), records):
        cells = []
        for value in map(record.get, COLUMNS):
            cell = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            is_formula = isinstance(cell, str) and cell.startswith(FORMULA)
            cells.append(f"'{cell}" if is_formula else cell)
        stream = io.StringIO()
        csv.writer(stream).writerow(cells)
        yield stream.getvalue().encode()


def _most_important(records: Iterable[Record], most: int) -> list[Record]:
    """Return of active memories that need no review those that rank highest."""
    held = (
        {name: record[name] for name in CLAUDE_FIELDS}
        for record in records
        if record["status"] == Status.ACTIVE
        and record["stale_at"] is None
        and not (record["needs_review"] or record["taint_reason"])
        and MemoryType(record["type"]) in HEADINGS
    )

    def rank(record: Record) -> tuple[Any, ...]:
        weight = float(record["importance"]) * float(record["confidence"])
        return (not record["pinned"], record["governance"], -weight, record["id"])

    return heapq.nsmallest(most, held, key=rank)


def _write_claude_md(records: Iterable[Record], budget_tokens: int) -> Iterator[bytes]:
    """Write active memories by their type, the most important first, within a budget of tokens.

    Only as many of the highest are kept in mind as the budget has tokens: no more can be in it.
    """
    left = budget_tokens - tokens.count(text="# What this project knows")
    chosen: dict[MemoryType, list[str]] = {}
    for record in _most_important(records, budget_tokens):
        kind = MemoryType(record["type"])
        text = str(record["content"]).strip().replace("\n", "\n  ")
        files = [file for file in record["related_files"] if file not in text][:3]
        said = f"- {text}" + (f" ({', '.join(files)})" if files else "")
        heading = "" if kind in chosen else f"\n## {HEADINGS[kind]}\n"
        cost = tokens.count(text=f"{heading}{said}\n")
        if cost <= left:
            left -= cost
            chosen.setdefault(kind, []).append(said)
    parts = ["# What this project knows", ""]
    for kind, heading in HEADINGS.items():
        if kind in chosen:
            parts += [f"## {heading}", "", *chosen[kind], ""]
    yield "\n".join(parts).encode()


def _json(value: Any) -> str:
    """Write JSON in one line; what no text file should hold is written as its number."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# how a format is written: its media type, and what writes records within a budget of tokens, which
# only a CLAUDE.md has
WRITERS: Final[Mapping[ExportFormat, tuple[str, Writer]]] = {
    ExportFormat.JSON: ("application/json", _write_json),
    ExportFormat.LINES: ("application/x-ndjson", _write_lines),
    ExportFormat.MARKDOWN: ("application/zip", _write_folder),
    ExportFormat.CSV: ("text/csv; charset=utf-8", _write_csv),
    ExportFormat.CLAUDE: ("text/markdown; charset=utf-8", _write_claude_md),
}
