"""The statements of a search and of the lookups beside it, each with its typed caller.

`candidates` is the search itself: one statement returns what every path found, with visibility and
filters applied inside each path. `read_evidence` reads what ranking looks at besides the paths.
The rest asks without words: by pattern, by likeness, by file, in time. The SQL stands in `sql/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.utils import DataError, OperationalError
from psycopg import errors as postgres
from psycopg.types.json import Jsonb

from memory import sql_queries
from memory.entities.named_things import Thing
from memory.entities.sql import entities
from memory.index.models import LARGEST_PREFIX
from memory.index.sql import search_rows
from memory.providers.contracts import Vectors
from memory.records.filters import LIVE, States
from memory.records.formulas import effective_confidence
from memory.search import neighborhood, patterns, query, ranking
from memory.search.fusion import FusedCandidate, Item, Path
from memory.taxonomy import (
    CODE_TAG,
    PROTECTED_TAGS,
    Governance,
    MemoryType,
    Source,
    Verification,
    activation_floor,
    type_row,
)
from memory.text import globs as text_globs
from teams import visibility
from teams.visibility import Sight, parameters

FILE: Final = "search/sql/candidates.sql"
LOOKUPS: Final = "search/sql/lookups.sql"
GRAPH_LIMIT: Final = 15
NAMED_LIMIT: Final = 15  # a default, not measured
MOST_NEAR: Final = 64  # names around which the graph path looks, the first ones
MOST_IDENTIFIERS: Final = 16  # of a query that are looked for, the first ones; a default
FEW: Final = 1_000  # memories that hold the rarest words; what more hold answers nothing; a default
OF_ITS_FOLDER: Final = 2  # how close what is about a file's folder is
EXACTLY: Final = 'm.content COLLATE "C"'
ANY_CASE: Final = 'lower(m.content COLLATE "C")'
EVIDENCE: Final = (
    "id", "type", "source", "files", "age_days", "idle_days", "accesses", "confidence",
    "verification", "half_life_days", "pinned", "tainted", "governance", "tags", "missing", "text",
    "things",
)  # fmt: skip
SAME_IN_SQL: Final = (  # fields of a question as the SQL type search_request has them
    "words", "projects", "moment", "since", "until", "least_sure", "most_sure", "named", "spelled",
    "kinds", "keyword_limit", "graph_limit", "named_limit", "topics_limit",
)  # fmt: skip
PATHS: Final = tuple(  # in the order of the columns behind the share of words
    path.value for path in (Path.KEYWORD, Path.GRAPH, Path.ENTITIES, Path.COMMUNITIES)
)
_OF_VECTORS: Final = frozenset({"similar", "similar_words"})
_TYPES: Final = {type_row(type=item).code: item.value for item in MemoryType}


class PatternRefused(Exception):
    """Postgres cannot read a regular expression; says why."""


class TookTooLong(Exception):
    """A statement was stopped because its time was over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a search asks of the database; `model` is the key of the vector's model.

    Filters that are empty let everything through: `tags` all of, `files` any of (paths, ends of
    paths, globs), `modules` any of, learned at or after `since` and before `until`, `author` a
    person's id, agent or tool, `states` whether only what is live, confidence from `least_sure` to
    `most_sure`. `near` are paths and code names around which the graph path looks, `named` the keys
    of things that may be named, `spelled` the words of the question that do, `kinds` those of links
    that the question is about.
    """

    model: str
    vector: Vectors | None
    words: str
    projects: tuple[UUID, ...] | None
    type_codes: tuple[int, ...] | None
    moment: datetime | None
    dense_limit: int
    keyword_limit: int
    graph_limit: int = GRAPH_LIMIT
    named_limit: int = NAMED_LIMIT
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    author: str | None = None
    modules: tuple[str, ...] = ()
    topics: tuple[UUID, ...] | None = None
    topics_limit: int = 0
    states: States = LIVE
    least_sure: float | None = None
    most_sure: float | None = None
    near: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether the vector has more dimensions than a scan reads."""
        return self.vector is not None and len(self.vector) > LARGEST_PREFIX

    @property
    def limits(self) -> dict[str, int]:
        """How many memories each path but the graph's brings at most."""
        surplus = search_rows.PREFIX_SURPLUS if self.is_long else 1
        return {
            Path.DENSE: self.dense_limit * surplus,
            Path.KEYWORD: self.keyword_limit,
            Path.ENTITIES: self.named_limit,
            Path.COMMUNITIES: self.topics_limit,
        }

    @property
    def plain_files(self) -> list[str]:
        """The files that are no globs."""
        return [file for file in self.files if not text_globs.is_glob(text=file)]

    @property
    def like_files(self) -> list[str]:
        """The globs among the files, as patterns of LIKE."""
        globs = (file for file in self.files if text_globs.is_glob(text=file))
        return [text_globs.like(glob=file) for file in globs]


