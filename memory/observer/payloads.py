"""What a sighting says in fields, for types that have a payload."""

from collections.abc import Callable, Mapping
from typing import Final

from memory.observer import detections
from memory.observer.dead_ends import DeadEnd
from memory.observer.detections import Sighting
from memory.sessions import file_paths
from memory.taxonomy import MemoryType

Payload = Mapping[str, object]


def of_sighting(*, sighting: Sighting, type: MemoryType, sessions: int) -> Payload:
    """Return the payload of what a sighting becomes; empty where its type has none."""
    make = _MAKERS.get(type)
    return make(sighting, sessions) if make is not None else {}


def of_dead_end(*, found: DeadEnd) -> Payload:
    """Return the payload of a dead end; what is not known is left out."""
    given = {
        "approach": found.approach,
        "why_it_failed": found.why_it_failed,
        "alternative": found.alternative,
        "context": found.task,
    }
    return {name: text for name, text in given.items() if text.strip()}


def _recipe(sighting: Sighting, sessions: int) -> Payload:
    steps = detections.detail(sighting=sighting, name="steps").split("\n")
    return {
        "task_pattern": steps[0],
        "steps": tuple(
            {"order": order, "description": description}
            for order, description in enumerate(steps, 1)
        ),
        "success_count": sessions,
    }


def _prefetch(sighting: Sighting, sessions: int) -> Payload:
    module = file_paths.module(path=sighting.files[0])
    return {
        "always_read": sighting.files,
        "trigger_module": module or sighting.files[0],
        "sessions": sessions,
    }


def _calibration(sighting: Sighting, sessions: int) -> Payload:
    """Return steps against the plan, or runs of tests against one run."""
    named = dict(sighting.details)
    planned = int(named.get("planned", "1"))
    actual = int(named.get("actual", named.get("runs", "1")))
    return {
        "module": named.get("module") or "project",
        "planned": planned,
        "actual": actual,
        "ratio": round(actual / planned, 2),
        "samples": sessions,
    }


_MAKERS: Final[Mapping[MemoryType, Callable[[Sighting, int], Payload]]] = {
    MemoryType.WORKFLOW_RECIPE: _recipe,
    MemoryType.PREFETCH_PATTERN: _prefetch,
    MemoryType.TASK_CALIBRATION: _calibration,
}
