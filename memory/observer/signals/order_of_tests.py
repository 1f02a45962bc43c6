"""Signal 13: which tests were run in which order until they passed, and how many runs it took.

Seen when at least two different test commands were run and the last run passed.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

TARGETS_LEAST: Final = 2  # different commands, ours
TARGETS_NAMED: Final = 3  # ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the order of tests in a session, at most one sighting."""
    runs = [deed for deed in scratchpad.deeds.values() if deed.act is Act.TEST and deed.is_done]
    targets = tuple(dict.fromkeys(run.target for run in runs))
    if len(targets) < TARGETS_LEAST or runs[-1].is_error:
        return ()
    return (_sighting(runs, targets[:TARGETS_NAMED], scratchpad),)


def _sighting(runs: list[Deed], targets: tuple[str, ...], scratchpad: Scratchpad) -> Sighting:
    module = detections.main_module(scratchpad=scratchpad)
    return Sighting(
        kind=SignalKind.TEST_ORDER,
        key=f"{module}: {' > '.join(targets)}"[: detections.KEY_MOST],
        files=(),
        evidence=detections.evidence(deeds=runs),
        times=len(runs),
        details=(
            ("module", module),
            ("order", "\n".join(targets)),
            ("runs", str(len(runs))),
            ("failures", str(sum(run.is_error for run in runs))),
        ),
    )
