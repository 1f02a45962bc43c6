"""Public sets in our two files: BEIR's format, LoCoMo, LongMemEval, CoSQA.

Pure: texts of their files in, texts of ours out. None of these sets is shipped; each has a license
of its own. What a converter leaves out it counts and says. A fault of a file is a `WrongSet` that
names the file, where it has lines the line, and the field.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from memory.evaluation.dataset import LARGEST_GRADE, WrongSet, read_json, read_lines
from memory.taxonomy import CODE_TAG

LONGEST: Final = 20_000  # characters of a memory; longer texts are cut
DIALOGUE_ID: Final = re.compile(r"D\d+:\d+")
LOCOMO_KINDS: Final = {  # the categories of its questions
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
LOCOMO_TIME: Final = "%I:%M %p on %d %B, %Y"
LONGMEMEVAL_TIME: Final = "%Y/%m/%d (%a) %H:%M"
SESSION: Final = re.compile(r"session_\d+")
NOT_OF_A_SLUG: Final = re.compile(r"[^a-z0-9]+")

Files = Mapping[str, str]


class BeirRow(BaseModel):
    """A document or a query of BEIR's format."""

    id: str = Field(alias="_id")
    title: str | None = None
    text: str


class CosqaQuestion(BaseModel):
    """A web query, and the number of the function that answers it."""

    idx: str
    doc: str
    retrieval_idx: int


class LocomoTurn(BaseModel):
    """What somebody said, perhaps beside a picture."""

    speaker: str
    text: str
    dia_id: str
    blip_caption: str | None = None


class LocomoQuestion(BaseModel):
    """A question about a conversation; the evidence names turns."""

    question: str
    evidence: list[Any]
    category: Literal[1, 2, 3, 4, 5]


class LocomoSample(BaseModel):
    """A conversation: sessions under `session_1`, their begin under `session_1_date_time`."""

    sample_id: str
    conversation: dict[str, Any]
    qa: list[LocomoQuestion]


class LongMemEvalTurn(BaseModel):
    """A turn of a chat; whether it holds the answer."""

    role: str
    content: str
    has_answer: bool | None = None


class LongMemEvalQuestion(BaseModel):
    """A question and the chats in which its answer is, if it has one."""

    question_id: str
    question_type: str
    question: str
    haystack_dates: list[str]
    haystack_sessions: list[list[LongMemEvalTurn]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """Our two files, and what was left out of theirs."""

    memories: str
    queries: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicSet:
    """A public set: the files that `convert` reads by these names, and how."""

    files: tuple[str, ...]
    convert: Callable[[Files], Converted]


def convert(*, public: str, files: Files) -> Converted:
    """Convert the files of a public set, given by name. Raises WrongSet; KeyError: no such set."""
    return PUBLIC[public].convert(files)


def _beir(files: Files) -> Converted:
    """Convert a corpus, queries and judgments of BEIR's format; grades above 3 become 3."""
    corpus, queries, qrels = PUBLIC["beir"].files
    memories = [
        _memory(row.id, f"{row.title}\n\n{row.text}" if row.title else row.text, "reference")
        for row in read_lines(file=corpus, text=files[corpus], shape=BeirRow).values()
    ]
    grades: dict[str, dict[str, int]] = {}
    for number, line in enumerate(files[qrels].split("\n"), start=1):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and not cells[-1].strip().isdigit()):
            continue  # the heading
        if len(cells) != 3 or not cells[2].strip().lstrip("-").isdigit():
            detail = "A line is: query-id, corpus-id and a whole number, with tabs between."
            raise WrongSet(file=qrels, line=number, field="score", detail=detail)
        if int(cells[2]) > 0:
            grades.setdefault(cells[0], {})[cells[1]] = min(LARGEST_GRADE, int(cells[2]))
    rows = read_lines(file=queries, text=files[queries], shape=BeirRow).values()
    asked = [
        {"id": row.id, "text": row.text, "kind": "beir", "relevant": grades[row.id]}
        for row in rows
        if row.id in grades
    ]
    return _converted(memories, asked, {"queries without judgment": len(rows) - len(asked)})


def _cosqa(files: Files) -> Converted:
    """Convert CoSQA's retrieval test: web queries, and functions under their numbers."""
    functions, questions = PUBLIC["cosqa"].files
    numbered = read_json(file=functions, text=files[functions], shape=dict[str, int])
    memories = [
        _memory(str(number), code, "reference") | {"tags": [CODE_TAG]}
        for code, number in numbered.items()
    ]
    asked = [
        {
            "id": row.idx,
            "text": row.doc,
            "kind": "web",
            "relevant": {str(row.retrieval_idx): LARGEST_GRADE},
        }
        for row in read_json(file=questions, text=files[questions], shape=list[CosqaQuestion])
    ]
    return _converted(memories, asked, {})


