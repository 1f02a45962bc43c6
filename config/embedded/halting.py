"""Which signal a stopping child should have had by now: its stages, then SIGKILL."""

import signal
from collections.abc import Sequence

from config.embedded.launch import Halt


def signal_after(*, halts: Sequence[Halt], elapsed_seconds: float) -> signal.Signals:
    """Return the signal of the stage that `elapsed_seconds` after the first one falls into."""
    ends_at = 0.0
    for halt in halts:
        ends_at += halt.seconds
        if elapsed_seconds < ends_at:
            return halt.signal
    return signal.SIGKILL
