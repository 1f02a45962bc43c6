"""A judged set: memories, queries, and which memory answers which query.

Two files of JSON lines, `memories.jsonl` and `queries.jsonl`. What is wrong is refused with file,
line and field, and nothing of the set is used. Converters write the same two files.

A memory: id, content, type; optional project, files, tags, session, event_at, valid_until,
superseded_by (id), contradicts (ids). A query: id, text, kind, relevant ({id: 1..3}, empty: nothing
answers); optional split, as_of, project, confusable (ids that look like an answer and are none).
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from memory.taxonomy import MemoryType

MEMORIES: Final = "memories.jsonl"
QUERIES: Final = "queries.jsonl"
PROJECT: Final = "judged"  # where memories stand that name no project
LARGEST_GRADE: Final = 3
MEMORY_FIELDS: Final = frozenset(
    {"id", "content", "type", "project", "files", "tags", "session", "event_at", "valid_until"}
    | {"superseded_by", "contradicts"}
)
QUERY_FIELDS: Final = frozenset(
    {"id", "text", "kind", "relevant", "split", "as_of", "project", "confusable"}
)

Named = TypeVar("Named", bound=StrEnum)


class Split(StrEnum):
    """The half on which anything may be fitted, and the half on which nothing is."""

    TRAIN = "train"
    HELD = "held"


class WrongSet(ValueError):
    """A set that cannot be used: where it is wrong, and what would be right."""

    def __init__(self, *, file: str, line: int, field: str, detail: str) -> None:
        super().__init__(f"{file}, line {line}, field {field!r}: {detail}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMemory:
    """One memory of a set; `superseded_by` and `contradicts` name others of the set."""

    id: str
    content: str
    type: MemoryType
    project: str
    files: tuple[str, ...]
    tags: tuple[str, ...]
    event_at: datetime | None
    valid_until: datetime | None
    superseded_by: str | None
    contradicts: tuple[str, ...]
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """One query of a set; no grades: nothing answers it."""

    id: str
    text: str
    kind: str
    grades: Mapping[str, int]
    split: Split
    as_of: datetime | None
    project: str | None
    confusable: tuple[str, ...]

    @property
    def answerable(self) -> bool:
        """Whether the set holds an answer."""
        return bool(self.grades)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    """Memories and queries that fit together; `digest` is the SHA-256 of both files."""

    name: str
    digest: str
    memories: tuple[JudgedMemory, ...]
    queries: tuple[JudgedQuery, ...]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs that an agent must not be given together: contradicting or superseded ones."""
        named = {
            (min(item.id, other), max(item.id, other))
            for item in self.memories
            for other in (*item.contradicts, *((item.superseded_by,) if item.superseded_by else ()))
        }
        return tuple(sorted(named))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One object of a file: typed reads that know where they stand."""

    file: str
    line: int
    fields: Any

    def of(self, fields: Any) -> "Record":
        """Return an object inside of this one."""
        return replace(self, fields=fields)

    def wrong(self, field: str, detail: str) -> WrongSet:
        """Return the refusal of a field."""
        return WrongSet(file=self.file, line=self.line, field=field, detail=detail)

    def value(self, field: str, kind: type) -> Any:
        """Return a field of this kind. Raises WrongSet."""
        found = self.fields.get(field) if isinstance(self.fields, dict) else None
        if not isinstance(found, kind):
            raise self.wrong(field, f"Entry {self.line} should have a {kind.__name__} here.")
        return found

    def string(self, field: str) -> str:
        """Return a text, which may be empty. Raises WrongSet."""
        return str(self.value(field, str))

    def text(self, field: str) -> str:
        """Return a text that is not empty. Raises WrongSet."""
        found = self.string(field)
        if not found.strip():
            raise self.wrong(field, "Give a text that is not empty.")
        return found

    def optional(self, field: str) -> str | None:
        """Return a text, None where the field is missing. Raises WrongSet."""
        return None if self.fields.get(field) is None else self.text(field)

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of texts, empty where the field is missing. Raises WrongSet."""
        value = self.fields.get(field, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(field, "Give a list of texts.")
        return tuple(value)

    def time(self, field: str) -> datetime | None:
        """Return a time with its zone, None where the field is missing. Raises WrongSet."""
        text = self.optional(field)
        if text is None:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError as error:
            raise self.wrong(field, "Give a time as 2026-03-01T00:00:00Z.") from error
        if found.tzinfo is None:
            raise self.wrong(field, "Name the time zone, as in 2026-03-01T00:00:00Z.")
        return found

    def choice(self, field: str, names: Callable[[str], Named]) -> Named:
        """Return one of some names. Raises WrongSet."""
        try:
            return names(self.text(field))
        except ValueError as error:
            raise self.wrong(field, f"{self.text(field)!r} is not known here.") from error

    def check_known(self, field: str, named: Iterable[str], ids: frozenset[str]) -> None:
        """Raise WrongSet for an id that no memory has."""
        unknown = next((item for item in named if item not in ids), None)
        if unknown is not None:
            raise self.wrong(field, f"No memory has the id {unknown!r}.")


def load(*, file: str, text: str, kind: type, line: int = 1) -> Any:
    """Return the JSON of a file or of one line of it. Raises WrongSet naming the line."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        detail = f"This is no JSON: {error.msg} in column {error.colno}."
        raise WrongSet(file=file, line=line + error.lineno - 1, field="", detail=detail) from error
    if not isinstance(found, kind):
        raise WrongSet(file=file, line=line, field="", detail=f"The file is one {kind.__name__}.")
    return found


def records(*, file: str, text: str) -> Iterator[Record]:
    """Yield the objects of a file of JSON lines; lines without anything are passed over."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            fields = load(file=file, text=line, kind=object, line=number)
            record = Record(file=file, line=number, fields=fields)
            if not isinstance(fields, dict):
                raise record.wrong("", "Each line is one object.")
            yield record


def parse(*, name: str, memories: str, queries: str) -> JudgedSet:
    """Make a set of the texts of its two files. Raises WrongSet naming file, line and field."""
    known = tuple(records(file=MEMORIES, text=memories))
    asked = tuple(records(file=QUERIES, text=queries))
    for file, lines, fields in ((MEMORIES, known, MEMORY_FIELDS), (QUERIES, asked, QUERY_FIELDS)):
        _check_lines(file, lines, fields)
    ids = frozenset(line.text("id") for line in known)
    splits = split_of(items=((line.text("id"), line.text("kind")) for line in asked))
    return JudgedSet(
        name=name,
        digest=hashlib.sha256(f"{memories}\0{queries}".encode()).hexdigest(),
        memories=tuple(_memory(line, ids) for line in known),
        queries=tuple(_query(line, ids, splits) for line in asked),
    )


def split_of(*, items: Iterable[tuple[str, str]]) -> dict[str, Split]:
    """Halve queries given as (id, kind): within each kind by the SHA-256 of the id, in turns."""
    by_kind: dict[str, list[str]] = {}
    for id, kind in items:
        by_kind.setdefault(kind, []).append(id)
    halves = (Split.HELD, Split.TRAIN)
    return {
        id: halves[position % 2]
        for ids in by_kind.values()
        for position, id in enumerate(sorted(ids, key=_digest))
    }


def merge_same(*, judged: JudgedSet, same: Mapping[str, str]) -> JudgedSet:
    """Rename ids whose text the store had already to the id it came under first."""
    queries = []
    for query in judged.queries:
        grades: dict[str, int] = {}
        for id, grade in query.grades.items():
            name = same.get(id, id)
            grades[name] = max(grade, grades.get(name, 0))
        queries.append(replace(query, grades=grades))
    return replace(judged, queries=tuple(queries))


def _digest(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()


def _check_lines(file: str, lines: tuple[Record, ...], known: frozenset[str]) -> None:
    """Raise WrongSet for a file without lines, an unknown field or an id given twice."""
    if not lines:
        raise WrongSet(file=file, line=1, field="id", detail="The file has no lines.")
    seen: set[str] = set()
    for line in lines:
        unknown = next((name for name in line.fields if name not in known), None)
        if unknown is not None:
            raise line.wrong(unknown, f"Use one of: {', '.join(sorted(known))}.")
        id = line.text("id")
        if id in seen:
            raise line.wrong("id", f"{id!r} stands on an earlier line already.")
        seen.add(id)


def _memory(line: Record, ids: frozenset[str]) -> JudgedMemory:
    successor, against = line.optional("superseded_by"), line.texts("contradicts")
    line.check_known("superseded_by", (successor,) if successor else (), ids)
    line.check_known("contradicts", against, ids)
    if line.text("id") in {successor, *against}:
        raise line.wrong("superseded_by or contradicts", "A memory does not stand against itself.")
    until = line.time("valid_until")
    if successor and until is None:
        raise line.wrong("valid_until", "Say until when a superseded memory was true.")
    return JudgedMemory(
        id=line.text("id"),
        content=line.text("content"),
        type=line.choice("type", MemoryType),
        project=line.optional("project") or PROJECT,
        files=line.texts("files"),
        tags=line.texts("tags"),
        event_at=line.time("event_at"),
        valid_until=until,
        superseded_by=successor,
        contradicts=against,
        session=line.optional("session"),
    )


def _query(line: Record, ids: frozenset[str], splits: Mapping[str, Split]) -> JudgedQuery:
    grades, confusable = line.fields.get("relevant"), line.texts("confusable")
    if not isinstance(grades, dict):
        raise line.wrong("relevant", 'Give an object such as {"m-001": 3}; {}: nothing answers.')
    for id, grade in grades.items():
        if type(grade) is not int or not 1 <= grade <= LARGEST_GRADE:
            raise line.wrong("relevant", f"The grade of {id!r} is a number from 1 to 3.")
    line.check_known("relevant", grades, ids)
    line.check_known("confusable", confusable, ids)
    both = sorted(set(confusable) & set(grades))
    if both:
        raise line.wrong("confusable", f"{both[0]!r} is said to answer as well.")
    return JudgedQuery(
        id=line.text("id"),
        text=line.text("text"),
        kind=line.text("kind"),
        grades=grades,
        split=line.choice("split", Split) if line.optional("split") else splits[line.text("id")],
        as_of=line.time("as_of"),
        project=line.optional("project"),
        confusable=confusable,
    )
