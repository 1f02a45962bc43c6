"""What two agents of a session saw has two witnesses; what one saw twice has one."""

from memory.observer import agents, fold, reading
from memory.observer.quorum import Witnessed
from memory.observer.scratchpad import Setting
from memory.observer.signal_table import SignalKind


def witnessed(*names: str) -> dict[SignalKind, Witnessed]:
    """Let each of these agents look for the same thing again and again."""
    rows = [
        {"kind": "tool_call", "name": "Grep", "args": {"pattern": "apply_discount"}, "agent": name}
        for name in names
        for _ in range(4)
    ]
    events = reading.read_all(
        rows=tuple({**row, "sequence": n, "step": n} for n, row in enumerate(rows, 1))
    ).events
    pad = fold.rebuild(setting=Setting(), events=events)
    return {one.sighting.kind: one for one in agents.witnessed(scratchpad=pad, verdicts={})}


def test_one_agent_is_one_witness() -> None:
    assert witnessed("")[SignalKind.REPEATED_GREP].agents == ("",)


def test_two_agents_are_two_witnesses() -> None:
    assert witnessed("left", "right")[SignalKind.REPEATED_GREP].agents == ("left", "right")
