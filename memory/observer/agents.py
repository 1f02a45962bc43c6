"""What was sighted in a session in which several agents may have worked side by side (spec 4.4).

Each agent is looked at alone, so that what two of them saw is known to have two witnesses; what
only all of them together show is nobody's own, and stands beside it.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from memory.observer import finding, promotion, quorum
from memory.observer.finding import Known, Verdicts
from memory.observer.quorum import Seen, Witnessed
from memory.observer.scratchpad import Scratchpad
from memory.observer.signal_table import SignalKind


def witnessed(
    *,
    scratchpad: Scratchpad,
    verdicts: Mapping[SignalKind, Verdicts],
    known: Known = MappingProxyType({}),
) -> tuple[Witnessed, ...]:
    """Find what a session showed, and who of its agents saw it; `known` was found already."""
    found = finding.find_all(scratchpad=scratchpad, verdicts=verdicts, known=known)
    names = sorted({deed.agent for deed in scratchpad.deeds.values()})
    if len(names) < quorum.WITNESSES_LEAST:
        return promotion.alone(scratchpad=scratchpad, found=found)
    seen = tuple(_seen(name, scratchpad, verdicts) for name in names)
    joined = quorum.join(seen=seen)
    witnesses = {(one.sighting.kind, one.sighting.key) for one in joined}
    beside = tuple(one for one in found if (one.kind, one.key) not in witnesses)
    return (*joined, *promotion.alone(scratchpad=scratchpad, found=beside))


def _seen(name: str, scratchpad: Scratchpad, verdicts: Mapping[SignalKind, Verdicts]) -> Seen:
    """Return what one agent did and what it showed; what was said is of the session's own."""
    deeds = {place: deed for place, deed in scratchpad.deeds.items() if deed.agent == name}
    own = replace(scratchpad, deeds=deeds, remarks=scratchpad.remarks if not name else (), files={})
    return Seen(
        agent=name, scratchpad=own, found=finding.find_all(scratchpad=own, verdicts=verdicts)
    )
