"""A candidate of a search: one memory and what each path said about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class Path(StrEnum):
    """The ways a memory can be found; the columns of the table of weights."""

    DENSE = "dense"
    KEYWORD = "keyword"
    GRAPH = "graph"
    ENTITIES = "entities"
    COMMUNITIES = "communities"  # in a topic of the first hits


class Item(StrEnum):
    """What a memory is made of; how much its meaning counts beside its words."""

    PROSE = "prose"
    DIALOGUE = "dialogue"  # a turn of a session
    CODE = "code"  # source text


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory with its score on each path that found it; higher is better on all of them.

    `ranks` (0 = best) are for paths that have an order and no score.
    """

    memory_id: UUID
    scores: Mapping[str, float]
    ranks: Mapping[str, int] = field(default_factory=dict)
    item: Item = Item.PROSE
