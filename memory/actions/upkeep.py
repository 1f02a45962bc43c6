"""Small upkeep of what searches read: word counts and access counts."""

from typing import Final

from accounts import tenancy
from memory.sql import retrieval

DRIFT: Final = 0.10  # share by which the collection must have changed before words are recounted


def refresh_lexicon() -> int:
    """Recount words when the collection has changed by a tenth; return how many, 0 when not."""
    with tenancy.unit():
        present, counted = retrieval.lexicon_drift()
        if abs(present - counted) <= DRIFT * counted:
            return 0
        return retrieval.refresh_lexicon()


def merge_access() -> int:
    """Count what searches gave out since the last merge; return how many memories."""
    with tenancy.unit():
        return retrieval.merge_access()
