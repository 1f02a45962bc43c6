"""Sort an organization's memories into topics: the nightly work.

Place by place: what a place's memories are sorted by is read in one unit, sorted outside of any,
and written in another. A memory that moved or went meanwhile is left out there; one that came
meanwhile joined a topic by itself, or joins one in the next night.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts import jobs, tenancy
from accounts.identifiers import new_id
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.topics import clustering, queries

JOB: Final = "memory.sort_topics"
MOST: Final = 50_000  # memories of a place: a minute of CPU and 1 GB; the others join by nearness
BATCH: Final = 1_000  # memories that join at once

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
        places = queries.places()
    total, done, kept, inside = sum(place.memories for place in places), 0, 0, 0
    for place in places:
        with tenancy.unit():
            model_id = embedding.active_model()[0]
            rows = queries.subject_rows(place=place, model_id=model_id, most=MOST)
            links = queries.links(place=place, memory_ids=(row[0] for row in rows))
            before = queries.before(place=place)
        subjects, vectors = queries.subjects_of(rows=rows)
        found = clustering.sort(subjects=subjects, vectors=vectors, links=links, before=before)
        with tenancy.unit():
            queries.write(
                place=place,
                topics=tuple((topic.id or new_id(), topic) for topic in found),
                versions={row[0]: row[1] for row in rows},
                model_id=model_id,
                now=now,
            )
        if place.memories > MOST:
            _let_others_join(place)
        kept, inside = kept + len(found), inside + sum(len(one.members) for one in found)
        done += place.memories
        tell(done, total)
    return Sorted(places=len(places), topics=kept, memories=inside)


def _let_others_join(place: queries.TopicScope) -> None:
    after = index_queries.FIRST
    while True:
        with tenancy.unit():
            ids = queries.left_out(place=place, after=after, limit=BATCH)
            if not ids:
                return
            index_queries.follow_topics(memory_ids=ids)
        after = ids[-1]
