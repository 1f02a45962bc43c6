"""What came of a memory that was given to a session, as far as its events tell.

Nobody is asked, so most is unknown, and that is what is said then. A memory was wrong when it was
corrected, replaced or rejected while the session ran; it was used when the agent cited it, or when
a file that it names was changed afterwards; it was ignored when the work went on and touched none
of its files again. One that names no file and is not cited may have helped or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

WENT_ON: Final = 5  # deeds after which work has gone on without it, ours
CITED: Final = "Memory: {citation}"  # as `memory.search.packing` writes it


class Came(StrEnum):
    """What came of it."""

    USED = "used"
    IGNORED = "ignored"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A memory that was given, `after` the row with that id was stored, and what is known of it."""

    memory_id: UUID
    files: frozenset[str]
    after: int
    is_cited: bool = False
    is_wrong: bool = False


def outcome(*, given: Given, scratchpad: Scratchpad, rows: Mapping[int, int]) -> Came:
    """Say what came of a memory; `rows` has by the sequences of events the ids of their rows."""
    if given.is_wrong:
        return Came.WRONG
    deeds = scratchpad.deeds.values()
    later = [deed for deed in deeds if rows.get(deed.sequence, 0) > given.after]
    near = [deed for deed in later if _is_about(deed, given.files)]
    if given.is_cited or any(deed.act is Act.EDIT for deed in near):
        return Came.USED
    is_passed = bool(given.files) and not near and len(later) >= WENT_ON
    return Came.IGNORED if is_passed and not scratchpad.dropped else Came.UNKNOWN


def is_cited(*, citation: str, said: tuple[str, ...]) -> bool:
    """Say whether one of the agent's texts cites a memory as it was told to."""
    mark = CITED.format(citation=citation)
    return bool(citation) and any(mark in text for text in said)


def _is_about(deed: Deed, files: frozenset[str]) -> bool:
    """Say whether a deed touched one of some files, which may be named from elsewhere."""
    return deed.act in {Act.READ, Act.EDIT} and any(
        deed.target == path or deed.target.endswith(f"/{path}") for path in files
    )