def find_candidates(
    *, question: Question, sight: Sight
) -> tuple[str | None, tuple[FusedCandidate, ...]]:
    """Return the key of the model whose vectors are compared, if any, and the candidates of all
    paths that the sight allows, in no order. In a unit.

    Of a model with more dimensions than a scan reads, twice as many are taken by the first ones,
    and their cosines are those of the whole vectors.
    """
    vector = question.vector
    rows = sql_queries.rows(  # at least one, with the active model
        "candidates",
        file=FILE,
        model=question.model,
        query=None if vector is None else search_rows.prefix_text(vector=vector),
        request=Jsonb(_search_request(question, sight), dumps=orjson.dumps),
    )
    active, rows = rows[0][0], [row for row in rows if row[1] is not None]
    cosines = {row[1]: row[2] for row in rows if row[2] is not None}
    if vector is not None and question.is_long:
        cosines |= search_rows.whole_cosines(
            key=question.model, vector=vector, memory_ids=tuple(cosines)
        )
    found = []
    for _, memory_id, _, bm25, matched, *others in rows:
        scores = {
            path: score for path, score in zip(PATHS, (bm25, *others), strict=True) if score > 0
        }
        if memory_id in cosines:
            scores[Path.DENSE.value] = cosines[memory_id]
        found.append(FusedCandidate(memory_id=memory_id, scores=scores, matched=matched))
    return active, tuple(found)


def _search_request(question: Question, sight: Sight) -> dict[str, Any]:
    """Return the fields of the SQL type search_request; a filter that is None lets all through."""
    near = [name for name in question.near if len(name) <= text_globs.LONGEST]
    return {
        **{name: getattr(question, name) for name in SAME_IN_SQL},
        **parameters(sight=sight),
        "types": question.type_codes,
        "by_tags": question.tags or None,
        "by_files": question.plain_files or None,
        "by_globs": question.like_files or None,
        "by_modules": question.modules or None,
        "by_author": question.author,
        "by_states": question.states.all_of or None,
        "no_states": question.states.none_of,
        "near": near[:MOST_NEAR],
        "by_topics": question.topics,
        "dense_limit": question.limits[Path.DENSE],
    }


def read_evidence(
    *,
    memory_ids: tuple[UUID, ...],
    sight: Sight,
    asked: query.Query,
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
        identifiers=list(asked.identifiers[:MOST_IDENTIFIERS]),
        keys=list(asked.identifier_keys[:MOST_IDENTIFIERS]),
        with_text=with_text,
        now=now,
        **parameters(sight=sight),
    )
    return {row[0]: _evidence(dict(zip(EVIDENCE, row, strict=True))) for row in rows}


