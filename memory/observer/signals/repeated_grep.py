"""Signal 6: the same search three times in one session: its answer is not where one looks.

Seen when the same pattern, letters compared without case, is searched at least three times.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import KEY_MOST, Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

TIMES_LEAST: Final = 3
FOUND_NAMED: Final = 3  # files of the last answer, ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the searches that were repeated."""
    by_pattern: dict[str, list[Deed]] = {}
    for deed in scratchpad.deeds.values():
        if deed.act is Act.GREP and deed.target:
            by_pattern.setdefault(deed.target.lower()[:KEY_MOST], []).append(deed)
    return detections.strongest(
        sightings=(
            _sighting(pattern, deeds)
            for pattern, deeds in by_pattern.items()
            if len(deeds) >= TIMES_LEAST
        )
    )


def _sighting(pattern: str, deeds: list[Deed]) -> Sighting:
    answers = next((deed.found for deed in reversed(deeds) if deed.found), ())
    return Sighting(
        kind=SignalKind.REPEATED_GREP,
        key=pattern,
        files=answers[:FOUND_NAMED],
        evidence=detections.evidence(deeds=deeds),
        times=len(deeds),
        details=(("pattern", deeds[-1].target), ("found", ", ".join(answers[:FOUND_NAMED]))),
    )
