"""JSON and JSON lines: our own exports, mem0's pages and its export, and plain objects.

An object is taken that has its text under one of a few usual names. What a line has beyond the
known fields is left out. A row that is none is a fault with its line, and the rest goes on.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from itertools import chain, islice
from typing import Any, Final

from accounts.messages import Message, message
from memory.customization import custom_type_rules
from memory.documents.candidates import (
    MOST_CANDIDATES,
    CandidateLink,
    DocumentCandidate,
    DocumentReading,
    FileFault,
    FileFormat,
)
from memory.documents.formats import cairn
from memory.taxonomy import LinkKind, MemoryType

TEXTS: Final = ("content", "memory", "text", "fact", "statement")  # names of a row's text, in order
LISTS: Final = ("memories", "results", "items", "data")  # names of the rows in a document
LOOKED_AT: Final = 50  # rows from which a format is told
LONGEST_ROW: Final = 1_000_000  # characters of one line
DEEPEST: Final = 32  # levels
TYPES: Final = frozenset(one.value for one in MemoryType)
KINDS: Final = frozenset(one.value for one in LinkKind)
TOO_DEEP: Final = message("This JSON is nested too deep or has too long numbers.")


class _WrongRow(Exception):
    """A row that is no memory; the sentence says why."""

    def __init__(self, detail: Message | str) -> None:
        super().__init__(str(detail))
        self.detail = detail


def read_document(*, name: str, text: str) -> DocumentReading:
    """Read one JSON document: a list, or an object that holds one, or a single row."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        detail = message("This is not JSON: {fault}.", fault=error.msg)
        return DocumentReading.unreadable(name=name, line=error.lineno, detail=detail)
    except (RecursionError, ValueError):
        return DocumentReading.unreadable(name=name, detail=TOO_DEEP)
    rows = _rows_of(value)
    if rows is None:
        return DocumentReading.unreadable(name=name, detail="This JSON holds no list of memories.")
    return _reading(name, _format_of(value, rows), ((None, row) for row in rows))


def read_lines(*, name: str, text: str) -> DocumentReading:
    """Read a JSON object a line."""
    rows = _parse_lines(text)
    head = list(islice(rows, LOOKED_AT))
    if head and cairn.is_header(value=head[0][1]):
        return _reading(name, FileFormat.OWN_LINES, chain(head[1:], rows))
    format = _format_of(None, [row for _, row in head])
    kind = format if format is FileFormat.MEM0 else FileFormat.JSON_LINES
    return _reading(name, kind, chain(head, rows))


