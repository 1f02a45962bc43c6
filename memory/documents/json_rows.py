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

from accounts.messages import message
from memory.customization import custom_type_rules
from memory.documents import file_formats
from memory.documents.file_formats import (
    TYPES,
    DocumentCandidate,
    DocumentReading,
    FileFormat,
    Unreadable,
)
from memory.taxonomy import LinkKind

TEXTS: Final = ("content", "memory", "text", "fact", "statement")  # names of a row's text, in order
LISTS: Final = ("memories", "results", "items", "data")  # names of the rows in a document
LOOKED_AT: Final = 50  # rows from which a format is told
LONGEST_ROW: Final = 1_000_000  # characters of one line
DEEPEST: Final = 32  # levels
KINDS: Final = frozenset(one.value for one in LinkKind)


def read_document(*, name: str, text: str) -> DocumentReading:
    """Read one JSON document: a list, or an object that holds one, or a single row."""
    value = _parse(text)
    rows = _rows_of(value)
    if rows is None:
        raise Unreadable(message("This JSON holds no list of memories."))
    format = FileFormat.OWN_JSON if _is_header(value) else _format_of(rows, FileFormat.JSON)
    return _reading(name, format, enumerate(rows, start=1), has_lines=False)


def read_lines(*, name: str, text: str) -> DocumentReading:
    """Read a JSON object a line."""
    rows = _parse_lines(text)
    head = list(islice(rows, LOOKED_AT))
    if head and _is_header(head[0][1]):
        return _reading(name, FileFormat.OWN_LINES, chain(head[1:], rows))
    format = _format_of([row for _, row in head], FileFormat.JSON_LINES)
    return _reading(name, format, chain(head, rows))


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
    """Return the candidate of a record of an export of ours. Raises Unreadable."""
    content = record.get("content")
    if not isinstance(content, str) or not isinstance(record.get("id"), str):
        fault = "it has no content or no id"
        raise Unreadable(message("The record is broken: {fault}.", fault=fault), line)
    linked = record.get(file_formats.LINKS)
    return DocumentCandidate(
        **_read_fields(record),
        content=content,
        file=name,
        line=line,
        source_uri=file_formats.text_of(record.get("source_uri"), 500),
        source_line=file_formats.line_of(record.get("source_line")),
        source_hash=file_formats.text_of(record.get("source_hash"), 64),
        commit_sha=file_formats.text_of(record.get("commit_sha"), 64),
        keys=(record["id"],),
        links=tuple(
            (kind, row["target"])
            for row in (linked if isinstance(linked, list) else ())
            if isinstance(row, dict)
            and (kind := file_formats.choice_of(row.get("kind"), KINDS)) is not None
            and isinstance(row.get("target"), str)
        ),
        record=record,
    )


