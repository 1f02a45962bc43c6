"""Typed callers of the queries about named things (spec 2.6)."""

from collections.abc import Iterable
from typing import Final

from memory.intake.names import TYPE_CODES
from memory.models import Memory
from memory.sql import named

FILE: Final = "entities.sql"


def write(*, rows: Iterable[Memory]) -> None:
    """Store what new memories name. In a unit."""
    every = [(row, name) for row in rows for name in row.names]
    if not every:
        return
    named.execute(
        "write",
        file=FILE,
        ids=[row.id for row, _ in every],
        types=[TYPE_CODES[name.type] for _, name in every],
        keys=[name.key for _, name in every],
        names=[name.written for _, name in every],
        audiences=[row.audience for row, _ in every],
        projects=[row.project_id for row, _ in every],
    )


def rewrite(*, row: Memory) -> None:
    """Store what a changed memory names now, in the place where it is now. In a unit."""
    named.execute("forget", file=FILE, memory_id=row.id)
    write(rows=(row,))
