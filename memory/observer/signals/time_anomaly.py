"""Signal 8: a call that took far longer than the others; it counts only beside another signal.

Seen when a call took at least a minute and four times the median of at least five timed calls.
"""

from statistics import median
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import tools
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

SECONDS_LEAST: Final = 60.0  # ours
TIMES_MEDIAN: Final = 4  # ours
CALLS_LEAST: Final = 5  # ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the calls that took far longer than the others."""
    timed = [deed for deed in scratchpad.deeds.values() if deed.seconds is not None]
    if len(timed) < CALLS_LEAST:
        return ()
    usual = median(deed.seconds or 0.0 for deed in timed)
    least = max(SECONDS_LEAST, TIMES_MEDIAN * usual)
    slow = (_sighting(deed, usual) for deed in timed if (deed.seconds or 0.0) >= least)
    return detections.strongest(sightings=slow)


def _sighting(deed: Deed, usual: float) -> Sighting:
    is_file = deed.act in {Act.READ, Act.EDIT}
    is_command = deed.act in {Act.RUN, Act.TEST}
    what = tools.program(command=deed.target) if is_command else deed.target
    return Sighting(
        kind=SignalKind.TIME_ANOMALY,
        key=f"{deed.act.value} {what}"[: detections.KEY_MOST],
        files=(deed.target,) if is_file else (),
        evidence=detections.evidence(deeds=(deed,)),
        details=(("seconds", f"{deed.seconds:.0f}"), ("usual", f"{usual:.0f}")),
    )
