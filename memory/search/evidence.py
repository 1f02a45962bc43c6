"""What is known of a candidate besides its paths: what profiles, boosts and relevance look at.

In the flow: `memory.search.queries` reads it for the candidates of a search in one statement;
everything pure after fusion takes it from here.
"""

from dataclasses import dataclass
from uuid import UUID

from memory.search.candidates import Item
from memory.taxonomy import MemoryType, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One candidate: ages in days, beliefs and shares 0..1.

    `idle_days`: since it was last used, confirmed or changed; `missing`: the share of the query's
    identifiers that stand nowhere in it, in no spelling; `text`: what a reranker reads, empty when
    none is asked, and then `things`, the keys of what it names, are not read either.
    """

    memory_id: UUID
    type: MemoryType
    source: Source
    files: tuple[str, ...] = ()
    age_days: float = 0.0
    idle_days: float = 0.0
    accesses: int = 0
    activation_floor: float = 0.0
    confidence: float = 1.0
    missing: float = 0.0
    text: str = ""
    things: frozenset[str] = frozenset()
    item: Item = Item.PROSE
