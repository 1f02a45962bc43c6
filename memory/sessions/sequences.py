"""Whose numbers follow each other: what a gap between two sequence numbers tells.

Each writer has a run of numbers of its own. Most count by ones, so what a gap leaves out is
missing. A transcript's number follows from its line, and lines may say nothing, so no gap in its
run tells of anything missing; its subagents have blocks of numbers far behind. Who begins more
than a line's numbers behind the beginning of its run counts by lines.
"""

from typing import Final

LINE: Final = 128  # numbers a line of a transcript, the command line's
FIRST_BLOCK: Final = 2**30  # where the numbers of subagents begin, the command line's
BLOCK: Final = 2**21  # of them for each, the command line's


def begin(*, sequence: int) -> int:
    """Return the number before the first that the writer of a number may give."""
    if sequence <= FIRST_BLOCK:
        return 0
    return sequence - 1 - (sequence - 1 - FIRST_BLOCK) % BLOCK


def is_by_lines(*, first: int) -> bool:
    """Say whether a writer whose first number this is counts by lines."""
    return first - begin(sequence=first) > LINE
