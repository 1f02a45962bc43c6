"""Signal 15: the work took far more steps than planned.

Seen when somebody planned, and it took at least half as many again, and at least five more.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import Evidence, Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Scratchpad

RATIO_LEAST: Final = 1.5  # ours
MORE_LEAST: Final = 5  # steps, ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find whether a session took far longer than planned, at most one sighting."""
    planned = scratchpad.setting.planned_steps
    actual = scratchpad.steps_done or scratchpad.current_step
    if planned < 1 or actual < RATIO_LEAST * planned or actual - planned < MORE_LEAST:
        return ()
    module = detections.main_module(scratchpad=scratchpad)
    last = Evidence(sequence=scratchpad.through, step=scratchpad.current_step)
    return (
        Sighting(
            kind=SignalKind.STEP_OVERRUN,
            key=module,
            files=(),
            evidence=(last,),
            details=(
                ("module", module),
                ("planned", str(planned)),
                ("actual", str(actual)),
                ("ratio", f"{actual / planned:.2f}"),
            ),
        ),
    )
