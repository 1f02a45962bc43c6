"""A judged set: memories, queries, and which memory answers which query; public sets as ours.

Two files of JSON lines, `memories.jsonl` and `queries.jsonl`. What is wrong is refused with file,
line and field, and nothing of the set is used. BEIR's format, LoCoMo, LongMemEval and CoSQA are
converted to these two files: texts of their files in, texts of ours out. None of them is shipped;
each has a license of its own. What a converter leaves out it counts and says.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import pydantic
from pydantic.dataclasses import dataclass

from memory.taxonomy import CODE_TAG, MemoryType

MEMORIES: Final = "memories.jsonl"
QUERIES: Final = "queries.jsonl"
PROJECT: Final = "judged"  # where memories stand that name no project
LARGEST_GRADE: Final = 3
STRICT: Final = pydantic.ConfigDict(extra="forbid", strict=True)
Shape = TypeVar("Shape")
Text = Annotated[str, pydantic.StringConstraints(pattern=r"\S")]


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
    project: Annotated[Text, pydantic.BeforeValidator(lambda given: given or PROJECT)] = PROJECT
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    event_at: pydantic.AwareDatetime | None = None
    valid_until: pydantic.AwareDatetime | None = None
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
    relevant: Mapping[str, Annotated[int, pydantic.Field(ge=1, le=LARGEST_GRADE)]]
    split: Split | None = None
    as_of: pydantic.AwareDatetime | None = None
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


def read_json(*, file: str, text: str, shape: type[Shape], line: int = 1) -> Shape:
    """Return a file of JSON, or one line of it, as a value. Raises WrongSet naming the field."""
    try:
        return pydantic.TypeAdapter(shape).validate_json(text)
    except pydantic.ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise WrongSet(file=file, line=line, field=field, detail=f"{fault['msg']}.") from error


def read_lines(*, file: str, text: str, shape: type[Shape]) -> dict[int, Shape]:
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


LONGEST: Final = 20_000  # characters of a memory; longer texts are cut
DIALOGUE_ID: Final = re.compile(r"D\d+:\d+")
LOCOMO_KINDS: Final = {  # the categories of its questions
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
ABSTENTION: Final = "abstention"  # of LongMemEval
UNANSWERABLE: Final = frozenset({LOCOMO_KINDS[5], ABSTENTION})
LOCOMO_TIME: Final = "%I:%M %p on %d %B, %Y"
LONGMEMEVAL_TIME: Final = "%Y/%m/%d (%a) %H:%M"
SESSION: Final = re.compile(r"session_\d+")
NOT_OF_A_SLUG: Final = re.compile(r"[^a-z0-9]+")

Files = Mapping[str, str]
Row = dict[str, Any]  # of a file of ours


class BeirRow(pydantic.BaseModel):
    """A document or a query of BEIR's format."""

    id: str = pydantic.Field(alias="_id")
    title: str | None = None
    text: str


class CosqaQuestion(pydantic.BaseModel):
    """A web query, and the number of the function that answers it."""

    idx: str
    doc: str
    retrieval_idx: int


class LocomoTurn(pydantic.BaseModel):
    """What somebody said, perhaps beside a picture."""

    speaker: str
    text: str
    dia_id: str
    blip_caption: str | None = None


class LocomoQuestion(pydantic.BaseModel):
    """A question about a conversation; the evidence names turns."""

    question: str
    evidence: list[Any]
    category: Literal[1, 2, 3, 4, 5]


class LocomoSample(pydantic.BaseModel):
    """A conversation: sessions under `session_1`, their begin under `session_1_date_time`."""

    sample_id: str
    conversation: dict[str, Any]
    qa: list[LocomoQuestion]


class LongMemEvalTurn(pydantic.BaseModel):
    """A turn of a chat; whether it holds the answer."""

    role: str
    content: str
    has_answer: bool | None = None


class LongMemEvalQuestion(pydantic.BaseModel):
    """A question and the chats in which its answer is, if it has one."""

    question_id: str
    question_type: str
    question: str
    haystack_dates: list[str]
    haystack_sessions: list[list[LongMemEvalTurn]]


