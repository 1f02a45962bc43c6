"""What was sighted in a session in which several agents may have worked side by side.

Each agent is looked at alone, so that what two of them saw is known to have two witnesses; what
only all of them together show is nobody's own, and stands beside it. How many steps were planned
and taken, and what a step cost beside all others, is the session's: two agents that share it are
no two witnesses of it.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from memory.observer import detect, promotion
from memory.observer.detect import Known, Verdicts
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Scratchpad, files_of
from memory.statistics import quorum
from memory.statistics.quorum import Seen, Witnessed

OF_ALL: Final[Known] = {SignalKind.STEP_OVERRUN: (), SignalKind.CONTEXT_SPIKE: ()}


def witnessed(
    *,
    scratchpad: Scratchpad,
    verdicts: Mapping[SignalKind, Verdicts],
    known: Known = MappingProxyType({}),
) -> tuple[Witnessed, ...]:
    """Find what a session showed, and who of its agents saw it; `known` was found already."""
    found = detect.find_all(scratchpad=scratchpad, verdicts=verdicts, known=known)
    names = sorted({deed.agent for deed in scratchpad.deeds.values()})
    if len(names) < quorum.WITNESSES_LEAST:
        return promotion.alone(scratchpad=scratchpad, found=found)
    seen = tuple(_seen(name, scratchpad, verdicts) for name in names)
    joined = quorum.join(seen=seen)
    witnesses = {(one.sighting.kind, one.sighting.key) for one in joined}
    beside = tuple(one for one in found if (one.kind, one.key) not in witnesses)
    return (*joined, *promotion.alone(scratchpad=scratchpad, found=beside))


def _seen(name: str, scratchpad: Scratchpad, verdicts: Mapping[SignalKind, Verdicts]) -> Seen:
    """Return what one agent did and said, and what that shows."""
    deeds = {place: deed for place, deed in scratchpad.deeds.items() if deed.agent == name}
    remarks = tuple(one for one in scratchpad.remarks if one.agent == name)
    files = files_of(deeds=deeds.values())
    own = replace(scratchpad, deeds=deeds, remarks=remarks, files=files)
    found = detect.find_all(scratchpad=own, verdicts=verdicts, known=OF_ALL)
    return Seen(agent=name, scratchpad=own, found=found)