def _locomo(files: Files) -> Converted:
    """Convert LoCoMo: turns as episodes of a project each conversation, questions by category.

    Adversarial questions have no answer in their conversation; the turns they play on are named
    confusable. Questions of other categories without evidence are left out.
    """
    (file,) = PUBLIC["locomo"].files
    memories: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    left_out = 0
    samples = read_json(file=file, text=files[file], shape=list[LocomoSample])
    for line, sample in enumerate(samples, start=1):
        name = sample.sample_id
        turns = list(_locomo_turns(file, line, sample))
        memories += turns
        known = {turn["id"] for turn in turns}
        for number, row in enumerate(sample.qa, start=1):
            named = (f"{name}/{id}" for id in DIALOGUE_ID.findall(" ".join(map(str, row.evidence))))
            evidence = tuple(dict.fromkeys(id for id in named if id in known))
            query = {"id": f"{name}/q{number}", "text": row.question, "project": _slug(name)}
            query["kind"] = LOCOMO_KINDS[row.category]
            if query["kind"] == LOCOMO_KINDS[5]:
                asked.append(query | {"relevant": {}, "confusable": list(evidence)})
            elif evidence:
                asked.append(query | {"relevant": dict.fromkeys(evidence, LARGEST_GRADE)})
            else:
                left_out += 1
    return _converted(memories, asked, {"questions without evidence": left_out})


def _locomo_turns(file: str, line: int, sample: LocomoSample) -> Iterator[dict[str, Any]]:
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
    memories: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    left_out = 0
    rows = read_json(file=file, text=files[file], shape=list[LongMemEvalQuestion])
    for line, row in enumerate(rows, start=1):
        id = row.question_id
        turns = dict(_longmemeval_turns(file, line, row))
        memories += [memory for memory, _ in turns.values()]
        relevant = {name: LARGEST_GRADE for name, (_, is_evidence) in turns.items() if is_evidence}
        query = {"id": id, "text": row.question, "project": _slug(id)}
        if id.endswith("_abs"):
            asked.append(
                query | {"kind": "abstention", "relevant": {}, "confusable": list(relevant)}
            )
        elif relevant:
            asked.append(query | {"kind": row.question_type, "relevant": relevant})
        else:
            left_out += 1
    return _converted(memories, asked, {"questions without evidence": left_out})


def _longmemeval_turns(
    file: str, line: int, row: LongMemEvalQuestion
) -> Iterator[tuple[str, tuple[dict[str, Any], bool]]]:
    """Yield the turns of a question by their names, each with whether it is evidence."""
    id, dates, sessions = row.question_id, row.haystack_dates, row.haystack_sessions
    if len(dates) != len(sessions):
        detail = "There is one date for each session."
        raise WrongSet(file=file, line=line, field="haystack_dates", detail=detail)
    for session, (told, turns) in enumerate(zip(dates, sessions, strict=True), start=1):
        began = _time(told, LONGMEMEVAL_TIME, file, line, "haystack_dates")
        place = {"project": _slug(id), "session": f"{id}/{session}"}
        for number, turn in enumerate(turns, start=1):
            name = f"{id}/{session}:{number}"
            content = f"{turn.role}: {turn.content}"
            yield name, (_turn(name, content, place, began, number), bool(turn.has_answer))


PUBLIC: Final[Mapping[str, PublicSet]] = {
    "beir": PublicSet(files=("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"), convert=_beir),
    "cosqa": PublicSet(files=("code_idx_map.txt", "cosqa-retrieval-test-500.json"), convert=_cosqa),
    "locomo": PublicSet(files=("locomo10.json",), convert=_locomo),
    "longmemeval": PublicSet(files=("longmemeval_s.json",), convert=_longmemeval),
}


def _memory(id: str, content: str, type: str) -> dict[str, Any]:
    return {"id": id, "content": content[:LONGEST], "type": type}


def _turn(
    id: str, content: str, place: Mapping[str, str], began: datetime, number: int
) -> dict[str, Any]:
    """Return a turn of a session; a second each keeps them in order, for the sets have no times.

    Its day stands among its tags, in words, so that a question finds it by the date.
    """
    moment = (began + timedelta(seconds=number)).isoformat()
    day = f"{began.day} {began:%B %Y}"
    return _memory(id, content, "episode") | {**place, "event_at": moment, "tags": [day]}


def _time(told: object, form: str, file: str, line: int, field: str) -> datetime:
    try:
        return datetime.strptime(str(told), form).replace(tzinfo=UTC)
    except ValueError as error:
        detail = f"{told!r} is no time of the form {form}."
        raise WrongSet(file=file, line=line, field=field, detail=detail) from error


def _slug(name: str) -> str:
    return NOT_OF_A_SLUG.sub("-", name.lower()).strip("-")[:64].strip("-")


def _converted(
    memories: list[dict[str, Any]], queries: list[dict[str, Any]], left_out: Mapping[str, int]
) -> Converted:
    written = (
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        for rows in (memories, queries)
    )
    return Converted(
        memories=next(written),
        queries=next(written),
        notes=tuple(f"left out: {count} {what}" for what, count in left_out.items() if count),
    )
