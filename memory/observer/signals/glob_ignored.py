"""Signal 11: a glob that found files, none of which was what the agent wanted.

Seen when none of the files it found is touched in the next eight calls, and another one is.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import KEY_MOST, Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad, in_order
from memory.sessions.tools import Act

CALLS_APART: Final = 8  # at most, ours
_FILES: Final = frozenset({Act.READ, Act.EDIT})


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the globs whose answers were not used."""
    deeds = in_order(scratchpad=scratchpad)
    by_glob: dict[str, list[Deed]] = {}
    for place, deed in enumerate(deeds):
        if deed.act is not Act.GLOB or not deed.found:
            continue
        used = _used(deeds[place + 1 : place + 1 + CALLS_APART])
        if used and not any(_is_found(each.target, deed.found) for each in used):
            by_glob.setdefault(deed.target[:KEY_MOST], []).extend((deed, used[0]))
    found = (_sighting(glob, both) for glob, both in by_glob.items())
    return detections.strongest(sightings=found)


def _used(following: tuple[Deed, ...]) -> tuple[Deed, ...]:
    return tuple(deed for deed in following if deed.act in _FILES and not deed.is_error)


def _is_found(path: str, found: tuple[str, ...]) -> bool:
    """Say whether a path is among those found, which may be named from another folder."""
    return any(path == each or f"/{path}".endswith(f"/{each}") for each in found)


def _sighting(glob: str, both: list[Deed]) -> Sighting:
    used = tuple(dict.fromkeys(deed.target for deed in both if deed.act in _FILES))
    return Sighting(
        kind=SignalKind.GLOB_IGNORED,
        key=glob,
        files=used[: detections.FILES_MOST],
        evidence=detections.evidence(deeds=both),
        times=len(both) // 2,
        details=(("glob", glob), ("used", used[0])),
    )
