"""Neighborhood: hits about the files of the best hits rise a little (spec 3.1, stage 4).

The files of the first ten say where the answer is; a memory further down that is about the same
files is likely to belong to it. The boost is `0.3 · shared / max(|files of the first ten|, 1)`,
scaled to the range of the fusion scores, so that it never drowns them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory.retrieval.fusion import Fused

WEIGHT: Final = 0.3  # spec 3.1
FIRST: Final = 10  # ranks whose files are the neighborhood, spec 3.1
LAST: Final = 50  # rank down to which the others may rise, spec 3.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Boost:
    """What the neighborhood added, and how many of its files the memory shares."""

    shared: int
    value: float


def boosts(
    *,
    fused: tuple[Fused, ...],
    files: Mapping[UUID, tuple[str, ...]],
    weight: float = WEIGHT,
) -> dict[UUID, Boost]:
    """Return the boosts of a ranking, best first, of those that share a file; 0..weight."""
    near = {file for item in fused[:FIRST] for file in files.get(item.memory_id, ())}
    if not near:
        return {}
    span = fused[0].score - fused[-1].score
    found = {}
    for item in fused[FIRST:LAST]:
        shared = len(near.intersection(files.get(item.memory_id, ())))
        if shared:
            value = weight * span * shared / len(near)
            found[item.memory_id] = Boost(shared=shared, value=value)
    return found
