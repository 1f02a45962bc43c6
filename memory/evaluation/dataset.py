"""A judged set: memories, queries, and which memory answers which query.

Two files of JSON lines, `memories.jsonl` and `queries.jsonl`. What is wrong is refused with file,
line and field, and nothing of the set is used. In the flow: the command reads the files, `parse`
makes a set of them, `memory.evaluation.actions.evaluate` asks it. Converters write the same two
files.

A memory: id, content, type; optional project, files, tags, session, event_at, valid_until,
superseded_by (id), contradicts (ids). A query: id, text, kind, relevant ({id: 1..3}, empty: nothing
answers); optional split, as_of, project, confusable (ids that look like an answer and are none).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from memory.taxonomy import MemoryType

MEMORIES: Final = "memories.jsonl"
QUERIES: Final = "queries.jsonl"
PROJECT: Final = "judged"  # where memories stand that name no project
LARGEST_GRADE: Final = 3

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
            tuple(sorted((item.id, other)))
            for item in self.memories
            for other in (*item.contradicts, *((item.superseded_by,) if item.superseded_by else ()))
        }
        return tuple(sorted((first, second) for first, second in named))


def parse(*, name: str, memories: str, queries: str) -> JudgedSet:
    """Make a set of the texts of its two files. Raises WrongSet naming file, line and field."""
    known = tuple(_Line.each(MEMORIES, memories))
    asked = tuple(_Line.each(QUERIES, queries))
    ids = _once(known)
    _once(asked)
    splits = split_of(items=((line.text("id"), line.text("kind")) for line in asked))
    whole = JudgedSet(
        name=name,
        digest=hashlib.sha256(f"{memories}\0{queries}".encode()).hexdigest(),
        memories=tuple(_memory(line, ids) for line in known),
        queries=tuple(_query(line, ids, splits) for line in asked),
    )
    for file, rows in ((MEMORIES, whole.memories), (QUERIES, whole.queries)):
        if not rows:
            raise WrongSet(file=file, line=1, field="id", detail="The file has no lines.")
    return whole


def split_of(*, items: Iterable[tuple[str, str]]) -> dict[str, Split]:
    """Halve queries given as (id, kind): within each kind by the SHA-256 of the id, in turns."""
    by_kind: dict[str, list[str]] = {}
    for id, kind in items:
        by_kind.setdefault(kind, []).append(id)
    halves = (Split.HELD, Split.TRAIN)
    return {
        id: halves[position % 2]
        for ids in by_kind.values()
        for position, id in enumerate(sorted(ids, key=_hash))
    }


def merged(*, judged: JudgedSet, same: Mapping[str, str]) -> JudgedSet:
    """Rename ids whose text the store had already to the id it came under first."""
    if not same:
        return judged
    queries = tuple(
        replace(query, grades=_merged_grades(query.grades, same)) for query in judged.queries
    )
    return replace(judged, queries=queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line of a file: typed reads that know where they stand."""

    file: str
    number: int
    fields: Mapping[str, Any]

    @classmethod
    def each(cls, file: str, text: str) -> "Iterable[_Line]":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield cls(file=file, number=number, fields=_object(file, number, line))

    def wrong(self, field: str, detail: str) -> WrongSet:
        return WrongSet(file=self.file, line=self.number, field=field, detail=detail)

    def text(self, field: str) -> str:
        value = self.fields.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(field, "Give a text that is not empty.")
        return value

    def optional(self, field: str) -> str | None:
        return None if self.fields.get(field) is None else self.text(field)

    def texts(self, field: str) -> tuple[str, ...]:
        value = self.fields.get(field, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(field, "Give a list of texts.")
        return tuple(value)

    def moment(self, field: str) -> datetime | None:
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

    def check_known(self, field: str, named: Iterable[str], ids: frozenset[str]) -> None:
        unknown = next((item for item in named if item not in ids), None)
        if unknown is not None:
            raise self.wrong(field, f"No memory has the id {unknown!r}.")

    def check_fields(self, known: frozenset[str]) -> None:
        unknown = next((name for name in self.fields if name not in known), None)
        if unknown is not None:
            raise self.wrong(unknown, f"Use one of: {', '.join(sorted(known))}.")


_MEMORY_FIELDS: Final = frozenset(
    {"id", "content", "type", "project", "files", "tags", "event_at", "valid_until"}
    | {"superseded_by", "contradicts", "session"}
)
_QUERY_FIELDS: Final = frozenset(
    {"id", "text", "kind", "relevant", "split", "as_of", "project", "confusable"}
)


def _object(file: str, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        detail = f"This is no JSON: {error.msg} in column {error.colno}."
        raise WrongSet(file=file, line=number, field="", detail=detail) from error
    if not isinstance(found, dict):
        raise WrongSet(file=file, line=number, field="", detail="Each line is one object.")
    return found


def _once(lines: tuple[_Line, ...]) -> frozenset[str]:
    seen = Counter[str]()
    for line in lines:
        seen[line.text("id")] += 1
        if seen[line.text("id")] > 1:
            raise line.wrong("id", f"{line.text('id')!r} stands on an earlier line already.")
    return frozenset(seen)


def _memory(line: _Line, ids: frozenset[str]) -> JudgedMemory:
    line.check_fields(_MEMORY_FIELDS)
    successor, against = line.optional("superseded_by"), line.texts("contradicts")
    line.check_known("superseded_by", (successor,) if successor else (), ids)
    line.check_known("contradicts", against, ids)
    if line.text("id") in {successor, *against}:
        raise line.wrong("superseded_by or contradicts", "A memory does not stand against itself.")
    until = line.moment("valid_until")
    if successor and until is None:
        raise line.wrong("valid_until", "Say until when a superseded memory was true.")
    return JudgedMemory(
        id=line.text("id"),
        content=line.text("content"),
        type=_choice(line, "type", MemoryType),
        project=line.optional("project") or PROJECT,
        files=line.texts("files"),
        tags=line.texts("tags"),
        event_at=line.moment("event_at"),
        valid_until=until,
        superseded_by=successor,
        contradicts=against,
        session=line.optional("session"),
    )


def _query(line: _Line, ids: frozenset[str], splits: Mapping[str, Split]) -> JudgedQuery:
    line.check_fields(_QUERY_FIELDS)
    grades, confusable = _grades(line), line.texts("confusable")
    line.check_known("relevant", grades, ids)
    line.check_known("confusable", confusable, ids)
    both = sorted(set(confusable) & set(grades))
    if both:
        raise line.wrong("confusable", f"{both[0]!r} is said to answer as well.")
    given = line.optional("split")
    return JudgedQuery(
        id=line.text("id"),
        text=line.text("text"),
        kind=line.text("kind"),
        grades=grades,
        split=_choice(line, "split", Split) if given else splits[line.text("id")],
        as_of=line.moment("as_of"),
        project=line.optional("project"),
        confusable=confusable,
    )


def _grades(line: _Line) -> dict[str, int]:
    value = line.fields.get("relevant")
    if not isinstance(value, dict):
        raise line.wrong("relevant", 'Give an object such as {"m-001": 3}; {}: nothing answers.')
    for id, grade in value.items():
        if type(grade) is not int or not 1 <= grade <= LARGEST_GRADE:
            raise line.wrong("relevant", f"The grade of {id!r} is a number from 1 to 3.")
    return value


def _choice(line: _Line, field: str, names: Callable[[str], Named]) -> Named:
    try:
        return names(line.text(field))
    except ValueError as error:
        raise line.wrong(field, f"{line.text(field)!r} is not known here.") from error


def _merged_grades(grades: Mapping[str, int], same: Mapping[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for id, grade in grades.items():
        name = same.get(id, id)
        found[name] = max(grade, found.get(name, 0))
    return found


def _hash(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()
