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
from typing import Any, Final

from memory.evaluation.dataset import LARGEST_GRADE, Record, WrongSet, load, records
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
    memories = []
    for row in records(file=corpus, text=files[corpus]):
        title, text = row.fields.get("title"), row.string("text")
        if isinstance(title, str) and title.strip():
            text = f"{title}\n\n{text}"
        memories.append(_memory(row.string("_id"), text, "reference"))
    grades = _qrels(qrels, files[qrels])
    rows = list(records(file=queries, text=files[queries]))
    asked = [
        {"id": id, "text": row.string("text"), "kind": "beir", "relevant": grades[id]}
        for row in rows
        if (id := row.string("_id")) in grades
    ]
    return _converted(memories, asked, {"queries without judgment": len(rows) - len(asked)})


def _cosqa(files: Files) -> Converted:
    """Convert CoSQA's retrieval test: web queries, and functions under their numbers."""
    functions, questions = PUBLIC["cosqa"].files
    numbered = load(file=functions, text=files[functions], kind=dict)
    memories = [
        _memory(str(number), code, "reference") | {"tags": [CODE_TAG]}
        for code, number in numbered.items()
    ]
    asked = []
    for position, item in enumerate(load(file=questions, text=files[questions], kind=list)):
        row = Record(file=questions, line=position + 1, fields=item)
        relevant = {str(row.value("retrieval_idx", int)): LARGEST_GRADE}
        asked.append(
            {
                "id": row.string("idx"),
                "text": row.string("doc"),
                "kind": "web",
                "relevant": relevant,
            }
        )
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
    for position, sample in enumerate(load(file=file, text=files[file], kind=list), start=1):
        row = Record(file=file, line=position, fields=sample)
        name = row.string("sample_id")
        turns = list(_locomo_turns(row, name))
        memories += turns
        known = frozenset(turn["id"] for turn in turns)
        for number, question in enumerate(row.value("qa", list), start=1):
            query = _locomo_query(row.of(question), name, known)
            left_out += query is None
            asked += [] if query is None else [{"id": f"{name}/q{number}", **query}]
    return _converted(memories, asked, {"questions without evidence": left_out})


def _longmemeval(files: Files) -> Converted:
    """Convert LongMemEval: a project each question, turns as episodes, `has_answer` as evidence.

    Questions whose id ends in `_abs` have no answer. Others without a marked turn are left out.
    """
    (file,) = PUBLIC["longmemeval"].files
    memories: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    left_out = 0
    for position, item in enumerate(load(file=file, text=files[file], kind=list), start=1):
        row = Record(file=file, line=position, fields=item)
        id = row.string("question_id")
        project = _slug(id)
        relevant: dict[str, int] = {}
        memories += _longmemeval_turns(row, id, project, relevant)
        is_unanswerable = id.endswith("_abs")
        if not relevant and not is_unanswerable:
            left_out += 1
            continue
        kind = "abstention" if is_unanswerable else row.string("question_type")
        grades = {} if is_unanswerable else relevant
        near = list(relevant) if is_unanswerable else []
        asked.append(
            {"id": id, "text": row.string("question"), "kind": kind, "relevant": grades}
            | {"project": project, "confusable": near}
        )
    return _converted(memories, asked, {"questions without evidence": left_out})


PUBLIC: Final[Mapping[str, PublicSet]] = {
    "beir": PublicSet(files=("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"), convert=_beir),
    "cosqa": PublicSet(files=("code_idx_map.txt", "cosqa-retrieval-test-500.json"), convert=_cosqa),
    "locomo": PublicSet(files=("locomo10.json",), convert=_locomo),
    "longmemeval": PublicSet(files=("longmemeval_s.json",), convert=_longmemeval),
}


def _qrels(file: str, text: str) -> dict[str, dict[str, int]]:
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


def _locomo_turns(row: Record, name: str) -> Iterator[dict[str, Any]]:
    conversation = row.of(row.value("conversation", dict))
    for key in sorted(filter(SESSION.fullmatch, conversation.fields)):
        began = _moment(conversation.string(f"{key}_date_time"), LOCOMO_TIME, row)
        place = {"project": _slug(name), "session": f"{name}/{key}"}
        for number, fields in enumerate(conversation.value(key, list)):
            turn = row.of(fields)
            said = f"{turn.string('speaker')}: {turn.string('text')}"
            caption = fields.get("blip_caption")
            shared = f" [shares {caption}]" if caption else ""
            content = f"{said}{shared}"
            yield _turn(f"{name}/{turn.string('dia_id')}", content, place, began, number)


def _locomo_query(row: Record, name: str, known: frozenset[str]) -> dict[str, Any] | None:
    told = " ".join(map(str, row.value("evidence", list)))
    named = (f"{name}/{id}" for id in DIALOGUE_ID.findall(told))
    evidence = tuple(dict.fromkeys(id for id in named if id in known))
    kind = LOCOMO_KINDS.get(row.value("category", int))
    if kind is None:
        raise row.wrong("category", f"Use one of: {', '.join(map(str, LOCOMO_KINDS))}.")
    shared = {"text": row.string("question"), "kind": kind, "project": _slug(name)}
    if kind == LOCOMO_KINDS[5]:
        return shared | {"relevant": {}, "confusable": list(evidence)}
    return shared | {"relevant": dict.fromkeys(evidence, LARGEST_GRADE)} if evidence else None


def _longmemeval_turns(
    row: Record, id: str, project: str, relevant: dict[str, int]
) -> Iterator[dict[str, Any]]:
    dates, sessions = row.value("haystack_dates", list), row.value("haystack_sessions", list)
    if len(dates) != len(sessions):
        raise row.wrong("haystack_dates", "There is one date for each session.")
    for session, (told, turns) in enumerate(zip(dates, sessions, strict=True), start=1):
        began = _moment(told, LONGMEMEVAL_TIME, row)
        place = {"project": project, "session": f"{id}/{session}"}
        for number, fields in enumerate(turns, start=1):
            turn = row.of(fields)
            name = f"{id}/{session}:{number}"
            said = f"{turn.string('role')}: {turn.string('content')}"
            if fields.get("has_answer"):
                relevant[name] = LARGEST_GRADE
            yield _turn(name, said, place, began, number)


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


def _moment(told: Any, form: str, row: Record) -> datetime:
    try:
        return datetime.strptime(str(told), form).replace(tzinfo=UTC)
    except ValueError as error:
        detail = f"{told!r} is no time of the form {form}."
        raise row.wrong("date", detail) from error


def _slug(name: str) -> str:
    return NOT_OF_A_SLUG.sub("-", name.lower()).strip("-")[:64].strip("-")


def _converted(
    memories: list[dict[str, Any]], queries: list[dict[str, Any]], left_out: Mapping[str, int]
) -> Converted:
    return Converted(
        memories=_written(memories),
        queries=_written(queries),
        notes=tuple(f"left out: {count} {what}" for what, count in left_out.items() if count),
    )


def _written(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
