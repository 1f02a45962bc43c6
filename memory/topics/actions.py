"""Sort an organization's memories into topics: the nightly work.

Place by place: what a place's memories are sorted by is read in one unit, sorted outside of any,
and written in another. A memory that moved or went meanwhile is left out there; one that came
meanwhile joined a topic by itself, or joins one in the next night.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from accounts import jobs, tenancy
from accounts.identifiers import new_id
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.topics import clustering
from memory.topics import queries as stored
from memory.topics.clustering import Subject, Vectors
from memory.topics.queries import SubjectRow, TopicScope

JOB: Final = "memory.sort_topics"
MOST: Final = 50_000  # memories of a place: a minute of CPU and 1 GB; the others join by nearness
BATCH: Final = 1_000  # memories that join at once
TAG: Final = 0.5  # of a shared tag beside a shared file or name; default, not measured
FIRST: Final = UUID(int=0)  # every id comes after it

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """What came of it: places looked at, topics there are now, memories that are in one."""

    places: int
    topics: int
    memories: int


def queue() -> None:
    """Queue the sorting of the organization, once however often it is asked for."""
    with tenancy.unit():
        jobs.enqueue(JOB, payload={}, key="topics")


def sort_topics(*, now: datetime, tell: Tell) -> Sorted:
    """Sort every place of the organization; `tell` is given memories looked at, and all."""
    with tenancy.unit():
        places = stored.places()
    total, done, kept, inside = sum(place.memories for place in places), 0, 0, 0
    for place in places:
        found = _sort(place, now)
        kept, inside = kept + len(found), inside + sum(len(one.members) for one in found)
        done += place.memories
        tell(done, total)
    return Sorted(places=len(places), topics=kept, memories=inside)


def _sort(place: TopicScope, now: datetime) -> tuple[clustering.Topic, ...]:
    with tenancy.unit():
        model_id = embedding.active_model()[0]
        rows = stored.subjects(place=place, model_id=model_id, most=MOST)
        links, before = stored.links(place=place), stored.before(place=place)
    position = {row.memory_id: number for number, row in enumerate(rows)}
    found = clustering.sort(
        subjects=tuple(
            Subject(
                memory_id=row.memory_id,
                words=clustering.words_of(text=row.content),
                marks={
                    **{f"tag {tag}": TAG for tag in row.tags},
                    **{f"file {file}": 1.0 for file in row.files},
                    **{f"name {name}": 1.0 for name in row.names},
                },
            )
            for row in rows
        ),
        vectors=_vectors(rows),
        links=tuple(
            (position[source], position[target], confidence)
            for source, target, confidence in links
            if source in position and target in position
        ),
        before=before,
    )
    with tenancy.unit():
        stored.write(
            place=place,
            topics=tuple((topic.id or new_id(), topic) for topic in found),
            versions={row.memory_id: row.version for row in rows},
            model_id=model_id,
            now=now,
        )
    if place.memories > MOST:
        _let_others_join(place)
    return found


def _vectors(rows: tuple[SubjectRow, ...]) -> Vectors:
    """Return unit vectors, a row a memory; zeros where it has none."""
    width = max((len(row.unit) for row in rows), default=1)
    vectors = np.zeros((len(rows), max(width, 1)), dtype=np.float32)
    for place, row in enumerate(rows):
        length = float(np.linalg.norm(row.unit))
        if length:
            vectors[place] = row.unit / length
    return vectors


def _let_others_join(place: TopicScope) -> None:
    after = FIRST
    while True:
        with tenancy.unit():
            ids = stored.left_out(place=place, after=after, limit=BATCH)
            if not ids:
                return
            index_queries.follow_topics(memory_ids=ids)
        after = ids[-1]
