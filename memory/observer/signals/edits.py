"""Signals in what was edited: files that go together, that are come back to, or taken back."""

import re
from bisect import bisect
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting, SignalKind, made, strongest
from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act

# Defaults, not measured.
TOUCHES_LEAST: Final = 2  # of a file, in different steps
STEPS_APART: Final = 5  # at most, of two files that go together
TOUCHES_APART: Final = 6  # at most, of files in between
MEETINGS_LEAST: Final = 2  # of two files, unless both were edited
BACKTRACK_CALLS: Final = 20  # at most, between an edit and its reverse
CONFIG_CALLS: Final = 10  # at most, either way from an edit of configuration to one of code

_PUT_BACK: Final = re.compile(
    r"\Agit (?:restore|checkout)\s+(?:--staged\s+|--worktree\s+|HEAD\s+|--\s+)*(?P<paths>[^-].*)\Z"
)
_ALL_BACK: Final = re.compile(r"\Agit (?:reset --hard|stash(?:\s+(?:push|save)\b.*)?\s*\Z)")
_Meeting = tuple[Deed, Deed]


def find_file_access(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Signal 1: a file that the session came back to, which the next one may have at hand.

    Seen when a file of the repository was touched in at least two steps and edited in one of them,
    or read again after something else: a long file read in parts is read once.
    """
    by_file: dict[str, list[Deed]] = {}
    for deed in detections.touches(scratchpad=scratchpad):
        by_file.setdefault(deed.target, []).append(deed)
    again: dict[str, list[Deed]] = {}
    for path, deeds in by_file.items():
        is_edited = any(deed.act is Act.EDIT for deed in deeds)
        is_again = any(later.step - earlier.step > 1 for earlier, later in pairwise(deeds))
        steps = {(deed.agent, deed.step) for deed in deeds}
        if len(steps) >= TOUCHES_LEAST and (is_edited or is_again):
            again[path] = deeds
    return tuple(
        made(SignalKind.FILE_ACCESS, path, deeds, files=(path,), times=len(deeds))
        for path, deeds in detections.fullest(groups=again)
    )


def find_co_access(
    *, scratchpad: Scratchpad, most: int = detections.SIGHTINGS_MOST
) -> tuple[Sighting, ...]:
    """Signal 2: two files that go together: who changes one touches the other.

    Seen when both were edited within five steps of each other, or when one was edited and the other
    touched within five steps of that, at least twice and by two touches of each. What a commit
    parts is not together. The first touched names the direction. What is counted and not offered
    rests on its last meeting alone: more is looked at by nobody.
    """
    together = {
        pair: met
        for pair, met in _meetings(scratchpad).items()
        if any(map(_both_edit, met)) or _is_again(met)
    }
    found: list[Sighting] = []
    for place, (pair, met) in enumerate(detections.fullest(groups=together, most=most)):
        apart = [
            later.clock - earlier.clock
            for earlier, later in met
            if earlier.at_seconds is not None and later.at_seconds is not None
        ]
        first, second = met[0][0].target, met[0][1].target
        last = met[-detections.EVIDENCE_MOST if place < detections.SIGHTINGS_MOST else -1 :]
        details = {
            "first": first,
            "second": second,
            "apart_ms": str(round(sum(apart) * 1_000)),
            "timed": str(len(apart)),
            "both_edited": "yes" if any(map(_both_edit, met)) else "no",
        }
        key, deeds = f"{pair[0]}|{pair[1]}", (deed for both in last for deed in both)
        found.append(
            Sighting(
                kind=SignalKind.CO_ACCESS,
                key=key,
                files=(first, second),
                evidence=detections.evidence(deeds=deeds),
                times=len(met),
                details=details,
            )
        )
    return tuple(found)


def _meetings(scratchpad: Scratchpad) -> dict[tuple[str, str], list[_Meeting]]:
    """Return for each pair of files how an edit of one met a touch of the other, each edit once."""
    committed = (
        deed.sequence
        for deed in scratchpad.deeds.values()
        if deed.act is Act.RUN and "git commit" in deed.target and not deed.is_error
    )
    commits = sorted((*committed, *(commit.sequence for commit in scratchpad.commits)))
    touches = detections.touches(scratchpad=scratchpad)
    works = [bisect(commits, deed.sequence) for deed in touches]  # what a commit parts
    edits = [deed.act is Act.EDIT for deed in touches]
    met: dict[tuple[str, str], list[_Meeting]] = {}
    for place, later in enumerate(touches):
        seen: set[str] = {later.target}
        for before in range(place - 1, max(-1, place - TOUCHES_APART - 1), -1):
            earlier = touches[before]
            # Each agent counts steps of its own, so nearness is within one agent.
            is_near = earlier.agent == later.agent and later.step - earlier.step <= STEPS_APART
            is_near = is_near and works[before] == works[place]
            if not is_near or earlier.target in seen or not (edits[before] or edits[place]):
                continue
            seen.add(earlier.target)
            pair = (min(earlier.target, later.target), max(earlier.target, later.target))
            met.setdefault(pair, []).append((earlier, later))
    return met


def _both_edit(pair: _Meeting) -> bool:
    return pair[0].act is Act.EDIT and pair[1].act is Act.EDIT


def _is_again(met: list[_Meeting]) -> bool:
    """Say whether two touches of each met: one look beside two edits is one look."""
    touched: dict[str, set[int]] = {}
    for deed in (deed for both in met for deed in both):
        touched.setdefault(deed.target, set()).add(deed.sequence)
    return all(len(touches) >= MEETINGS_LEAST for touches in touched.values())


@strongest
def find_backtrack(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 4: work taken back: an edit undone by its reverse, or files put back by git.

    Seen when an edit replaces exactly what an earlier edit of the file, at most twenty calls
    before, had put there with what had stood there; or when git puts back a file that was edited
    before.
    """
    deeds = in_order(scratchpad=scratchpad)
    by_file: dict[str, list[Deed]] = {}
    for undone, undoing in (*_reversed(deeds), *_put_back(deeds)):
        by_file.setdefault(undone.target, []).extend((undone, undoing))
    for path, both in by_file.items():
        yield made(SignalKind.BACKTRACK, path, both, files=(path,), times=len(both) // 2)


def _reversed(deeds: tuple[Deed, ...]) -> Iterator[tuple[Deed, Deed]]:
    """Yield edits with the edit that reverses them."""
    for place, later in enumerate(deeds):
        if later.act is not Act.EDIT or later.is_error or not (later.before and later.after):
            continue
        for earlier in deeds[max(0, place - BACKTRACK_CALLS) : place]:
            is_edit = earlier.act is Act.EDIT and not earlier.is_error
            is_reverse = (earlier.before, earlier.after) == (later.after, later.before)
            if is_edit and is_reverse and earlier.target == later.target:
                yield earlier, later


def _put_back(deeds: tuple[Deed, ...]) -> Iterator[tuple[Deed, Deed]]:
    """Yield the last edit of each file that git puts back, with that command."""
    edits: dict[str, Deed] = {}
    for deed in each_file(deeds=deeds):
        if deed.act is Act.EDIT and not deed.is_error:
            edits[deed.target] = deed
        elif deed.act is Act.RUN and deed.target.startswith("git commit"):
            edits.clear()
        elif deed.act is Act.RUN and not deed.is_error:
            found = _PUT_BACK.match(deed.target)
            words = found["paths"].split() if found else []
            is_all = "." in words or _ALL_BACK.match(deed.target) is not None
            for path in tuple(edits) if is_all else [word for word in words if word in edits]:
                yield edits.pop(path), deed


@strongest
def find_config_touched(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 14: a change that needed a change of configuration.

    Seen when a file that configures was edited, and within ten calls of that one that does not.
    """
    deeds = tuple(each_file(deeds=in_order(scratchpad=scratchpad)))
    is_edit = [detections.is_own_edit(deed=deed) for deed in deeds]
    configures = [file_paths.is_config(path=deed.target) for deed in deeds]
    by_config: dict[str, list[Deed]] = {}
    for place, deed in enumerate(deeds):
        if is_edit[place] and configures[place]:
            near = range(max(0, place - CONFIG_CALLS), min(len(deeds), place + 1 + CONFIG_CALLS))
            code = [deeds[at] for at in near if is_edit[at] and not configures[at]]
            if code:
                by_config.setdefault(deed.target, []).extend((deed, *code))
    for config, both in by_config.items():
        yield made(
            SignalKind.CONFIG_TOUCHED,
            config,
            both,
            files=(config, *(deed.target for deed in both)),
            times=len({deed.sequence for deed in both if deed.target == config}),
            config=config,
        )
