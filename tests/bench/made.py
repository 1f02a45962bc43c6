"""Memories made in bulk for measuring: real words, clustered vectors, written by the database.

A text is two windows of 20 to 40 words of docstrings that stand near each other. Its vector is
that of the docstring it begins in, moved by differences of real vectors, near and far: so vectors
lie in clusters with the covariance of real ones. Each memory has one of 25 tags and names four
things; every second is about a file of a module, one of fifty is archived. Texts reach the server
by COPY into a table that only this connection sees; everything else is a copy of one memory that
the product itself has stored, so the rows keep step with the product's tables. Ten thousand take
some seconds, a million some minutes.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import psycopg
from django.db import connection, models
from django.utils import timezone
from pgvector import HalfVector
from psycopg import sql

from accounts import tenancy
from accounts.caller import Caller
from memory.entities.models import Mention
from memory.index.actions import embedding, maintenance
from memory.index.models import Lexeme, MemoryKeyword, MemoryVector
from memory.intake.actions.remember import remember_all
from memory.intake.validation import NewMemory
from memory.providers import registry
from memory.records.models import Memory
from memory.taxonomy import MemoryType, type_row
from teams.actions import create_project
from tests.bench.texts import docstrings

SOURCES = 3_000  # docstrings whose words and vectors everything is made of
NOISES = 4_096
NEAR, FAR = 0.5, 0.25  # shares of the two moves from the source's vector
SHORTEST, LONGEST = 20, 40  # words a window
APART = 400  # words between the two windows of a text, at most
NARROW_EVERY = 20  # of twenty memories one is in the narrow project
PART = 50_000  # rows a statement
PROJECTS = ("bench", "narrow")
SEED = "CREATE UNLOGGED TABLE seeds.{name} (n int PRIMARY KEY, unit public.halfvec)"
MADE = (
    "CREATE TEMP TABLE made (n int, id uuid DEFAULT gen_random_uuid(), content text, source int,"
    " near int, far int, days float8)"
)
TYPES = ("fact", "gotcha", "decision", "pattern")
TAGS, MODULES, FILES = 25, 40, 2_500  # different ones; every second memory has a module and a file
NAMES_EACH, NAMES = 4, 20_000  # things that a memory names, and different ones
CREATED = "t.created_at - made.days * interval '1 day'"
TYPE = f"(ARRAY{list(TYPES)})[1 + made.n % {len(TYPES)}]"
CODE = (
    f"(ARRAY{[type_row(type=MemoryType(name)).code for name in TYPES]})[1 + made.n % {len(TYPES)}]"
)
ENDED = "made.n % 50 = 7"  # what is archived
ON = "made.n % 2 = 0"  # what is about a file of a module
TAGGED = f"ARRAY['tag-' || made.n % {TAGS}]"
ABOUT = (
    f"CASE WHEN {ON} THEN ARRAY['src/part' || made.n / 2 % 100"
    f" || '/file' || made.n / 2 % {FILES} || '.py'] ELSE '{{}}' END"
)
OF_MODULE = f"CASE WHEN {ON} THEN ARRAY['module-' || made.n / 2 % {MODULES}] ELSE '{{}}' END"
IN_REVIEW = "made.n % 500 = 3"
SEARCHED = {
    "memory_id": "made.id",
    "project_id": "place.id",
    "audience": "place.id",
    "type_code": CODE,
    "live": f"NOT ({ENDED})",
    "known_from": "t.known_from - made.days * interval '1 day'",
    "known_until": f"CASE WHEN {ENDED} THEN t.known_from END",
}
MENTIONED = f"""
INSERT INTO memory_mention (memory_id, type_code, key, name, audience, project_id)
SELECT DISTINCT made.id, 1, 'thing' || one.number, 'Thing' || one.number, place.id, place.id
FROM made
JOIN teams_project AS place
    ON place.slug = CASE made.n %% %(every)s WHEN 0 THEN %(narrow)s ELSE %(wide)s END
