"""A project's own phase weights: learned of its sessions, approved by a person.

They stand in the settings of a project, where a search reads its threshold too, so they cost it no
statement. What stands there and is no weight counts as if it were not there. A decision keeps the
one before it, so that it can be taken back, once: what was kept before that is gone. Sessions count
for a proposal from the last decision on, or from when one was taken back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from memory.customization.phases import Own, Phase
from memory.taxonomy import MemoryType

KEPT: Final = "phase_weights"  # settings of a project
LOWEST: Final = 0.8  # the range of the table
HIGHEST: Final = 1.4  # likewise
_TYPES: Final = {one.value: one for one in MemoryType}
_PHASES: Final = {one.value: one for one in Phase}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A project's own weights, when a person decided last, and what was kept before that.

    `before` is None where nothing can be taken back; sessions count from `counts_since` on.
    """

    weights: Own = field(default_factory=dict)
    decided_at: datetime | None = None
    counts_since: datetime | None = None
    before: Mapping[str, Any] | None = None


NOTHING: Final = Decided()


def read(*, settings: Mapping[str, Any]) -> Decided:
    """Return what a project's settings say."""
    kept = settings.get(KEPT)
    if not isinstance(kept, dict):
        return NOTHING
    before, decided_at = kept.get("before"), _moment(kept.get("decided_at"))
    return Decided(
        weights=_weights(kept.get("weights")),
        decided_at=decided_at,
        counts_since=_moment(kept.get("counts_since")) or decided_at,
        before=before if decided_at and isinstance(before, dict) else None,
    )


def decided(*, settings: Mapping[str, Any], weights: Own, now: datetime) -> dict[str, Any]:
    """Return the settings after a decision, which remembers what was kept before it."""
    kept = settings.get(KEPT)
    known = kept.items() if isinstance(kept, dict) else ()
    before = {name: value for name, value in known if name != "before"}
    return {
        **settings,
        KEPT: {
            "weights": {
                phase.value: {type.value: weight for type, weight in own.items()}
                for phase, own in weights.items()
            },
            "decided_at": now.isoformat(),
            "before": before,
        },
    }


def undone(*, settings: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the settings as they were before the last decision; sessions count from now on.

    Settings of which nothing can be taken back are returned as they are.
    """
    before = read(settings=settings).before
    if before is None:
        return dict(settings)
    return {**settings, KEPT: {**before, "counts_since": now.isoformat()}}


def joined(*, own: Own, changes: Own) -> Own:
    """Return a project's own weights with some of them changed."""
    phases = (*own, *(phase for phase in changes if phase not in own))
    return {phase: {**own.get(phase, {}), **changes.get(phase, {})} for phase in phases}


def _weights(kept: Any) -> Own:
    if not isinstance(kept, dict):
        return {}
    return {
        _PHASES[phase]: {
            _TYPES[type]: float(weight)
            for type, weight in own.items()
            if type in _TYPES and _is_weight(weight)
        }
        for phase, own in kept.items()
        if phase in _PHASES and isinstance(own, dict)
    }


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and LOWEST <= value <= HIGHEST


def _moment(kept: Any) -> datetime | None:
    """Return a moment as it was written; what is none is no decision."""
    try:
        found = datetime.fromisoformat(kept) if isinstance(kept, str) else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)
