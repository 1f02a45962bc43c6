"""The statements of a search and of the lookups beside it, each with its typed caller.

`find_candidates` is the search itself: one statement returns what every path found, with visibility
and filters applied inside each path, and what ranking looks at besides. The rest asks without
words: by pattern, by likeness, by file, in time. The SQL stands in `sql/`.
A question is what `request.question_of` returns: the fields of the SQL type search_request. That of
a lookup (`request.narrowed_question`) holds what its caller sees too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from memory import sql_queries, taxonomy
from memory.entities import queries as entities
from memory.index import queries as index_queries
from memory.index.actions.embedding import Embedded
from memory.records.formulas import effective_confidence
from memory.search import ranking
from memory.search.fusion import FusedCandidate, Item, Path, Turns
from memory.search.query import MOST_IDENTIFIERS, Query
from memory.text import globs as text_globs
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "search/sql/queries.sql"
SCORES, TURNS, KNOWN = slice(3, 9), slice(9, 11), slice(11, None)  # columns of the candidates
ID, MATCHED = 2, 5
FEW: Final = 1_000  # memories that hold the rarest words; what more hold answers nothing; a default
OF_ITS_FOLDER: Final = 2  # how close what is about a file's folder is
EXACTLY: Final = 'm.content COLLATE "C"'
ANY_CASE: Final = 'lower(m.content COLLATE "C")'
EVIDENCE: Final = (
    "id", "type", "source", "files", "age_days", "idle_days", "accesses", "confidence",
    "floor", "disputed", "verification", "half_life_days", "pinned", "tainted", "in_conversation",
    "governance", "tags", "missing", "text", "things",
)  # fmt: skip
PATHS: Final = tuple(  # in the order of the columns behind the share of words
    path.value for path in (Path.KEYWORD, Path.GRAPH, Path.ENTITIES, Path.COMMUNITIES)
)
NARROWING: Final = ("by_tags", "by_author", "by_files", "by_globs", "by_topics")  # by facets

Question = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What one search read: the key of the model whose vectors are compared, if any, the candidates
    of all paths in no order, the evidence of these and of what stands beside them, what that is,
    and the nearest topic as `topics.queries` reads it.
    """

    active: str | None
    found: tuple[FusedCandidate, ...]
    known: Mapping[UUID, ranking.Evidence]
    turns: Turns
    topic: str | None


def find_candidates(
    *, question: Question, embedded: Embedded | None, sight: Sight, now: datetime | None = None
) -> Gathered:
    """Return what a search of what the sight allows finds; ages as of now or a moment. In a unit.

    Of a model with more dimensions than a scan reads, more are taken by the first ones, and their
    cosines are those of the whole vectors.
    """
    model, query, whole = "", None, None
    if embedded is not None:
        model, query = embedded.key, index_queries.prefix_text(vector=embedded.vector)
        whole = HalfVector(embedded.vector).to_text() if embedded.is_long else None
    asked = {**question, **parameters(sight=sight), "now": now}
    first, *rows = sql_queries.rows(
        "candidates",
        file=FILE,
        model=model,
        query=query,
        whole=whole,
        request=Jsonb(asked, dumps=orjson.dumps),
    )
    known = {
        row[ID]: _evidence(dict(zip(EVIDENCE, row[KNOWN], strict=True)))
        for row in rows
        if row[KNOWN.start] is not None
    }
    return Gathered(
        active=first[0],
        topic=first[1],
        found=tuple(
            _candidate(row, known.get(row[ID])) for row in rows if row[MATCHED] is not None
        ),
        known=known,
        turns={row[ID]: row[TURNS] for row in rows if any(row[TURNS])},
    )


def _candidate(row: tuple[Any, ...], evidence: ranking.Evidence | None) -> FusedCandidate:
    cosine, bm25, matched, *others = row[SCORES]
    scores = {path: score for path, score in zip(PATHS, (bm25, *others), strict=True) if score > 0}
    if cosine is not None:
        scores[Path.DENSE.value] = cosine
    item = Item.PROSE if evidence is None else evidence.item
    return FusedCandidate(memory_id=row[ID], scores=scores, matched=matched, item=item)


