"""Signals in what was edited: files that go together, are come back to, taken back, collided at."""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting, SignalEvidence, SignalKind, made
from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act

# Defaults, not measured.
TOUCHES_LEAST: Final = 2  # of a file, in different steps
STEPS_APART: Final = 5  # at most, of two files that go together
TOUCHES_APART: Final = 6  # at most, of files in between
PAIRS_MOST: Final = 400  # of files that go together, those met most often
MEETINGS_LEAST: Final = 2  # of two files, unless both were edited
BACKTRACK_CALLS: Final = 20  # at most, between an edit and its reverse
CONFIG_CALLS: Final = 10  # at most, either way from an edit of configuration to one of code

_PUT_BACK: Final = re.compile(
    r"\Agit (?:restore|checkout)\s+(?:--staged\s+|--worktree\s+|HEAD\s+|--\s+)*(?P<paths>[^-].*)\Z"
)
_ALL_BACK: Final = re.compile(r"\Agit (?:reset --hard|stash(?:\s+(?:push|save)\b.*)?\s*\Z)")
_Meeting = tuple[Deed, Deed]


def find_file_access(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 1: a file that the session came back to, which the next one may have at hand.

    Seen when a file of the repository was touched in at least two steps and edited in one of them,
    or read again after something else: a long file read in parts is read once.
    """
    by_file: dict[str, list[Deed]] = {}
    for deed in detections.touches(scratchpad=scratchpad):
        by_file.setdefault(deed.target, []).append(deed)
    for path, deeds in by_file.items():
        is_edited = any(deed.act is Act.EDIT for deed in deeds)
        is_again = any(later.step - earlier.step > 1 for earlier, later in pairwise(deeds))
        steps = {(deed.agent, deed.step) for deed in deeds}
        if len(steps) >= TOUCHES_LEAST and (is_edited or is_again):
            yield made(SignalKind.FILE_ACCESS, path, deeds, files=(path,), times=len(deeds))


def find_co_access(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 2: two files that go together: who changes one touches the other.

    Seen when both were edited within five steps of each other, or when one was edited and the other
    touched within five steps of that, at least twice and by two touches of each. What a commit
    parts is not together. The first touched names the direction.
    """
    together = [
        (pair, met)
        for pair, met in _meetings(scratchpad).items()
        if any(map(_both_edit, met)) or _is_again(met)
    ]
    often = sorted(together, key=lambda group: (-len(group[1]), group[0]))
    for (one, other), met in often[:PAIRS_MOST]:
        apart = [
            later.clock - earlier.clock
            for earlier, later in met
            if earlier.at_seconds is not None and later.at_seconds is not None
        ]
        first, second = met[0][0].target, met[0][1].target
        deeds = (deed for both in met[-detections.EVIDENCE_MOST :] for deed in both)
        yield Sighting(
            kind=SignalKind.CO_ACCESS,
            key=f"{one}|{other}",
            files=(first, second),
            evidence=detections.evidence(deeds=deeds),
            times=len(met),
            details={
                "first": first,
                "second": second,
                "apart_ms": str(round(sum(apart) * 1_000)),
                "timed": str(len(apart)),
                "both_edited": "yes" if any(map(_both_edit, met)) else "no",
            },
        )


def _meetings(scratchpad: Scratchpad) -> dict[tuple[str, str], list[_Meeting]]:
    """Return for each pair of files how an edit of one met a touch of the other, each edit once."""
    commits = _commits(scratchpad)
    touches = detections.touches(scratchpad=scratchpad)
    works = [bisect(commits, deed.sequence) for deed in touches]  # what a commit parts
    edits = [deed.act is Act.EDIT for deed in touches]
    met: dict[tuple[str, str], list[_Meeting]] = {}
    for place, later in enumerate(touches):
        seen: set[str] = {later.target}
        for before in range(place - 1, max(-1, place - TOUCHES_APART - 1), -1):
            earlier = touches[before]
            # Each agent counts steps of its own, so nearness is within one agent.
            is_same_work = (earlier.agent, works[before]) == (later.agent, works[place])
            is_near = is_same_work and later.step - earlier.step <= STEPS_APART
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


def _commits(scratchpad: Scratchpad) -> list[int]:
    """Return the numbers of commits in order, of commands and of those that were told."""
    committed = (
        deed.sequence
        for deed in scratchpad.deeds.values()
        if deed.act is Act.RUN and "git commit" in deed.target and not deed.is_error
    )
    return sorted((*committed, *(commit.sequence for commit in scratchpad.commits)))


def _put_back(deeds: tuple[Deed, ...]) -> Iterator[tuple[Deed, Deed]]:
    """Yield the last edit of each file that git puts back, with that command."""
    edits: dict[str, Deed] = {}
    for deed in each_file(deeds=deeds):
        if deed.act is Act.EDIT and not deed.is_error:
            edits[deed.target] = deed
        elif deed.act is Act.RUN and deed.target.startswith("git commit"):
            edits.clear()
        elif deed.act is Act.RUN and not deed.is_error:
            for path in _paths_put_back(deed.target, edits):
                yield edits.pop(path), deed


def _paths_put_back(command: str, edits: Mapping[str, Deed]) -> list[str]:
    """Return which of the edited files a command puts back."""
    found = _PUT_BACK.match(command)
    words = found["paths"].split() if found else []
    if "." in words or _ALL_BACK.match(command) is not None:
        return list(edits)
    return [word for word in words if word in edits]


def _edits_by_config(deeds: tuple[Deed, ...]) -> dict[str, list[Deed]]:
    """Return edits by each file that configures, with those near to it of files that do not."""
    is_edit = [detections.is_own_edit(deed=deed) for deed in deeds]
    configures = [file_paths.is_config(path=deed.target) for deed in deeds]
    by_config: dict[str, list[Deed]] = {}
    for place, deed in enumerate(deeds):
        if is_edit[place] and configures[place]:
            near = range(max(0, place - CONFIG_CALLS), min(len(deeds), place + 1 + CONFIG_CALLS))
            code = [deeds[at] for at in near if is_edit[at] and not configures[at]]
            if code:
                by_config.setdefault(deed.target, []).extend((deed, *code))
    return by_config


def find_config_touched(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 14: a change that needed a change of configuration.

    Seen when a file that configures was edited, and within ten calls of that one that does not.
    """
    deeds = tuple(each_file(deeds=in_order(scratchpad=scratchpad)))
    for config, both in _edits_by_config(deeds).items():
        yield made(
            SignalKind.CONFIG_TOUCHED,
            config,
            both,
            files=(config, *(deed.target for deed in both)),
            times=len({deed.sequence for deed in both if deed.target == config}),
            config=config,
        )


SECONDS_APART: Final = 600.0  # at most; default, not measured
NUMBERS_APART: Final = 60  # at most without clocks, about twenty calls; default, not measured
_COLLIDED: Final = re.compile(
    r"(?:modified|changed) (?:externally|since|by (?:another|someone)|on disk)"
    r"|Merge conflict in (?P<path>\S+)|would be overwritten by (?:merge|checkout)"
    r"|cannot lock ref|index\.lock",
    re.IGNORECASE,
)
_Made = tuple[float, int, Deed]  # when, by which agent


def find_parallel_conflict(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 16: two at work on one file.

    Seen when an edit or git fails because somebody else changed the file; and when two agents that
    worked side by side, in one session or `between` scratchpads of their own, edited it soon after
    each other while both were at work. One that waits for another, as a main agent does for the
    subagent it sent, is not at work with it. Each agent counts steps of its own, so clocks say what
    was soon; where a call has none, the order of numbers does.
    """
    by_agent: dict[str, list[Deed]] = {}
    by_file: dict[str, list[Deed]] = {}
    for deed in scratchpad.deeds.values():
        by_agent.setdefault(deed.agent, []).append(deed)
        found = _COLLIDED.search(deed.message) if deed.is_error else None
        if found is not None and deed.act in {Act.EDIT, Act.RUN}:
            path = deed.target if deed.act is Act.EDIT else found["path"] or ""
            by_file.setdefault(path, []).append(deed)
    for path, met in _met(tuple(map(tuple, by_agent.values()))):
        by_file.setdefault(path, []).extend(deed for _, _, deed in met)
    for path, deeds in by_file.items():
        yield _sighting(path, detections.evidence(deeds=deeds))


def between(*, scratchpads: tuple[Scratchpad, ...]) -> Iterator[Sighting]:
    """Find the files at which some parallel agents collided; the evidence is each one's."""
    for path, met in _met(tuple(tuple(each.deeds.values()) for each in scratchpads)):
        evidence = tuple(
            SignalEvidence(sequence=one.sequence, step=one.step, file=one.target, line=one.line)
            for _, _, one in met
        )
        yield _sighting(path, evidence[-detections.EVIDENCE_MOST :])


def _sighting(path: str, evidence: tuple[SignalEvidence, ...]) -> Sighting:
    return Sighting(
        kind=SignalKind.PARALLEL_CONFLICT,
        key=path or "repository",
        files=(path,) if path else (),
        evidence=evidence,
        times=len(evidence),
    )


def _met(agents: tuple[tuple[Deed, ...], ...]) -> Iterator[tuple[str, list[_Made]]]:
    """Yield the files at which agents met, with their edits that did.

    An agent is known to have been at work from its first to its last call. How long the last one
    took is left out: some programs tell of a call when it has ended.
    """
    at_work = tuple(filter(None, agents))
    if len(at_work) < 2:
        return
    is_timed = all(deed.at_seconds is not None for deed in chain.from_iterable(at_work))

    def when(deed: Deed) -> float:
        return (deed.at_seconds or 0.0) if is_timed else deed.sequence

    spans = [(min(map(when, deeds)), max(map(when, deeds))) for deeds in at_work]
    edits: dict[str, list[_Made]] = {}
    for agent, deeds in enumerate(at_work):
        for deed in each_file(deeds=deeds):
            if detections.is_own_edit(deed=deed):
                edits.setdefault(deed.target, []).append((when(deed), agent, deed))
    apart = SECONDS_APART if is_timed else NUMBERS_APART
    for path, times in edits.items():
        times.sort(key=lambda one: one[:2])
        if met := _edits_at_once(times, spans, apart):
            yield path, met


def _edits_at_once(
    times: list[_Made], spans: list[tuple[float, float]], apart: float
) -> list[_Made]:
    """Return the edits of a file that are near to another agent's while both are at work."""
    met: dict[tuple[int, int], _Made] = {}
    for two in pairwise(times):
        (before, one, _), (after, other, _) = two
        begins = max(spans[one][0], spans[other][0])
        ends = min(spans[one][1], spans[other][1])
        if one != other and begins <= before and after <= ends and after - before <= apart:
            met.update({(agent, deed.sequence): (at, agent, deed) for at, agent, deed in two})
    return list(met.values())
