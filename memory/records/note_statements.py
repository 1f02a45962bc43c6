"""Why a memory is not what its note says: the reasons that stand with it.

A memory whose statement is gone is stale, or waits for a person where an agent may not make it so.
Once somebody has decided, or its words are others, it stands without the statement: its coming back
then ends no wait.
"""

from typing import Final

GONE: Final = "its statement is no longer in the note"
REMOVED: Final = "its note was removed"
HELD: Final = "its statement is gone"  # of what a person must look at
STANDS: Final = "it stands without its statement"
WITHOUT: Final = frozenset({GONE, REMOVED, HELD, STANDS})


def decided(*, reason: str, in_person: bool) -> str:
    """Return the reason that stands once a memory was kept; a token ends a wait, no staleness."""
    ended = {GONE, REMOVED, HELD} if in_person else {HELD}
    return STANDS if reason in ended else reason


def reworded(*, reason: str) -> str:
    """Return the reason that stands once a memory says something else."""
    return STANDS if reason == HELD else reason
