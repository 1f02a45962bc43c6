"""Signal 1: a file that the session came back to, which the next one may as well have at hand.

Seen when a file of the repository was touched in at least two steps and edited in one of them, or
read again after something else: a long file read in parts is read once.
"""

from itertools import pairwise
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

TOUCHES_LEAST: Final = 2  # in different steps, ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the files that a session came back to."""
    by_file: dict[str, list[Deed]] = {}
    for deed in detections.touches(scratchpad=scratchpad):
        by_file.setdefault(deed.target, []).append(deed)
    again = {path: deeds for path, deeds in by_file.items() if _is_again(deeds)}
    return tuple(
        Sighting(
            kind=SignalKind.FILE_ACCESS,
            key=path,
            files=(path,),
            evidence=detections.evidence(deeds=deeds),
            times=len(deeds),
        )
        for path, deeds in detections.fullest(groups=again)
    )


def _is_again(deeds: list[Deed]) -> bool:
    if len({(deed.agent, deed.step) for deed in deeds}) < TOUCHES_LEAST:
        return False
    is_edited = any(deed.act is Act.EDIT for deed in deeds)
    return is_edited or any(later.step - earlier.step > 1 for earlier, later in pairwise(deeds))
