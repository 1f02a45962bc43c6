"""Memories as they are read, made of a few fields without a database."""

from dataclasses import fields
from uuid import UUID

from memory.records.queries.views import MemoryView
from memory.taxonomy import MemoryType


def view(number: int = 1, type: MemoryType = MemoryType.GOTCHA, **given: object) -> MemoryView:
    """Return a memory that nothing stands against; what is not given is empty."""
    usual: dict[str, object] = {
        **{one.name: None for one in fields(MemoryView)},
        "id": UUID(int=number),
        "type": type.value,
        "own_type": "",
        "content": "Tokens are renewed by the hook, not by the view.",
        "related_files": (),
        "attributes": {},
        "effective_confidence": 0.8,
        "needs_review": False,
        "status": "active",
        "source": "agent_explicit",
        "verification": "unverified",
        "confidence": 0.8,
        "taint_reason": "",
    }
    return MemoryView(**{**usual, **given})  # type: ignore[arg-type]