def _parse(text: str) -> Any:
    """Return a JSON value. Raises Unreadable with the line of the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        detail = message("This is not JSON: {fault}.", fault=error.msg)
        raise Unreadable(detail, error.lineno) from error
    except (RecursionError, ValueError) as error:
        detail = message("This JSON is nested too deep or has too long numbers.")
        raise Unreadable(detail) from error


def _parse_lines(text: str) -> Iterator[tuple[int, Any]]:
    """Yield each line that is not empty, its number and its value, or why it has none."""
    for number, line in enumerate(StringIO(text, newline="\n"), start=1):
        if len(line) > LONGEST_ROW:
            detail = message("The line has {count} characters.", count=len(line))
            yield number, Unreadable(detail)
        elif line.strip():
            try:
                yield number, _parse(line)
            except Unreadable as error:
                yield number, error


def _rows_of(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    held: list[list[Any]] = [value[name] for name in LISTS if isinstance(value.get(name), list)]
    return next(iter(held), [value] if _text_of(value) else None)


def _is_header(value: Any) -> bool:
    """Say whether a JSON value begins an export of ours."""
    return isinstance(value, dict) and value.get("format") == file_formats.FORMAT


def _format_of(rows: list[Any], otherwise: FileFormat) -> FileFormat:
    objects = [row for row in rows[:LOOKED_AT] if isinstance(row, dict)]
    is_mem0 = bool(objects) and all(
        isinstance(row.get("memory"), str) and "content" not in row for row in objects
    )
    return FileFormat.MEM0 if is_mem0 else otherwise


def _reading(
    name: str, format: FileFormat, rows: Iterable[tuple[int, Any]], *, has_lines: bool = True
) -> DocumentReading:
    """Read rows; of a document that is no list of lines, candidates have none."""

    def read(number: int | None, row: Any) -> DocumentCandidate:
        if isinstance(row, Unreadable):
            raise row
        if not isinstance(row, dict):
            raise Unreadable(message("The row is no JSON object."))
        if _depth(row) > DEEPEST:
            raise Unreadable(message("Nest at most {most} levels.", most=DEEPEST))
        return _candidate(name, format, number if has_lines else None, row)

    return DocumentReading.of_rows(name=name, format=format, rows=rows, read=read)


def _candidate(
    name: str, format: FileFormat, line: int | None, row: dict[str, Any]
) -> DocumentCandidate:
    if format in {FileFormat.OWN_JSON, FileFormat.OWN_LINES}:
        return read_record(name=name, line=line, record=row)
    content = _text_of(row)
    if not content:
        raise Unreadable(message("The row has no text; it is looked for in {names}.", names=TEXTS))
    metadata = row.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    named = (row.get("tags"), row.get("categories"), about.get("tags"))
    tags = chain.from_iterable(map(file_formats.texts_of, named))
    fields = _read_fields({**about, **row})
    fields["tags"] = custom_type_rules.once(tags=dict.fromkeys(tags), most=64)
    said = file_formats.text_of(row.get("id"), 150) or _digest(content)
    source = format.value  # mem0's ids are its own everywhere, others begin anew in each file
    if format is not FileFormat.MEM0:
        source = f"{source}:{_digest(name)[:12]}"
    fields["external_id"] = fields["external_id"] or f"{source}:{said[:150]}"
    return DocumentCandidate(
        **fields,
        content=content,
        file=name,
        line=line,
        source_uri=file_formats.text_of(row.get("source_uri") or row.get("source"), 500)
        or name[:500],
        source_line=file_formats.line_of(row.get("source_line")),
        keys=(said,),
    )


def _read_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return those fields of a row that every format calls alike, as far as they are any good."""
    attributes = row.get("attributes")
    place = {name: file_formats.text_of(row.get(name), 200) for name in ("thread", "session")}
    happened = row.get("event_at") or row.get("event_time") or row.get("created_at")
    return {
        **place,
        "position": file_formats.line_of(row.get("position")) if any(place.values()) else None,
        "type": file_formats.choice_of(row.get("type"), TYPES),
        "external_id": file_formats.text_of(row.get("external_id"), 200),
        "tags": custom_type_rules.once(tags=file_formats.texts_of(row.get("tags"))),
        "related_files": file_formats.texts_of(row.get("related_files") or row.get("files")),
        "related_modules": file_formats.texts_of(row.get("related_modules") or row.get("modules")),
        "attributes": attributes if isinstance(attributes, dict) else {},
        "confidence": file_formats.share_of(row.get("confidence")),
        "pinned": row.get("pinned") is True,
        "event_at": file_formats.time_of(happened),
    }


def _text_of(row: Mapping[str, Any]) -> str:
    texts = (row.get(name) for name in TEXTS)
    return next((one for one in texts if isinstance(one, str) and one.strip()), "")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _depth(value: Any, level: int = 0) -> int:
    if level > DEEPEST or not isinstance(value, dict | list):
        return level
    inner = value.values() if isinstance(value, dict) else value
    return max((_depth(one, level + 1) for one in inner), default=level)