def _evidence(row: Mapping[str, Any]) -> ranking.Evidence:
    idle_days = max(0.0, row["idle_days"])
    is_protected = row["pinned"] or not PROTECTED_TAGS.isdisjoint(row["tags"])
    item = Item.CODE if CODE_TAG in row["tags"] else Item.PROSE
    return ranking.Evidence(
        memory_id=row["id"],
        type=MemoryType(row["type"]),
        source=Source(row["source"]),
        files=tuple(row["files"]),
        age_days=max(0.0, row["age_days"]),
        idle_days=idle_days,
        accesses=row["accesses"] or 0,
        activation_floor=activation_floor(
            governance=Governance(row["governance"]), protected_or_pinned=is_protected
        ),
        confidence=effective_confidence(
            confidence=row["confidence"],
            verification=Verification(row["verification"]),
            half_life_days=row["half_life_days"],
            pinned=row["pinned"],
            is_tainted=row["tainted"],
            days_since_access=idle_days,
        ),
        missing=row["missing"] or 0.0,
        text=row["text"],
        things=frozenset(row["things"]),
        item=Item.DIALOGUE if row["type"] == MemoryType.EPISODE else item,
    )


def read_turns(*, memory_ids: tuple[UUID, ...], sight: Sight) -> dict[UUID, neighborhood.Neighbors]:
    """Return what stands beside these episodes in their sessions, as far as visible. In a unit."""
    rows = sql_queries.filled(
        "turns",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="m"), "seen": visibility.as_sql(alias="c")},
        ids=list(memory_ids),
        **parameters(sight=sight),
    )
    return {row[0]: neighborhood.Neighbors(previous=row[1], next=row[2]) for row in rows}


def find_by_rarest_words(
    *, question: str, projects: tuple[UUID, ...] | None, limit: int, sight: Sight
) -> tuple[tuple[UUID, float], ...]:
    """Return the visible memories with the rarest words of a question, best first, each with the
    share of the words that it has. In a unit."""
    rows = sql_queries.filled(
        "answers",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="k")},
        question=question,
        projects=None if projects is None else list(projects),
        few=FEW,
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple((row[0], row[2]) for row in rows)


def match_pattern(
    *, pattern: patterns.Pattern, question: Question, limit: int, milliseconds: int, sight: Sight
) -> tuple[tuple[UUID, int, int, str], ...]:
    """Return the newest memories that a regular expression matches. In a unit.

    Of each its id, where the first match begins and ends (from 0, the end behind it), and its text.
    Raises PatternRefused, TookTooLong; the unit is over with either.
    """
    sql_queries.rows("be_quick", file=LOOKUPS, milliseconds=str(milliseconds))
    literal = "".join(text_globs.LITERAL.get(sign, sign) for sign in pattern.literal)
    try:
        rows = _lookup(
            "matching",
            question,
            sight,
            parts={"literal": ANY_CASE if pattern.ignores_case else EXACTLY},
            pattern=pattern.text,
            flags=pattern.flags,
            literal=f"%{literal}%",
            limit=limit,
        )
    except DataError as error:
        cause = error.__cause__
        if not isinstance(cause, postgres.InvalidRegularExpression):
            raise
        why = str(cause.diag.message_primary).removeprefix("invalid regular expression: ")
        raise PatternRefused(why) from error
    except OperationalError as error:
        if not isinstance(error.__cause__, postgres.QueryCanceled):
            raise
        raise TookTooLong(f"stopped after {milliseconds} ms") from error
    sql_queries.execute("take_time", file=LOOKUPS)
    return tuple((row[0], row[1] - 1, row[2] - 1, row[3]) for row in rows)


def find_similar(
    *, memory_id: UUID, question: Question, limit: int, sight: Sight
) -> tuple[tuple[UUID, float], ...]:
    """Return the nearest memories with their cosines, none when it has no vector. In a unit."""
    rows = _lookup("similar", question, sight, memory_id=memory_id, limit=limit)
    return tuple((row[0], row[1]) for row in rows)


def find_similar_words(
    *, memory_id: UUID, question: Question, limit: int, sight: Sight
) -> tuple[tuple[UUID, float], ...]:
    """Return the memories that share most words, with the share of its own, 0..1. In a unit."""
    rows = _lookup("similar_words", question, sight, memory_id=memory_id, limit=limit)
    return tuple((row[0], min(1.0, row[1])) for row in rows)


