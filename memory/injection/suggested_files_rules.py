"""What a session did by itself: without reads of files that it was told to read.

A plan of files rests on what sessions read; were a read that it named counted like any other, a
plan that is obeyed would keep itself. So a file that an injection named counts where it was edited
as well, or was touched before it was named. How it was used otherwise is nobody's habit.
"""

from collections.abc import Mapping
from dataclasses import replace

from memory.sessions.scratchpad import Deed, Scratchpad, each_file
from memory.sessions.tools import Act

Named = Mapping[str, int]  # by path the last event before it was named


def unprompted(*, scratchpad: Scratchpad, named: Named) -> Scratchpad:
    """Return a session without the reads of files that were named to it before."""
    obeyed = {
        path for path in named if path in scratchpad.files and _is_only_read(path, scratchpad)
    }
    obeyed -= {
        deed.target
        for deed in each_file(deeds=scratchpad.deeds.values())
        if deed.target in obeyed and deed.sequence <= named[deed.target]
    }
    if not obeyed:
        return scratchpad
    return replace(
        scratchpad,
        deeds={at: one for at, one in scratchpad.deeds.items() if not _is_of(one, obeyed)},
        files={path: use for path, use in scratchpad.files.items() if path not in obeyed},
    )


def _is_only_read(path: str, scratchpad: Scratchpad) -> bool:
    return not scratchpad.files[path].edits


def _is_of(deed: Deed, paths: set[str]) -> bool:
    """Say whether a deed reads nothing but some files."""
    return deed.act is Act.READ and paths.issuperset((deed.target, *deed.also))