class Converted(NamedTuple):
    """Our two files, and what was left out of theirs."""

    memories: str
    queries: str
    notes: tuple[str, ...]


class PublicSet(NamedTuple):
    """A public set: the files that `convert` reads by these names, and how."""

    files: tuple[str, ...]
    convert: Callable[[Files], Converted]


def _read_qrels(file: str, text: str) -> dict[str, dict[str, int]]:
    """Return the grades above 0 by query and memory. Raises WrongSet."""
    grades: dict[str, dict[str, int]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and not cells[-1].strip().isdigit()):
            continue  # the heading
        if len(cells) != 3 or not cells[2].strip().lstrip("-").isdigit():
            detail = "A line is: query-id, corpus-id and a whole number, with tabs between."
            raise WrongSet(file=file, line=number, field="score", detail=detail)
        if int(cells[2]) > 0:
            grades.setdefault(cells[0], {})[cells[1]] = min(LARGEST_GRADE, int(cells[2]))
    return grades


def _beir(files: Files) -> Converted:
    """Convert a corpus, queries and judgments of BEIR's format; grades above 3 become 3."""
    corpus, queries, qrels = PUBLIC["beir"].files
    memories = [
        _memory(row.id, f"{row.title}\n\n{row.text}" if row.title else row.text, "reference")
        for row in read_lines(file=corpus, text=files[corpus], shape=BeirRow).values()
    ]
    grades = _read_qrels(qrels, files[qrels])
    asked = [
        _query(row.id, row.text, "beir", grades.get(row.id))
        for row in read_lines(file=queries, text=files[queries], shape=BeirRow).values()
    ]
    return _converted(memories, asked, "queries without judgment")


def _cosqa(files: Files) -> Converted:
    """Convert CoSQA's retrieval test: web queries, and functions under their numbers."""
    functions, questions = PUBLIC["cosqa"].files
    numbered = read_json(file=functions, text=files[functions], shape=dict[str, int])
    memories = [
        _memory(str(number), code, "reference", tags=[CODE_TAG])
        for code, number in numbered.items()
    ]
    asked = [
        _query(row.idx, row.doc, "web", {str(row.retrieval_idx): LARGEST_GRADE})
        for row in read_json(file=questions, text=files[questions], shape=list[CosqaQuestion])
    ]
    return _converted(memories, asked, "")


def _locomo(files: Files) -> Converted:
    """Convert LoCoMo: turns as episodes of a project each conversation, questions by category.

    Adversarial questions have no answer in their conversation; the turns they play on are named
    confusable. Questions of other categories without evidence are left out.
    """
    (file,) = PUBLIC["locomo"].files
    memories: list[Row] = []
    asked: list[Row | None] = []
    samples = read_json(file=file, text=files[file], shape=list[LocomoSample])
    for line, sample in enumerate(samples, start=1):
        name = sample.sample_id
        turns = list(_locomo_turns(file, line, sample))
        memories += turns
        known = {turn["id"] for turn in turns}
        for number, row in enumerate(sample.qa, start=1):
            named = (f"{name}/{id}" for id in DIALOGUE_ID.findall(" ".join(map(str, row.evidence))))
            evidence = {id: LARGEST_GRADE for id in named if id in known}
            kind = LOCOMO_KINDS[row.category]
            query = _query(f"{name}/q{number}", row.question, kind, evidence, project=_slug(name))
            asked.append(query)
    return _converted(memories, asked, "questions without evidence")


def _locomo_turns(file: str, line: int, sample: LocomoSample) -> Iterator[Row]:
    given = sample.conversation
    for key in sorted(filter(SESSION.fullmatch, given)):
        began = _time(given.get(f"{key}_date_time"), LOCOMO_TIME, file, line, f"{key}_date_time")
        place = {"project": _slug(sample.sample_id), "session": f"{sample.sample_id}/{key}"}
        turns = read_json(file=file, text=json.dumps(given[key]), shape=list[LocomoTurn], line=line)
        for number, turn in enumerate(turns):
            shared = f" [shares {turn.blip_caption}]" if turn.blip_caption else ""
            content = f"{turn.speaker}: {turn.text}{shared}"
            yield _turn(f"{sample.sample_id}/{turn.dia_id}", content, place, began, number)


