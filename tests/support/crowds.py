"""Many memories at once, made from a seed, and the question that asks for some of them.

Rows are written as searches read them; what each holds is known here in plain words, so a test can
say by itself which of them a filter lets through.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid5

import numpy as np

from accounts import tenancy
from accounts.caller import Caller
from memory.entities import queries as entities
from memory.entities.names import Name
from memory.entities.rules import EntityType
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.index.models import EmbeddingModel
from memory.records.models import Memory
from memory.search import query
from memory.search.fusion import FusedCandidate
from memory.search.queries import find_candidates
from memory.search.request import SearchRequest, SearchScope, question_of
from teams import visibility
from teams.models import Project

SPACE = UUID(int=0xC0)
MODEL = "crowd/8"
DIMENSIONS = 8
TYPES = ("fact", "gotcha", "decision")
TAGS = ("auth", "billing", "cache", "deploy")
FILES = ("billing/parser.py", "src/billing/parser.py", "web/parser.py", "web/app.tsx", ".env")
AUTHORS = ("claude-code", "Codex", "cursor")
MODULES = ("Auth", "parser", "web")
ENDS = ("active", "active", "active", "superseded", "archived", "deleted")
WORDS = ("lantern", "harbor", "copper", "violin", "meadow", "engine", "ladder", "pepper")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One of a crowd, in plain words."""

    id: UUID
    text: str
    type: str
    project: UUID | None
    tags: tuple[str, ...]
    files: tuple[str, ...]
    agent: str
    known_from: datetime
    modules: tuple[str, ...]
    states: frozenset[str]
    confidence: float
    vector: tuple[float, ...]


def crowd(
    *, size: int, projects: tuple[UUID, ...], now: datetime, varied: bool = False
) -> tuple[Member, ...]:
    """Make up a crowd, of active ones or in any state; the same one each time."""
    random = Random(size)
    return tuple(
        Member(
            id=uuid5(SPACE, str(number)),
            text=" ".join(random.sample(WORDS, 3)),
            type=random.choice(TYPES),
            project=random.choice((*projects, None)),
            tags=tuple(random.sample(TAGS, random.randrange(3))),
            files=tuple(random.sample(FILES, random.randrange(3))),
            agent=random.choice(AUTHORS),
            known_from=now - timedelta(days=random.randrange(100)),
            vector=_direction(random),
            modules=tuple(random.sample(MODULES, random.randrange(3))),
            states=_states(random) if varied else frozenset({"active"}),
            confidence=random.randrange(11) / 10,
        )
        for number in range(size)
    )


def make_projects(*names: str) -> tuple[UUID, ...]:
    """Make projects that everybody sees. In a unit."""
    return tuple(Project.objects.create(slug=name, name=name).id for name in names)


def settle(*, members: tuple[Member, ...], caller: Caller, now: datetime) -> None:
    """Store a crowd for the whole organization, with words, names and vectors. In a unit."""
    rows = Memory.objects.bulk_create([_row(one, caller, now) for one in members])
    for row in rows:
        row.names = tuple(named(word) for word in row.content.split())
    entities.write(rows=rows)
    index_queries.write_keywords(
        rows=tuple((one.id, embedding.code_of(one.type), one.text) for one in members)
    )
    model, _ = EmbeddingModel.objects.get_or_create(
        key=MODEL,
        defaults={"dimensions": DIMENSIONS, "prefix_dimensions": DIMENSIONS, "active": True},
    )
    index_queries.write_vectors(
        model_id=model.id,
        rows=tuple((one.id, embedding.code_of(one.type), one.id.hex) for one in members),
        vectors=np.array([one.vector for one in members], dtype=np.float32),
    )


def ask(*, caller: Caller, vector: Any = None, **wanted: Any) -> tuple[FusedCandidate, ...]:
    """Return the candidates of a question; what is not given stays open. In a unit.

    The filters of a request, ids of projects and topics, and fields of a question are taken.
    """
    fields = SearchRequest.__dataclass_fields__.keys() - {"projects", "topics"}
    places = {name: wanted.pop(name) for name in ("projects", "topics") if name in wanted}
    filters = {name: wanted.pop(name) for name in fields & wanted.keys()}
    question = question_of(
        request=SearchRequest(query="", **filters),
        scope=SearchScope(**places),
        asked=query.understand(text=""),
    )
    limits = {"dense_limit": 1_000, "keyword_limit": 1_000, "near": ()}
    embedded = None if vector is None else embedding.Embedded(key=MODEL, vector=vector)
    return find_candidates(
        question={**question, **limits, **wanted},
        embedded=embedded,
        sight=visibility.sight_of(caller=caller),
    ).found


def named(key: str, type: EntityType = EntityType.OTHER) -> Name:
    """Return a name that is written like its key."""
    return Name(type=type, key=key, written=key)


def a_vector(*numbers: float) -> Any:
    """Return a query's vector of unit length."""
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def _states(random: Random) -> frozenset[str]:
    flags = (flag for flag in ("pinned", "review", "stale") if random.random() < 0.3)
    return frozenset({random.choice(ENDS), *flags})


def _direction(random: Random) -> tuple[float, ...]:
    numbers = [random.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = sum(number * number for number in numbers) ** 0.5
    return tuple(number / length for number in numbers)


def _row(one: Member, caller: Caller, now: datetime) -> Memory:
    return Memory(
        id=one.id, content=one.text, content_hash=one.id.hex, citation="", type=one.type,
        scope="organization", audience=caller.organization_id, project_id=one.project,
        tags=list(one.tags), related_files=list(one.files), created_at=now, updated_at=now,
        valid_from=one.known_from, source="import", source_interface="import",
        author_agent=one.agent, related_modules=list(one.modules), confidence=one.confidence,
        status=next(iter(one.states.intersection(ENDS))), pinned="pinned" in one.states,
        needs_review="review" in one.states, stale_at=now if "stale" in one.states else None,
    )  # fmt: skip


def by_words(*, caller: Caller, text: str) -> dict[UUID, FusedCandidate]:
    """Return what the words of a query find, by memory."""
    with tenancy.unit():
        found = ask(caller=caller, words=query.understand(text=text).keyword_text)
    return {one.memory_id: one for one in found}
