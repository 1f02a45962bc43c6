"""A judged set: memories, queries, and which memory answers which query.

Two files of JSON lines, `memories.jsonl` and `queries.jsonl`. What is wrong is refused with file,
line and field, and nothing of the set is used. Converters write the same two files.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from memory.taxonomy import MemoryType

MEMORIES: Final = "memories.jsonl"
QUERIES: Final = "queries.jsonl"
PROJECT: Final = "judged"  # where memories stand that name no project
LARGEST_GRADE: Final = 3
STRICT: Final = ConfigDict(extra="forbid", strict=True)
Row = TypeVar("Row")
Text = Annotated[str, StringConstraints(pattern=r"\S")]


class Split(StrEnum):
    """The half on which anything may be fitted, and the half on which nothing is."""

    TRAIN = "train"
    HELD = "held"


class WrongSet(ValueError):
    """A set that cannot be used: where it is wrong, and what would be right."""

    def __init__(self, *, file: str, line: int, field: str, detail: str) -> None:
        super().__init__(f"{file}, line {line}, field {field!r}: {detail}")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class JudgedMemory:
    """One memory of a set; `superseded_by` and `contradicts` name others of the set."""

    id: Text
    content: Text
    type: MemoryType
    project: Annotated[Text, BeforeValidator(lambda given: given or PROJECT)] = PROJECT
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    event_at: AwareDatetime | None = None
    valid_until: AwareDatetime | None = None
    superseded_by: Text | None = None
    contradicts: tuple[str, ...] = ()
    session: Text | None = None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class JudgedQuery:
    """One query of a set; `relevant` are grades by memory, none where nothing answers.

    `confusable` are memories that look like an answer and are none.
    """

    id: Text
    text: Text
    kind: Text
    relevant: Mapping[str, Annotated[int, Field(ge=1, le=LARGEST_GRADE)]]
    split: Split | None = None
    as_of: AwareDatetime | None = None
    project: Text | None = None
    confusable: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the set holds an answer."""
        return bool(self.relevant)


@dataclass(frozen=True, kw_only=True)
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


def read_json(*, file: str, text: str, shape: type[Row], line: int = 1) -> Row:
    """Return a file of JSON, or one line of it, as a value. Raises WrongSet naming the field."""
    try:
        return TypeAdapter(shape).validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise WrongSet(file=file, line=line, field=field, detail=f"{fault['msg']}.") from error


def read_lines(*, file: str, text: str, shape: type[Row]) -> dict[int, Row]:
    """Return the values of a file of JSON lines by their lines; empty lines are passed over."""
    lines = enumerate(text.split("\n"), start=1)
    return {
        number: read_json(file=file, text=line, shape=shape, line=number)
        for number, line in lines
        if line.strip()
    }


def parse(*, name: str, memories: str, queries: str) -> JudgedSet:
    """Make a set of the texts of its two files. Raises WrongSet naming file, line and field."""
    known = read_lines(file=MEMORIES, text=memories, shape=JudgedMemory)
    asked = read_lines(file=QUERIES, text=queries, shape=JudgedQuery)
    _check_ids(MEMORIES, known)
    _check_ids(QUERIES, asked)
    ids = frozenset(one.id for one in known.values())
    for line, memory in known.items():
        for field, detail in _faults_of_memory(memory, ids):
            raise WrongSet(file=MEMORIES, line=line, field=field, detail=detail)
    for line, query in asked.items():
        for field, detail in _faults_of_query(query, ids):
            raise WrongSet(file=QUERIES, line=line, field=field, detail=detail)
    splits = split_of(items=((one.id, one.kind) for one in asked.values()))
    return JudgedSet(
        name=name,
        digest=hashlib.sha256(f"{memories}\0{queries}".encode()).hexdigest(),
        memories=tuple(known.values()),
        queries=tuple(replace(one, split=one.split or splits[one.id]) for one in asked.values()),
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
        for position, id in enumerate(
            sorted(ids, key=lambda id: hashlib.sha256(id.encode()).hexdigest())
        )
    }


def merge_same(*, judged: JudgedSet, same: Mapping[str, str]) -> JudgedSet:
    """Rename ids whose text the store had already to the id it came under first."""
    queries = []
    for query in judged.queries:
        grades: dict[str, int] = {}
        for id, grade in query.relevant.items():
            name = same.get(id, id)
            grades[name] = max(grade, grades.get(name, 0))
        queries.append(replace(query, relevant=grades))
    return replace(judged, queries=tuple(queries))


def _check_ids(file: str, rows: Mapping[int, Any]) -> None:
    """Raise WrongSet for a file without lines, and for an id that is given twice."""
    if not rows:
        raise WrongSet(file=file, line=1, field="id", detail="The file has no lines.")
    seen: set[str] = set()
    for line, row in rows.items():
        if row.id in seen:
            detail = f"{row.id!r} stands on an earlier line already."
            raise WrongSet(file=file, line=line, field="id", detail=detail)
        seen.add(row.id)


def _faults_of_memory(memory: JudgedMemory, ids: frozenset[str]) -> Iterable[tuple[str, str]]:
    """Yield which field does not fit the rest of the set, and why."""
    successor = memory.superseded_by
    named = {"superseded_by": (successor,) if successor else (), "contradicts": memory.contradicts}
    for field, others in named.items():
        for id in others:
            if id not in ids:
                yield field, f"No memory has the id {id!r}."
            if id == memory.id:
                yield field, "A memory does not stand against itself."
    if successor and memory.valid_until is None:
        yield "valid_until", "Say until when a superseded memory was true."


def _faults_of_query(query: JudgedQuery, ids: frozenset[str]) -> Iterable[tuple[str, str]]:
    for field, named in (("relevant", query.relevant), ("confusable", query.confusable)):
        for id in named:
            if id not in ids:
                yield field, f"No memory has the id {id!r}."
    for id in sorted(query.relevant.keys() & set(query.confusable)):
        yield "confusable", f"{id!r} is said to answer as well."
