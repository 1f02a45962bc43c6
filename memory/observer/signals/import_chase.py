"""Signal 12: from file to file along their imports, to understand one of them.

Seen when at least three files are read one after another, without an edit in between, each of which
the one before it imports.
"""

import re
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

FILES_LEAST: Final = 3  # ours
_PARTS: Final = re.compile(r"[./:\\, ]+")
_SAYS_LITTLE: Final = frozenset({"index", "__init__", "mod", "main"})


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the chains of imports that were followed."""
    chains: dict[str, tuple[Deed, ...]] = {}
    chain: tuple[Deed, ...] = ()
    for deed in detections.touches(scratchpad=scratchpad):
        if deed.act is Act.EDIT:
            chain = ()
        elif chain and _imports(chain[-1], deed):
            chain = (*chain, deed)
        elif not chain or deed.target != chain[-1].target:
            chain = (deed,)
        if len(chain) >= FILES_LEAST:
            chains[chain[0].target] = chain
    return detections.strongest(sightings=map(_sighting, chains.values()))


def _imports(importer: Deed, imported: Deed) -> bool:
    """Say whether a file names another among its imports, by the name of its module."""
    name = _module_name(imported.target)
    named = (part for each in importer.found for part in _PARTS.split(each))
    return importer.target != imported.target and name in set(named)


def _module_name(path: str) -> str:
    """Return the name by which a file is imported: its own, or its folder's."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _SAYS_LITTLE else stem


def _sighting(chain: tuple[Deed, ...]) -> Sighting:
    files = tuple(deed.target for deed in chain)
    return Sighting(
        kind=SignalKind.IMPORT_CHASE,
        key=f"{files[0]}|{files[-1]}",
        files=(files[0], *files[-(detections.FILES_MOST - 1) :])
        if len(files) > detections.FILES_MOST
        else files,
        evidence=detections.evidence(deeds=chain),
        times=len(chain) - 1,
        details=(("first", files[0]), ("last", files[-1])),
    )
