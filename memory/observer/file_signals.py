"""Signals in files: which go together, are taken back, collided at, and how they are searched."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise
from typing import Final

from memory.observer import detections
from memory.observer.detections import KEY_MOST, Sighting, SignalEvidence, SignalKind, group, made
from memory.sessions import external_content
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act

# Defaults, not measured, as far as they are no part of a signal's definition.
TOUCHES_LEAST: Final = 2  # of a file, in different steps
STEPS_APART: Final = 5  # at most, of two files that go together
TOUCHES_APART: Final = 6  # at most, of files in between
PAIRS_MOST: Final = 400  # of files that go together, those met most often
MEETINGS_LEAST: Final = 2  # of two files, unless both were edited
BACKTRACK_CALLS: Final = 20  # at most, between an edit and its reverse
GREPS_LEAST: Final = 3
FOUND_NAMED: Final = 3  # files of the last answer to a search
PAGE_CALLS: Final = 10  # from a page to the edit that needed it
SECONDS_APART: Final = 600.0  # at most, of two edits that collide
NUMBERS_APART: Final = 60  # at most without clocks, about twenty calls

_PUT_BACK: Final = re.compile(
    r"\Agit (?:restore|checkout)\s+(?:--staged\s+|--worktree\s+|HEAD\s+|--\s+)*(?P<paths>[^-].*)\Z"
)
_ALL_BACK: Final = re.compile(r"\Agit (?:reset --hard|stash(?:\s+(?:push|save)\b.*)?\s*\Z)")
_COLLIDED: Final = re.compile(
    r"(?:modified|changed) (?:externally|since|by (?:another|someone)|on disk)"
    r"|Merge conflict in (?P<path>\S+)|would be overwritten by (?:merge|checkout)"
    r"|cannot lock ref|index\.lock",
    re.IGNORECASE,
)
_Meeting = tuple[Deed, Deed]
_Made = tuple[float, int, Deed]  # when, by which agent


def find_file_access(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 1: a file that the session came back to, which the next one may have at hand.

    Seen when a file of the repository was touched in at least two steps and edited in one of them,
    or read again after something else: a long file read in parts is read once.
    """
    touches = detections.touches(scratchpad=scratchpad)
    for path, deeds in group((deed.target, (deed,)) for deed in touches).items():
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
        for pair, met in group(_meetings(scratchpad)).items()
        if any(map(_both_edit, met)) or _is_again(met)
    ]
    often = sorted(together, key=lambda found: (-len(found[1]), found[0]))
    yield from (_pair_sighting(pair, met) for pair, met in often[:PAIRS_MOST])


def _meetings(scratchpad: Scratchpad) -> Iterator[tuple[tuple[str, str], tuple[_Meeting]]]:
    """Yield for each pair of files how an edit of one met a touch of the other, each edit once."""
    commits = _commits(scratchpad)
    touches = detections.touches(scratchpad=scratchpad)
    works = [bisect(commits, deed.sequence) for deed in touches]  # what a commit parts
    edits = [deed.act is Act.EDIT for deed in touches]
    for place, later in enumerate(touches):
        seen: set[str] = {later.target}
        for before in range(place - 1, max(-1, place - TOUCHES_APART - 1), -1):
            earlier = touches[before]
            # Each agent counts steps of its own, so nearness is within one agent.
            is_same_work = (earlier.agent, works[before]) == (later.agent, works[place])
            is_near = is_same_work and later.step - earlier.step <= STEPS_APART
            if is_near and earlier.target not in seen and (edits[before] or edits[place]):
                seen.add(earlier.target)
                one, other = sorted((earlier.target, later.target))
                yield (one, other), ((earlier, later),)


def _commits(scratchpad: Scratchpad) -> list[int]:
    """Return the numbers of commits in order, of commands and of those that were told."""
    committed = (
        deed.sequence
        for deed in scratchpad.deeds.values()
        if deed.act is Act.RUN and "git commit" in deed.target and not deed.is_error
    )
    return sorted((*committed, *(commit.sequence for commit in scratchpad.commits)))


def _both_edit(pair: _Meeting) -> bool:
    return pair[0].act is Act.EDIT and pair[1].act is Act.EDIT


def _is_again(met: list[_Meeting]) -> bool:
    """Say whether two touches of each met: one look beside two edits is one look."""
    touched = group((deed.target, (deed.sequence,)) for deed in chain.from_iterable(met))
    return all(len(set(touches)) >= MEETINGS_LEAST for touches in touched.values())


def _pair_sighting(pair: tuple[str, str], met: list[_Meeting]) -> Sighting:
    first, second = (deed.target for deed in met[0])
    apart = [
        later.clock - earlier.clock
        for earlier, later in met
        if earlier.at_seconds is not None and later.at_seconds is not None
    ]
    sighting = made(
        SignalKind.CO_ACCESS,
        "",
        chain.from_iterable(met[-detections.EVIDENCE_MOST :]),
        files=(first, second),
        times=len(met),
        first=first,
        second=second,
        apart_ms=str(round(sum(apart) * 1_000)),
        timed=str(len(apart)),
    )
    return replace(sighting, key="|".join(pair))  # whole: sums of pairs are kept by it