CROSS JOIN LATERAL (
    SELECT floor({NAMES} * power(
        (made.n * 7919::bigint + each * 104729) %% 100003 / 100003.0, 3))::int AS number
    FROM generate_series(1, {NAMES_EACH}) AS each) AS one
"""
REPLACED: Mapping[type[models.Model], Mapping[str, str]] = {
    Memory: {
        "id": "made.id",
        "project_id": "place.id",
        "audience": "place.id",
        "content": "made.content",
        "content_hash": "encode(sha256(convert_to(made.content || made.n, 'UTF8')), 'hex')",
        "citation": "left(made.content, 40)",
        "created_at": CREATED,
        "updated_at": CREATED,
        "valid_from": CREATED,
        "external_id": "''",
        "type": TYPE,
        "tags": TAGGED,
        "related_files": ABOUT,
        "related_modules": OF_MODULE,
        "status": f"CASE WHEN {ENDED} THEN 'archived' ELSE 'active' END",
        "valid_until": f"CASE WHEN {ENDED} THEN t.valid_from END",
        "verification": "CASE made.n % 10 WHEN 0 THEN 'verified' ELSE 'unverified' END",
        "needs_review": IN_REVIEW,
    },
    MemoryKeyword: {
        **SEARCHED,
        "facets": f"facets_of({TAGGED}, {ABOUT}, {OF_MODULE}, NULL, '', 'import', states_of("
        f"CASE WHEN {ENDED} THEN 'archived' ELSE 'active' END, false, {IN_REVIEW}, false))",
        "lexemes": "words.found",
        "weights": "bm25_weights(words.found)",
    },
    MemoryVector: {
        **SEARCHED,
        "unit": "l2_normalize(source.unit + near.unit + far.unit)",
        "text_hash": "md5(made.content)",
    },
}
JOINED = """
FROM made
JOIN teams_project AS place
    ON place.slug = CASE made.n % {every} WHEN 0 THEN {narrow} ELSE {wide} END
JOIN seeds.sources AS source ON source.n = made.source
JOIN seeds.noises AS near ON near.n = made.near
JOIN seeds.far_noises AS far ON far.n = made.far
CROSS JOIN (SELECT * FROM {table} ORDER BY {key} LIMIT 1) AS t
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What texts and vectors are made of: words in a row, where sources begin, unit vectors."""

    words: tuple[str, ...]
    source_of_word: tuple[int, ...]
    vectors: np.ndarray


@cache
def material() -> Material:
    """Read the docstrings and embed them with the installation's embedder, once a process."""
    sources = docstrings(count=SOURCES)
    words = [(word, number) for number, text in enumerate(sources) for word in text.split()]
    embedder = registry.embedder(tenant="bench")
    parts = [sources[start : start + 64] for start in range(0, len(sources), 64)]
    vectors = np.vstack([embedder.embed_documents(texts=part) for part in parts])
    return Material(
        words=tuple(word for word, _ in words),
        source_of_word=tuple(number for _, number in words),
        vectors=vectors,
    )


def load(*, caller: Caller, count: int, seed: int = 1) -> None:
    """Fill the entered organization with so many memories in two projects, ready for searches."""
    now = timezone.now()
    for slug in PROJECTS:
        create_project(caller=caller, slug=slug, name=slug, now=now)
    first = NewMemory(
        content=_text(random.Random(0)), source="import", project="bench", type="fact"
    )
    added = remember_all(caller=caller, new=(first,), now=now)[0].memory
    assert added is not None
    embedding.embed_batch(memory_ids=(added.id,))
    tenant = tenancy.current()
    with connection.as_owner():
        parameters = connection.get_connection_params()
    with psycopg.connect(**parameters) as line:
        line.execute(
            tenancy.TURN_KEYS.replace("true", "false"),
            (f'"{tenant.schema_name}", public', str(tenant.organization_id)),
        )
        _sow(line)
        _fill(line, count, random.Random(seed))
    maintenance.refresh_lexicon()
    _settle(parameters, tenant.schema_name)


