"""Signal 5: a file that looked right and was not: read, left for another search, never used.

Seen when a search follows within two calls of the read and an edit of another folder within six,
the file is never touched again, and nothing in its folder is edited.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, edited, in_order
from memory.sessions.tools import Act

CALLS_APART: Final = 2  # from the read to the next search, ours
CALLS_TO_EDIT: Final = 6  # from the read to what was changed instead, ours
_SEARCHES: Final = frozenset({Act.GREP, Act.GLOB})


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the files that were read and left."""
    deeds = in_order(scratchpad=scratchpad)
    folders = {path.rpartition("/")[0] for path in edited(scratchpad=scratchpad)}
    found = (
        _sighting(deed, deeds[place + 1 : place + 1 + CALLS_APART], used)
        for place, deed in enumerate(deeds)
        if deed.act is Act.READ and not deed.is_error
        if _is_left(deed, scratchpad) and deed.target.rpartition("/")[0] not in folders
        if (used := _used(deeds[place + 1 : place + 1 + CALLS_TO_EDIT]))
        if _searches(deeds, place)
    )
    return detections.strongest(sightings=found)


def _is_left(deed: Deed, scratchpad: Scratchpad) -> bool:
    """Say whether a file of the repository was read once and nothing else."""
    use = scratchpad.files.get(deed.target)
    is_once = use is not None and (use.reads, use.edits) == (1, 0)
    return is_once and not file_paths.is_outside(path=deed.target)


def _searches(deeds: tuple[Deed, ...], place: int) -> bool:
    following = deeds[place + 1 : place + 1 + CALLS_APART]
    return any(deed.act in _SEARCHES for deed in following)


def _used(following: tuple[Deed, ...]) -> str:
    """Return the file that was edited instead; empty for none."""
    return next((deed.target for deed in following if deed.act is Act.EDIT), "")


def _sighting(left: Deed, following: tuple[Deed, ...], used: str) -> Sighting:
    return Sighting(
        kind=SignalKind.READ_ABANDON,
        key=left.target,
        files=(left.target,),
        evidence=detections.evidence(deeds=(left, *following)),
        details=(("instead", used),),
    )