def _longmemeval(files: Files) -> Converted:
    """Convert LongMemEval: a project each question, turns as episodes, `has_answer` as evidence.

    Questions whose id ends in `_abs` have no answer. Others without a marked turn are left out.
    """
    (file,) = PUBLIC["longmemeval"].files
    memories: list[Row] = []
    asked: list[Row | None] = []
    rows = read_json(file=file, text=files[file], shape=list[LongMemEvalQuestion])
    for line, row in enumerate(rows, start=1):
        id = row.question_id
        turns = list(_longmemeval_turns(file, line, row))
        memories += [turn for turn, _ in turns]
        evidence = {turn["id"]: LARGEST_GRADE for turn, has_answer in turns if has_answer}
        kind = ABSTENTION if id.endswith("_abs") else row.question_type
        asked.append(_query(id, row.question, kind, evidence, project=_slug(id)))
    return _converted(memories, asked, "questions without evidence")


def _longmemeval_turns(
    file: str, line: int, row: LongMemEvalQuestion
) -> Iterator[tuple[Row, bool | None]]:
    """Yield the turns of a question, each with whether it is evidence."""
    id, dates, sessions = row.question_id, row.haystack_dates, row.haystack_sessions
    if len(dates) != len(sessions):
        detail = "There is one date for each session."
        raise WrongSet(file=file, line=line, field="haystack_dates", detail=detail)
    for session, (told, turns) in enumerate(zip(dates, sessions, strict=True), start=1):
        began = _time(told, LONGMEMEVAL_TIME, file, line, "haystack_dates")
        place = {"project": _slug(id), "session": f"{id}/{session}"}
        for number, turn in enumerate(turns, start=1):
            content = f"{turn.role}: {turn.content}"
            yield _turn(f"{id}/{session}:{number}", content, place, began, number), turn.has_answer


PUBLIC: Final[Mapping[str, PublicSet]] = {
    "beir": PublicSet(files=("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"), convert=_beir),
    "cosqa": PublicSet(files=("code_idx_map.txt", "cosqa-retrieval-test-500.json"), convert=_cosqa),
    "locomo": PublicSet(files=("locomo10.json",), convert=_locomo),
    "longmemeval": PublicSet(files=("longmemeval_s.json",), convert=_longmemeval),
}


def _memory(id: str, content: str, type: str, **more: Any) -> Row:
    return {"id": id, "content": content[:LONGEST], "type": type, **more}


def _query(
    id: str, text: str, kind: str, evidence: Mapping[str, int] | None, **more: Any
) -> Row | None:
    """Return a query with what answers it, or None for one without evidence.

    Where nothing answers a kind of questions, their evidence is what may be confused with that.
    """
    query = {"id": id, "text": text, "kind": kind, **more}
    if kind in UNANSWERABLE:
        return query | {"relevant": {}, "confusable": list(evidence or ())}
    return query | {"relevant": evidence} if evidence else None


def _turn(id: str, content: str, place: Row, began: datetime, number: int) -> Row:
    """Return a turn of a session; a second each keeps them in order, for the sets have no times."""
    moment = (began + timedelta(seconds=number)).isoformat()
    return _memory(id, content, "episode", **place, event_at=moment)


def _time(told: object, form: str, file: str, line: int, field: str) -> datetime:
    try:
        return datetime.strptime(str(told), form).replace(tzinfo=UTC)
    except ValueError as error:
        detail = f"{told!r} is no time of the form {form}."
        raise WrongSet(file=file, line=line, field=field, detail=detail) from error


def _slug(name: str) -> str:
    return NOT_OF_A_SLUG.sub("-", name.lower()).strip("-")[:64].strip("-")


def _converted(memories: list[Row], queries: list[Row | None], left_out: str) -> Converted:
    """Return both files; queries that are None are `left_out` and counted."""
    kept = [row for row in queries if row is not None]
    first, second = (
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        for rows in (memories, kept)
    )
    count = len(queries) - len(kept)
    notes = (f"left out: {count} {left_out}",) if count else ()
    return Converted(memories=first, queries=second, notes=notes)