def queries(*, count: int, seed: int = 99) -> tuple[str, ...]:
    """Return questions of seven words that stand together somewhere."""
    chance, words = random.Random(seed), material().words
    starts = [chance.randrange(len(words) - 7) for _ in range(count)]
    return tuple(" ".join(words[start : start + 7]) for start in starts)


def _sow(line: psycopg.Connection[Any]) -> None:
    """Put the vectors that everything is made of into the database, once."""
    if line.execute("SELECT to_regclass('seeds.far_noises')").fetchone() != (None,):
        return
    line.execute("CREATE SCHEMA seeds")
    vectors = material().vectors
    pairs = np.random.default_rng(7).integers(0, len(vectors), (2, NOISES))
    moves = vectors[pairs[0]] - vectors[pairs[1]]
    for name, rows in (("sources", vectors), ("noises", NEAR * moves), ("far_noises", FAR * moves)):
        line.execute(sql.SQL(SEED).format(name=sql.Identifier(name)))
        with line.cursor().copy(f"COPY seeds.{name} FROM STDIN") as copy:
            for number, row in enumerate(rows):
                copy.write_row((number, HalfVector(row).to_text()))
    line.commit()


def _fill(line: psycopg.Connection[Any], count: int, chance: random.Random) -> None:
    line.execute(MADE)
    for start in range(0, count - 1, PART):
        line.execute("TRUNCATE made")
        with line.cursor().copy(
            "COPY made (n, content, source, near, far, days) FROM STDIN"
        ) as copy:
            for row in _rows(range(start, min(start + PART, count - 1)), chance):
                copy.write_row(row)
        line.execute("ANALYZE made")
        for model, replaced in REPLACED.items():
            line.execute(_copied(model, replaced))
        projects = {"every": NARROW_EVERY, "narrow": PROJECTS[1], "wide": PROJECTS[0]}
        line.execute(MENTIONED, projects)
        line.commit()


def _rows(numbers: range, chance: random.Random) -> Iterator[tuple[Any, ...]]:
    made = material()
    for number in numbers:
        start = chance.randrange(len(made.words) - APART - LONGEST)
        second = start + chance.randrange(APART)
        windows = (
            made.words[at : at + chance.randint(SHORTEST, LONGEST)] for at in (start, second)
        )
        text = " ".join(word for window in windows for word in window)
        moves = (chance.randrange(NOISES), chance.randrange(NOISES))
        yield (number, text, made.source_of_word[start], *moves, chance.random() * 365)


def _text(chance: random.Random) -> str:
    return str(next(_rows(range(1), chance))[1])


def _copied(model: type[models.Model], replaced: Mapping[str, str]) -> sql.Composed:
    """Return the statement that repeats the first row of a table with what was made."""
    columns = [
        str(field.column)
        for field in model._meta.concrete_fields
        if not isinstance(field, models.AutoField)
    ]
    values = [sql.SQL(replaced.get(name, f't."{name}"')) for name in columns]
    words = " CROSS JOIN LATERAL words_of(made.content) AS words(found)"
    joined = sql.SQL(JOINED + (words if model is MemoryKeyword else "")).format(
        every=sql.Literal(NARROW_EVERY),
        narrow=sql.Literal(PROJECTS[1]),
        wide=sql.Literal(PROJECTS[0]),
        table=sql.Identifier(model._meta.db_table),
        key=sql.Identifier(str(model._meta.pk.column)),
    )
    head = sql.SQL("INSERT INTO {table} ({columns}) SELECT {values}").format(
        table=sql.Identifier(model._meta.db_table),
        columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
        values=sql.SQL(", ").join(values),
    )
    return head + joined


def _settle(parameters: Mapping[str, Any], schema_name: str) -> None:
    """Do what autovacuum would have done by the time someone searches."""
    tables = (*REPLACED, Mention, Lexeme)
    names = (sql.Identifier(schema_name, model._meta.db_table) for model in tables)
    with psycopg.connect(**parameters, autocommit=True) as line:
        line.execute(sql.SQL("VACUUM ANALYZE ") + sql.SQL(", ").join(names))