def read_evidence(
    *,
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    asked: Query,
    with_text: bool,
    now: datetime,
) -> dict[UUID, ranking.Evidence]:
    """Return the evidence of the visible ones of these memories, by id. In a unit.

    What the query names is looked for in each; texts are read when a reranker needs them.
    """
    rows = sql_queries.rows(
        "evidence",
        file=FILE,
        ids=list(memory_ids),
        identifiers=list(asked.identifiers)[:MOST_IDENTIFIERS],
        keys=list(asked.identifiers.values())[:MOST_IDENTIFIERS],
        with_text=with_text,
        now=now,
        **parameters(sight=sight),
    )
    return {row[0]: _evidence(dict(zip(EVIDENCE, row, strict=True))) for row in rows}


def _evidence(row: Mapping[str, Any]) -> ranking.Evidence:
    idle_days = max(0.0, row["idle_days"])
    is_protected = row["pinned"] or not taxonomy.PROTECTED_TAGS.isdisjoint(row["tags"])
    item = Item.CODE if taxonomy.CODE_TAG in row["tags"] else Item.PROSE
    return ranking.Evidence(
        memory_id=row["id"],
        type=taxonomy.MemoryType(row["type"]),
        source=taxonomy.Source(row["source"]),
        files=tuple(row["files"]),
        age_days=max(0.0, row["age_days"]),
        idle_days=idle_days,
        accesses=row["accesses"] or 0,
        activation_floor=taxonomy.activation_floor(
            governance=taxonomy.Governance(row["governance"]), protected_or_pinned=is_protected
        ),
        confidence=effective_confidence(
            confidence=row["confidence"],
            verification=taxonomy.Verification(row["verification"]),
            half_life_days=row["half_life_days"],
            pinned=row["pinned"],
            is_tainted=row["tainted"],
            is_disputed=row["disputed"],
            floor=row["floor"],
            days_idle=idle_days,
        ),
        missing=row["missing"] or 0.0,
        text=row["text"],
        things=frozenset(row["things"]),
        item=Item.DIALOGUE if row["type"] == taxonomy.MemoryType.EPISODE else item,
        in_conversation=row["in_conversation"],
    )


