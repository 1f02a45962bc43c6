"""scratchpad = fold(events): pure, replayable, the same in any batching.

Events are applied in the order of their sequence numbers. What comes too early waits for the events
before it, up to a window of 64; a gap that outlasts the window, or the session, is passed over, and
counted as far as it tells of something missing (`memory.sessions.sequences`). What comes twice is
counted and not applied. What comes after its gap was passed over is counted as late: the events as
stored are all there, and `rebuild` puts it in its place.

Time is only a hint. A session's clock adds up the pauses between events, each from 0 to ten
minutes, so a clock that jumps or runs back neither orders anything nor makes an hour out of a
second. A number of steps beyond four for each event applied so far is not believed: it goes into
sums over sessions, and one that a program made up would outweigh all the others.
"""

from collections.abc import Iterable
from dataclasses import replace

from memory.sessions import reducers, sequences
from memory.sessions.events import Event
from memory.sessions.scratchpad import GAPS_MOST, PENDING_MOST, Scratchpad, Setting, begin


def fold(*, scratchpad: Scratchpad, events: Iterable[Event]) -> Scratchpad:
    """Return the state after some more events, in whatever order they came."""
    after = _copy(scratchpad)
    for event in events:
        _take(after, event)
    return after


def settle(*, scratchpad: Scratchpad) -> Scratchpad:
    """Return the state once nothing more comes: what waits is applied, gaps are passed over."""
    after = _copy(scratchpad)
    while after.pending:
        _pass_gap(after)
    return after


def rebuild(*, setting: Setting, events: Iterable[Event]) -> Scratchpad:
    """Return the settled state of all stored events, however they came."""
    ordered = sorted(events, key=lambda event: event.sequence)
    return settle(scratchpad=fold(scratchpad=begin(setting=setting), events=ordered))


def _take(state: Scratchpad, event: Event) -> None:
    """Apply an event when its turn has come, else keep it or count it."""
    if event.sequence == state.through + 1:
        _apply(state, event)
        _apply_waiting(state)
    elif event.sequence <= state.through:
        _count_again(state, event.sequence)
    elif event.sequence in state.pending:
        state.twice += 1
    else:
        state.pending[event.sequence] = event
        if len(state.pending) > PENDING_MOST:
            _pass_gap(state)


def _count_again(state: Scratchpad, sequence: int) -> None:
    """Count what comes after its turn: late when its number was passed over, else twice."""
    if any(first <= sequence <= last for first, last in state.gaps):
        state.late += 1
    else:
        state.twice += 1


def _pass_gap(state: Scratchpad) -> None:
    """Give up the events missing before the first that waits, and go on from that one."""
    first = min(state.pending)
    state.missing += _missing_before(state, first)
    state.gaps = (*state.gaps, (state.through + 1, first - 1))[-GAPS_MOST:]
    state.through = first - 1
    _apply_waiting(state)


def _missing_before(state: Scratchpad, first: int) -> int:
    """Return how many events of its writer's own run are missing before one."""
    begin = sequences.begin(sequence=first)
    if state.through <= begin:
        state.by_lines = sequences.is_by_lines(first=first)
    return 0 if state.by_lines else first - 1 - max(state.through, begin)


def _apply_waiting(state: Scratchpad) -> None:
    while state.pending and (event := state.pending.pop(state.through + 1, None)) is not None:
        _apply(state, event)


def _apply(state: Scratchpad, event: Event) -> None:
    state.through = event.sequence
    state.applied += 1
    reducers.apply(state=state, event=event)


def _copy(scratchpad: Scratchpad) -> Scratchpad:
    """Return a state of its own; what its dictionaries hold is frozen."""
    return replace(
        scratchpad,
        pending=dict(scratchpad.pending),
        deeds=dict(scratchpad.deeds),
        open_calls=dict(scratchpad.open_calls),
        files=dict(scratchpad.files),
        steps=dict(scratchpad.steps),
    )