def find_about_files(
    *, files: tuple[str, ...], closeness: int, question: Question, limit: int, sight: Sight
) -> tuple[tuple[tuple[UUID, int], ...], ...]:
    """Return for each file, in their order, the memories about it, closest first. In a unit.

    Closeness is 0 for the file, 1 for one whose path ends alike, 2 for its folder.
    """
    is_by_folder = closeness >= OF_ITS_FOLDER
    rows = _lookup(
        "about_files",
        question,
        sight,
        parts={"called": "TRUE" if is_by_folder else sql_queries.text("called", file=LOOKUPS)},
        paths=list(files),
        closeness=closeness,
        limit=limit,
    )
    found: dict[int, list[tuple[UUID, int]]] = {place: [] for place in range(1, len(files) + 1)}
    for place, memory_id, close in rows:
        found[place].append((memory_id, close))
    return tuple(tuple(of_one) for of_one in found.values())


def list_of_thing(
    *, thing: Thing, question: Question, limit: int, sight: Sight
) -> tuple[UUID, ...]:
    """Return the memories that name a thing, the most important first. In a unit."""
    types, keys = entities.columns(names=thing.names)
    rows = _lookup("of_thing", question, sight, named_types=types, named_keys=keys, limit=limit)
    return tuple(row[0] for row in rows)


def list_of_modules(
    *, modules: tuple[str, ...], question: Question, limit: int, sight: Sight
) -> tuple[UUID, ...]:
    """Return the memories of some modules, the most important first. In a unit."""
    rows = _lookup("of_modules", question, sight, named_modules=list(modules), limit=limit)
    return tuple(row[0] for row in rows)


def list_always_in_effect(*, question: Question, limit: int, sight: Sight) -> tuple[UUID, ...]:
    """Return what is in effect whatever the task, the firmest first, then the latest reflection.

    In a unit.
    """
    rows = _lookup("standing", question, sight, limit=limit)
    return tuple(dict.fromkeys(row[0] for row in rows))


def list_timeline(
    *,
    question: Question,
    start: datetime | None,
    end: datetime | None,
    after: tuple[datetime, UUID] | None,
    limit: int,
    sight: Sight,
) -> tuple[tuple[UUID, datetime], ...]:
    """Return memories with when they happened, oldest first, behind a place. In a unit."""
    after_at, after_id = after or (None, None)
    rows = _lookup(
        "timeline",
        question,
        sight,
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
    sight: Sight,
    *,
    parts: Mapping[str, str] | None = None,
    **more: Any,
) -> list[tuple[Any, ...]]:
    """Run a lookup with the filters of a question; visibility is asked of the row that it reads."""
    chosen = sql_queries.text("chosen", file=LOOKUPS)
    if name in _OF_VECTORS:
        filters = {"chosen": chosen, "visible": visibility.as_sql(alias="v")}
    else:
        narrowed = sql_queries.text("narrowed", file=LOOKUPS)
        visible = visibility.as_sql(alias="m")
        filters = {"narrowed": narrowed.replace("{visible}", visible).replace("{chosen}", chosen)}
    codes = question.type_codes
    return sql_queries.filled(
        name,
        file=LOOKUPS,
        parts={**filters, **(parts or {})},
        projects=None if question.projects is None else list(question.projects),
        codes=None if codes is None else list(codes),
        types=None if codes is None else [_TYPES[code] for code in codes],
        moment=question.moment,
        since=question.since,
        until=question.until,
        is_narrowed=bool(question.tags or question.author or question.files)
        or question.topics is not None,
        topics=None if question.topics is None else list(question.topics),
        tags=list(question.tags),
        authors=[question.author] if question.author else [],
        in_files=bool(question.files),
        files=question.plain_files,
        globs=question.like_files,
        **more,
        **parameters(sight=sight),
    )
