"""Memories in answers of modules that do not use models yet."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.schemas import FREE, TEXT, TRUTH, record, ref, several
from memory.api.schemas.memories import Memory, with_sides
from memory.customization.methodology import OnComplete
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView

SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Methodology": record(
        name=TEXT,
        phases=FREE,
        is_own=TRUTH,
        relays=several(record(**{"from": TEXT, "to": TEXT, "types": several(TEXT)})),
        on_complete=several({"type": "string", "enum": [*OnComplete]}),
        types=several(record(name=TEXT, base=TEXT, says=TEXT)),
    ),
    "Methodologies": record(items=several(ref("Methodology"))),
}


def memory(view: MemoryView) -> dict[str, Any]:
    """Return a memory."""
    return Memory.model_validate(view).model_dump()


def together(view: MemoryView, others: tuple[Contradiction, ...]) -> dict[str, Any]:
    """Return a memory with what contradicts it."""
    return with_sides(view, others).model_dump()
