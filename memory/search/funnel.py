"""How many memories each step of a search kept, from the paths to what is shown."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from memory.search.ranking import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """Found by each path, together, judged (the best of them), and relevant enough to be shown."""

    paths: Mapping[str, int]
    found: int
    judged: int
    shown: int
    threshold: float


def of(*, standings: tuple[Standing, ...], limit: int, shown: int, threshold: float) -> Funnel:
    """Count the steps of a search that judged the first `limit` standings and showed some."""
    paths = Counter(part.path for one in standings for part in one.fused.contributions)
    return Funnel(
        paths=dict(sorted(paths.items())),
        found=len(standings),
        judged=min(limit, len(standings)),
        shown=shown,
        threshold=threshold,
    )