def looks_like_lines(*, text: str) -> bool:
    """Say whether a text is JSON lines and not one document: its first line is a whole object."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{"):
        return False
    try:
        is_whole = isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        is_open = first.rstrip().endswith(("[", ",", "{", ":"))  # a document over several lines
        return rest.lstrip().startswith("{") and not is_open
    return is_whole and bool(rest.strip())


def read_record(*, name: str, line: int | None, record: Mapping[str, Any]) -> DocumentCandidate:
    """Return the candidate of a record of an export of ours. Raises ValueError."""
    content = record.get("content")
    if not isinstance(content, str) or not isinstance(record.get("id"), str):
        raise ValueError("it has no content or no id")
    linked = record.get(cairn.LINKS)
    return DocumentCandidate(
        **_read_fields(record),
        content=content,
        file=name,
        line=line,
        source_uri=cairn.text_of(record.get("source_uri"), 500),
        source_line=cairn.line_of(record.get("source_line")),
        source_hash=cairn.text_of(record.get("source_hash"), 64),
        commit_sha=cairn.text_of(record.get("commit_sha"), 64),
        keys=(record["id"],),
        links=tuple(
            CandidateLink(kind=kind, target=row["target"])
            for row in (linked if isinstance(linked, list) else ())
            if isinstance(row, dict)
            and (kind := _choice(row.get("kind"), KINDS)) is not None
            and isinstance(row.get("target"), str)
        ),
        record=record,
    )


def _parse_lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(StringIO(text, newline="\n"), start=1):
        if not line.strip():
            continue
        if len(line) > LONGEST_ROW:
            detail = message("The line has {count} characters.", count=len(line))
            yield number, _WrongRow(detail)
            continue
        try:
            yield number, json.loads(line)
        except json.JSONDecodeError as error:
            yield number, _WrongRow(message("This is not JSON: {fault}.", fault=error.msg))
        except (RecursionError, ValueError):
            yield number, _WrongRow(TOO_DEEP)


def _rows_of(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    for name in LISTS:
        if isinstance(value.get(name), list):
            found: list[Any] = value[name]
            return found
    return [value] if _text_of(value) else None


def _format_of(value: Any, rows: list[Any]) -> FileFormat:
    if cairn.is_header(value=value):
        return FileFormat.OWN_JSON
    objects = [row for row in rows[:LOOKED_AT] if isinstance(row, dict)]
    is_mem0 = bool(objects) and all(
        isinstance(row.get("memory"), str) and "content" not in row for row in objects
    )
    return FileFormat.MEM0 if is_mem0 else FileFormat.JSON


def _reading(
    name: str, format: FileFormat, rows: Iterable[tuple[int | None, Any]]
) -> DocumentReading:
    found, faults = [], []
    for number, (line, row) in enumerate(rows, start=1):
        try:
            found.append(_candidate(name, format, line, row))
        except _WrongRow as error:
            place = line if line is not None else number
            faults.append(FileFault(file=name, line=place, detail=error.detail))
        if max(len(found), len(faults)) > MOST_CANDIDATES:
            break  # one more than is taken, so that it is reported
    return DocumentReading.of_file(
        name=name, format=format, candidates=tuple(found), faults=tuple(faults)
    )


def _candidate(name: str, format: FileFormat, line: int | None, row: Any) -> DocumentCandidate:
    if isinstance(row, _WrongRow):
        raise row
    if not isinstance(row, dict):
        raise _WrongRow(message("The row is no JSON object."))
    if _depth(row) > DEEPEST:
        raise _WrongRow(message("Nest at most {most} levels.", most=DEEPEST))
    if format in {FileFormat.OWN_JSON, FileFormat.OWN_LINES}:
        try:
            return read_record(name=name, line=line, record=row)
        except ValueError as error:
            raise _WrongRow(message("The record is broken: {fault}.", fault=str(error))) from error
    content = _text_of(row)
    if not content:
        raise _WrongRow(message("The row has no text; it is looked for in {names}.", names=TEXTS))
    metadata = row.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    tags = (*_texts(row.get("tags")), *_texts(row.get("categories")), *_texts(about.get("tags")))
    fields = _read_fields({**about, **row})
    fields["tags"] = custom_type_rules.once(tags=dict.fromkeys(tags), most=64)
    said = cairn.text_of(row.get("id"), 150) or _digest(content)
    source = format.value  # mem0's ids are its own everywhere, others begin anew in each file
    if format is not FileFormat.MEM0:
        source = f"{source}:{_digest(name)[:12]}"
    fields["external_id"] = fields["external_id"] or f"{source}:{said[:150]}"
    return DocumentCandidate(
        **fields,
        content=content,
        file=name,
        line=line,
        source_uri=cairn.text_of(row.get("source_uri") or row.get("source"), 500) or name[:500],
        source_line=cairn.line_of(row.get("source_line")),
        keys=(said,),
    )


def _read_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return those fields of a row that every format calls alike, as far as they are any good."""
    attributes = row.get("attributes")
    return {
        "type": _choice(row.get("type"), TYPES),
        "external_id": cairn.text_of(row.get("external_id"), 200),
        "tags": custom_type_rules.once(tags=_texts(row.get("tags"))),
        "related_files": _texts(row.get("related_files") or row.get("files")),
        "related_modules": _texts(row.get("related_modules") or row.get("modules")),
        "attributes": attributes if isinstance(attributes, dict) else {},
        "confidence": cairn.share_of(row.get("confidence")),
        "pinned": row.get("pinned") is True,
        "event_at": cairn.time_of(row.get("event_at") or row.get("created_at")),
    }


def _text_of(row: Mapping[str, Any]) -> str:
    texts = (row.get(name) for name in TEXTS)
    return next((one for one in texts if isinstance(one, str) and one.strip()), "")


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _choice(value: Any, known: frozenset[str]) -> str | None:
    return value if isinstance(value, str) and value in known else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _depth(value: Any, level: int = 0) -> int:
    if level > DEEPEST or not isinstance(value, dict | list):
        return level
    inner = value.values() if isinstance(value, dict) else value
    return max((_depth(one, level + 1) for one in inner), default=level)