def find_by_rarest_words(
    *,
    question: str,
    projects: tuple[UUID, ...] | None,
    work: Question,
    limit: int,
    sight: Sight,
) -> tuple[tuple[UUID, float], ...]:
    """Return the visible memories with the rarest words of a question, best first, each with the
    share of the words that it has; `work` as `request.work_fields` has it. In a unit."""
    rows = sql_queries.filled(
        "answers",
        file=FILE,
        parts={
            "visible": visibility.as_sql(alias="k"),
            "out_of_reach": sql_queries.text("out_of_reach", file=FILE),
        },
        question=question,
        **work,
        projects=None if projects is None else list(projects),
        few=FEW,
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple((row[0], row[2]) for row in rows)


def match_pattern(
    *,
    pattern: str,
    literal: str,
    ignores_case: bool,
    question: Question,
    limit: int,
    milliseconds: int,
) -> tuple[tuple[UUID, int, int, str], ...]:
    """Return the newest memories that a regular expression matches. In a unit.

    Every match holds `literal`, in small letters where case is ignored; a point matches no line
    break, and lines have beginnings and ends. Of each its id, where the first match begins and ends
    (from 0, the end behind it), and its text. Raises DataError, caused by InvalidRegularExpression,
    and OperationalError, caused by QueryCanceled, when its time is over; the unit ends with both.
    """
    sql_queries.rows("be_quick", file=FILE, milliseconds=str(milliseconds))
    literal = "".join(text_globs.LITERAL.get(sign, sign) for sign in literal)
    rows = _lookup(
        "matching",
        question,
        parts={"literal": ANY_CASE if ignores_case else EXACTLY},
        pattern=pattern,
        flags="ni" if ignores_case else "n",
        literal=f"%{literal}%",
        limit=limit,
    )
    sql_queries.execute("take_time", file=FILE)
    return tuple((row[0], row[1] - 1, row[2] - 1, row[3]) for row in rows)


def find_similar(
    *, memory_id: UUID, question: Question, limit: int, by_words: bool = False
) -> tuple[tuple[UUID, float], ...]:
    """Return the nearest memories with their cosines, none when it has no vector. In a unit.

    Or those that share most words, with the share of its own, 0..1.
    """
    name = "similar_words" if by_words else "similar"
    rows = _lookup(name, question, row="v", memory_id=memory_id, limit=limit)
    return tuple((id, min(1.0, value) if by_words else value) for id, value in rows)


def find_about_files(
    *, files: tuple[str, ...], closeness: int, question: Question, limit: int
) -> tuple[tuple[tuple[UUID, int], ...], ...]:
    """Return for each file, in their order, the memories about it, closest first. In a unit.

    Closeness is 0 for the file, 1 for one whose path ends alike, 2 for its folder.
    """
    is_by_folder = closeness >= OF_ITS_FOLDER
    rows = _lookup(
        "about_files",
        question,
        parts={"called": "TRUE" if is_by_folder else sql_queries.text("called", file=FILE)},
        paths=list(files),
        closeness=closeness,
        limit=limit,
    )
    found: dict[int, list[tuple[UUID, int]]] = {place: [] for place in range(1, len(files) + 1)}
    for place, memory_id, close in rows:
        found[place].append((memory_id, close))
    return tuple(tuple(of_one) for of_one in found.values())


def list_of_thing(*, thing: entities.Thing, question: Question, limit: int) -> tuple[UUID, ...]:
    """Return the memories that name a thing, the most important first. In a unit."""
    types, keys = entities.columns(names=thing.names)
    rows = _lookup("of_thing", question, named_types=types, named_keys=keys, limit=limit)
    return tuple(row[0] for row in rows)


def list_of_modules(
    *, modules: tuple[str, ...], question: Question, limit: int
) -> tuple[UUID, ...]:
    """Return the memories of some modules, the most important first. In a unit."""
    rows = _lookup("of_modules", question, named_modules=list(modules), limit=limit)
    return tuple(row[0] for row in rows)


def list_always_in_effect(*, question: Question, limit: int) -> tuple[UUID, ...]:
    """Return what is in effect whatever the task, the firmest first, then the latest reflection.

    In a unit.
    """
    rows = _lookup("standing", question, limit=limit)
    return tuple(dict.fromkeys(row[0] for row in rows))


def list_timeline(
    *,
    question: Question,
    start: datetime | None,
    end: datetime | None,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> tuple[tuple[UUID, datetime], ...]:
    """Return memories with when they happened, oldest first, behind a place. In a unit."""
    after_at, after_id = after or (None, None)
    rows = _lookup(
        "timeline",
        question,
        start=start,
        end=end,
        after_at=after_at,
        after_id=after_id,
        limit=limit,
    )
    return tuple((row[0], row[1]) for row in rows)


def _lookup(
    name: str,
    question: Question,
    *,
    row: str = "m",
    parts: Mapping[str, str] | None = None,
    **more: Any,
) -> list[tuple[Any, ...]]:
    """Run a lookup with the filters of a question; visibility is asked of the row that it reads."""
    pieces = {
        "narrowed": sql_queries.text("narrowed", file=FILE),
        "chosen": sql_queries.text("chosen", file=FILE),
        "visible": visibility.as_sql(alias=row),
        "out_of_reach": sql_queries.text("out_of_reach", file=FILE),
    }
    return sql_queries.filled(
        name,
        file=FILE,
        parts={**(parts or {}), **pieces},
        is_narrowed=any(question[field] is not None for field in NARROWING),
        **question,
        **more,
    )
