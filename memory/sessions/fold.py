"""scratchpad = fold(events): pure, replayable, the same in any batching.

Events are applied in the order of their sequence numbers. What comes too early waits for the events
before it, up to a window of 64; a gap that outlasts the window, or the session, is passed over, and
counted as far as it tells of something missing. What comes twice is
counted and not applied. What comes after its gap was passed over is counted as late: the events as
stored are all there, and `rebuild` puts it in its place.

Each writer has a run of numbers of its own. Most count by ones, so what a gap leaves out is
missing. A transcript's number follows from its line, and lines may say nothing, so no gap in its
run tells of anything missing; its subagents have blocks of numbers far behind. Who begins more
than a line's numbers behind the beginning of its run counts by lines.

Time is only a hint. A session's clock adds up the pauses between events, each from 0 to ten
minutes, so a clock that jumps or runs back neither orders anything nor makes an hour out of a
second. A number of steps beyond four for each event applied so far is not believed: it goes into
sums over sessions, and one that a program made up would outweigh all the others.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from memory.sessions import reducers
from memory.sessions.events import Event
from memory.sessions.reducers import FIRST_BLOCK
from memory.sessions.scratchpad import GAPS_MOST, PENDING_MOST, Scratchpad, Setting

LINE: Final = 128  # numbers a line of a transcript, the command line's
BLOCK: Final = 2**21  # numbers of each subagent, the command line's


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
    return settle(scratchpad=fold(scratchpad=Scratchpad(setting=setting), events=ordered))


def _take(state: Scratchpad, event: Event) -> None:
    """Apply an event when its turn has come, else keep it or count it."""
    if event.sequence == state.through + 1:
        _apply(state, event)
    elif event.sequence <= state.through:
        if any(first <= event.sequence <= last for first, last in state.gaps):
            state.late += 1
        else:
            state.twice += 1
    elif event.sequence in state.pending:
        state.twice += 1
    else:
        state.pending[event.sequence] = event
        if len(state.pending) > PENDING_MOST:
            _pass_gap(state)


def _pass_gap(state: Scratchpad) -> None:
    """Give up the events missing before the first that waits, and go on from that one."""
    first = min(state.pending)
    start = 0  # the number before the first that its writer may give
    if first > FIRST_BLOCK:
        start = first - 1 - (first - 1 - FIRST_BLOCK) % BLOCK
    if state.through <= start:
        state.by_lines = first - start > LINE
    if not state.by_lines:
        state.missing += first - 1 - max(state.through, start)
    state.gaps = (*state.gaps, (state.through + 1, first - 1))[-GAPS_MOST:]
    _apply(state, state.pending.pop(first))


def _apply(state: Scratchpad, event: Event) -> None:
    """Apply an event, and those that waited for it."""
    following: Event | None = event
    while following is not None:
        state.through = following.sequence
        state.applied += 1
        reducers.apply(state=state, event=following)
        following = state.pending.pop(state.through + 1, None) if state.pending else None


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
