"""Signal 4: work taken back: an edit undone by its reverse, or files put back by git.

Seen when an edit replaces exactly what an earlier edit of the file, at most twenty calls before,
had put there with what had stood there; or when git puts back a file that was edited before.
"""

import re
from collections.abc import Iterator
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act

CALLS_APART: Final = 20  # at most, ours
_PUT_BACK: Final = re.compile(
    r"\Agit (?:restore|checkout)\s+(?:--staged\s+|--worktree\s+|HEAD\s+|--\s+)*(?P<paths>[^-].*)\Z"
)
_ALL_BACK: Final = re.compile(r"\Agit (?:reset --hard|stash(?:\s+(?:push|save)\b.*)?\s*\Z)")


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the files whose changes were taken back."""
    deeds = in_order(scratchpad=scratchpad)
    by_file: dict[str, list[Deed]] = {}
    for undone, undoing in (*_reversed(deeds), *_put_back(deeds)):
        by_file.setdefault(undone.target, []).extend((undone, undoing))
    return detections.strongest(
        sightings=(
            Sighting(
                kind=SignalKind.BACKTRACK,
                key=path,
                files=(path,),
                evidence=detections.evidence(deeds=both),
                times=len(both) // 2,
            )
            for path, both in by_file.items()
        )
    )


def _reversed(deeds: tuple[Deed, ...]) -> Iterator[tuple[Deed, Deed]]:
    """Yield edits with the edit that reverses them."""
    for place, later in enumerate(deeds):
        if later.act is not Act.EDIT or not later.before or not later.after:
            continue
        for earlier in deeds[max(0, place - CALLS_APART) : place]:
            if earlier.act is Act.EDIT and _is_reverse(earlier, later):
                yield earlier, later


def _is_reverse(earlier: Deed, later: Deed) -> bool:
    is_same_file = earlier.target == later.target and not (earlier.is_error or later.is_error)
    return is_same_file and (earlier.before, earlier.after) == (later.after, later.before)


def _put_back(deeds: tuple[Deed, ...]) -> Iterator[tuple[Deed, Deed]]:
    """Yield the last edit of each file that git puts back, with that command."""
    edits: dict[str, Deed] = {}
    for deed in each_file(deeds=deeds):
        if deed.act is Act.EDIT and not deed.is_error:
            edits[deed.target] = deed
        elif deed.act is Act.RUN and deed.target.startswith("git commit"):
            edits.clear()
        elif deed.act is Act.RUN and not deed.is_error:
            for path in _named(deed.target, edits):
                yield edits.pop(path), deed


def _named(command: str, edits: dict[str, Deed]) -> tuple[str, ...]:
    """Return the edited files that a command puts back."""
    if _ALL_BACK.match(command) is not None:
        return tuple(edits)
    found = _PUT_BACK.match(command)
    words = found["paths"].split() if found else []
    return tuple(edits) if "." in words else tuple(word for word in words if word in edits)