def find_backtrack(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 4: work taken back: an edit undone by its reverse, or files put back by git.

    Seen when an edit replaces exactly what an earlier edit of the file, at most twenty calls
    before, had put there with what had stood there; or when git puts back a file that was edited
    before.
    """
    deeds = in_order(scratchpad=scratchpad)
    undone = group((both[0].target, both) for both in (*_reversed(deeds), *_put_back(deeds)))
    for path, both in undone.items():
        yield made(SignalKind.BACKTRACK, path, both, files=(path,), times=len(both) // 2)


def _reversed(deeds: tuple[Deed, ...]) -> Iterator[tuple[Deed, Deed]]:
    """Yield edits with the edit that reverses them."""
    for place, later in enumerate(deeds):
        is_telling = later.is_edit and later.before and later.after
        reverse = (later.target, later.after, later.before)
        for earlier in deeds[max(0, place - BACKTRACK_CALLS) : place] if is_telling else ():
            if earlier.is_edit and (earlier.target, earlier.before, earlier.after) == reverse:
                yield earlier, later


def _put_back(deeds: tuple[Deed, ...]) -> Iterator[tuple[Deed, Deed]]:
    """Yield the last edit of each file that git puts back, with that command."""
    edits: dict[str, Deed] = {}
    for deed in each_file(deeds=deeds):
        if deed.is_edit:
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


def find_parallel_conflict(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 16: two at work on one file.

    Seen when an edit or git fails because somebody else changed the file; and when two agents that
    worked side by side, in one session or `between` scratchpads of their own, edited it soon after
    each other while both were at work. One that waits for another, as a main agent does for the
    subagent it sent, is not at work with it. Each agent counts steps of its own, so clocks say what
    was soon; where a call has none, the order of numbers does.
    """
    deeds = scratchpad.deeds.values()
    by_agent = group((deed.agent, (deed,)) for deed in deeds)
    met = _met(tuple(map(tuple, by_agent.values())))
    together = ((path, tuple(deed for _, _, deed in edits)) for path, edits in met)
    for path, both in group(chain(_failed_by_others(deeds), together)).items():
        yield _collision(path, detections.evidence(deeds=both))


def _failed_by_others(deeds: Iterable[Deed]) -> Iterator[tuple[str, tuple[Deed]]]:
    """Yield the edits and commands that failed since a file had changed, with that file."""
    for deed in deeds:
        found = _COLLIDED.search(deed.message) if deed.is_error else None
        if found is not None and deed.act in {Act.EDIT, Act.RUN}:
            yield deed.target if deed.act is Act.EDIT else found["path"] or "", (deed,)


def between(*, scratchpads: tuple[Scratchpad, ...]) -> Iterator[Sighting]:
    """Find the files at which some parallel agents collided; the evidence is each one's."""
    for path, met in _met(tuple(tuple(each.deeds.values()) for each in scratchpads)):
        evidence = tuple(
            SignalEvidence(sequence=one.sequence, step=one.step, file=one.target, line=one.line)
            for _, _, one in met
        )
        yield _collision(path, evidence[-detections.EVIDENCE_MOST :])


def _collision(path: str, evidence: tuple[SignalEvidence, ...]) -> Sighting:
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
    edits = group(
        (deed.target, ((when(deed), agent, deed),))
        for agent, deeds in enumerate(at_work)
        for deed in each_file(deeds=deeds)
        if detections.is_own_edit(deed=deed)
    )
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


def find_repeated_grep(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 6: the same search three times in one session: its answer is not where one looks.

    Seen when the same pattern, letters compared without case, is searched at least three times.
    """
    greps = (one for one in scratchpad.deeds.values() if one.act is Act.GREP and one.target)
    for pattern, deeds in group((one.target.lower()[:KEY_MOST], (one,)) for one in greps).items():
        if len(deeds) >= GREPS_LEAST:
            answers = next((deed.found for deed in reversed(deeds) if deed.found), ())[:FOUND_NAMED]
            yield made(
                SignalKind.REPEATED_GREP,
                pattern,
                deeds,
                files=answers,
                times=len(deeds),
                pattern=deeds[-1].target,
                found=", ".join(answers),
            )


def find_external_reference(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 10: a page of the web that the work needed.

    Seen when a page with an address was fetched and a file was edited within the next ten calls.
    """
    needed = _pages_with_edits(in_order(scratchpad=scratchpad))
    for host, both in group(needed).items():
        files = tuple(deed.target for deed in both if deed.act is Act.EDIT)
        pages = tuple(dict.fromkeys(deed.target for deed in both if deed.act is Act.FETCH))
        details = {"host": host, "page": pages[-1]}
        times = len(pages)
        yield made(SignalKind.EXTERNAL_REFERENCE, host, both, files=files, times=times, **details)


def _pages_with_edits(deeds: tuple[Deed, ...]) -> Iterator[tuple[str, _Meeting]]:
    """Yield by host each fetch of a page, with the edit that followed it."""
    for place, deed in enumerate(deeds):
        if deed.act is Act.FETCH and not deed.is_error and "://" in deed.target:
            following = deeds[place + 1 : place + 1 + PAGE_CALLS]
            edit = next((one for one in following if one.is_edit), None)
            if edit is not None:
                yield external_content.host(url=deed.target), (deed, edit)
