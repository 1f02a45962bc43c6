"""Signal 2: two files that go together: who changes one touches the other.

Seen when both were edited within five steps of each other, or when one was edited and the other
touched within five steps of that, at least twice and by two touches of each. What a commit parts is
not together. The first touched names the direction.
"""

from bisect import bisect
from typing import Final

from memory.observer import detections
from memory.observer.detections import EVIDENCE_MOST, Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

STEPS_APART: Final = 5  # at most, ours
TOUCHES_APART: Final = 6  # at most, of files in between; ours
MEETINGS_LEAST: Final = 2  # unless both were edited, ours


def find(*, scratchpad: Scratchpad, most: int = detections.SIGHTINGS_MOST) -> tuple[Sighting, ...]:
    """Find the pairs of files that go together, those that met most often first.

    What is counted and not offered rests on its last meeting alone: more is looked at by nobody.
    """
    commits = _commits(scratchpad)
    touches = detections.touches(scratchpad=scratchpad)
    meetings = _meetings(touches, commits)
    together = {
        pair: met
        for pair, met in meetings.items()
        if any(_both_edit(each) for each in met) or _is_again(met)
    }
    strongest = detections.fullest(groups=together, most=most)
    return tuple(
        _sighting(pair, met, EVIDENCE_MOST if place < detections.SIGHTINGS_MOST else 1)
        for place, (pair, met) in enumerate(strongest)
    )


def _meetings(
    touches: tuple[Deed, ...], commits: tuple[int, ...]
) -> dict[tuple[str, str], list[tuple[Deed, Deed]]]:
    """Return for each pair of files how an edit of one met a touch of the other, each edit once."""
    met: dict[tuple[str, str], list[tuple[Deed, Deed]]] = {}
    works = [bisect(commits, deed.sequence) for deed in touches]  # what a commit parts
    edits = [deed.act is Act.EDIT for deed in touches]
    for place, later in enumerate(touches):
        seen: set[str] = {later.target}
        for before in range(place - 1, max(-1, place - TOUCHES_APART - 1), -1):
            earlier = touches[before]
            is_near = _is_near(earlier, later) and works[before] == works[place]
            if not is_near or earlier.target in seen or not (edits[before] or edits[place]):
                continue
            seen.add(earlier.target)
            pair = (min(earlier.target, later.target), max(earlier.target, later.target))
            met.setdefault(pair, []).append((earlier, later))
    return met


def _is_near(earlier: Deed, later: Deed) -> bool:
    """Say whether one agent touched both within few steps; another counts steps of its own."""
    return earlier.agent == later.agent and later.step - earlier.step <= STEPS_APART


def _commits(scratchpad: Scratchpad) -> tuple[int, ...]:
    """Return where the session committed, by its own command or as posted to it."""
    run = (
        deed.sequence
        for deed in scratchpad.deeds.values()
        if deed.act is Act.RUN and "git commit" in deed.target and not deed.is_error
    )
    return tuple(sorted((*run, *(commit.sequence for commit in scratchpad.commits))))


def _is_again(met: list[tuple[Deed, Deed]]) -> bool:
    """Say whether two touches of each met: one look beside two edits is one look."""
    touched: dict[str, set[int]] = {}
    for deed in (deed for both in met for deed in both):
        touched.setdefault(deed.target, set()).add(deed.sequence)
    return all(len(touches) >= MEETINGS_LEAST for touches in touched.values())


def _both_edit(pair: tuple[Deed, Deed]) -> bool:
    return pair[0].act is Act.EDIT and pair[1].act is Act.EDIT


def _sighting(pair: tuple[str, str], met: list[tuple[Deed, Deed]], most: int) -> Sighting:
    apart = [
        later.clock - earlier.clock
        for earlier, later in met
        if earlier.at_seconds is not None and later.at_seconds is not None
    ]
    first, second = met[0][0].target, met[0][1].target
    last = met[-most:]  # each ends with a touch of its own
    return Sighting(
        kind=SignalKind.CO_ACCESS,
        key=f"{pair[0]}|{pair[1]}",
        files=(first, second),
        evidence=detections.evidence(deeds=(deed for both in last for deed in both)),
        times=len(met),
        details=(
            ("first", first),
            ("second", second),
            ("seconds", f"{sum(apart) / len(apart):.0f}" if apart else ""),
            ("timed", str(len(apart))),
            ("both_edited", "yes" if any(map(_both_edit, met)) else "no"),
        ),
    )
