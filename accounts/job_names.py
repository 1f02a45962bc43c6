"""The names of all background work, and the queue of each."""

from collections.abc import Mapping
from typing import Final

QUEUES: Final = ("interactive", "extraction", "bulk", "maintenance")

NAMES: Final[Mapping[str, str]] = {
    "accounts.tell_leak": "interactive",
    "graph.resolve": "bulk",
    "memory.embed": "interactive",
    "memory.consolidate": "extraction",
    "memory.judge_added": "extraction",
    "memory.observe": "extraction",
    "memory.synthesize": "maintenance",
    "memory.embed_bulk": "bulk",
    "memory.run_import": "bulk",
    "memory.switch_model": "bulk",
    "memory.roll_back": "bulk",
    "memory.drop_vectors": "maintenance",
    "memory.refresh_lexicon": "maintenance",
    "memory.index_search": "maintenance",
    "memory.sort_topics": "maintenance",
    "memory.read_names": "maintenance",
    "memory.join_names": "maintenance",
    "memory.prove": "maintenance",
    "memory.enrich_entities": "maintenance",
}
