"""Small upkeep of what searches read: word counts, access counts, and vectors that are missing."""

from typing import Final

from accounts import jobs, tenancy
from memory.index.actions import embedding, indexing, model_switch
from memory.index.sql import search_rows

DRIFT: Final = 0.10  # share by which the collection must have changed before words are recounted
BULK_NAME: Final = "memory.embed_bulk"
EMBED_NAMES: Final = ("memory.embed", BULK_NAME)
REFUSED_NAMES: Final = (*EMBED_NAMES, model_switch.SWITCH)
MOST_MISSING: Final = 200  # memories an organization and slot, so that a sweep never floods a queue


def refresh_lexicon() -> int:
    """Recount words when the collection has changed by a tenth; return how many, 0 when not."""
    with tenancy.unit():
        present, counted = search_rows.lexicon_drift()
        indexing.queue_when_large(live=present)
        if abs(present - counted) <= DRIFT * counted:
            return 0
        return search_rows.refresh_lexicon()


def merge_access() -> int:
    """Count what searches gave out since the last merge; return how many memories."""
    with tenancy.unit():
        return search_rows.merge_access()


def embed_missing() -> int:
    """Queue the embedding of memories that no job will give a vector; return how many.

    A refused embedding is tried again after an hour, because what refused it may have been mended;
    one that was put aside waits for a person. A switch of models whose job was lost goes on; where
    the installation names another model than the organization has, one begins.
    """
    model_switch.resume()
    model_switch.follow_installation()
    with tenancy.unit():
        missing = search_rows.unembedded(limit=MOST_MISSING)
        known = jobs.known_keys(names=EMBED_NAMES, keys=tuple(id.hex for id in missing))
        left = {id: layer for id, layer in missing.items() if id.hex not in known}
        for id, layer in left.items():
            embedding.enqueue(layers={id: layer}, name=BULK_NAME)
        again = jobs.retry_refused(names=REFUSED_NAMES, limit=MOST_MISSING)
    return len(left) + again
