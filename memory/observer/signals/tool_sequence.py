"""Signal 7: the same sequence of steps done again: a recipe that nobody wrote down.

Seen when three to six kinds of step, at least three of them different and one of them a command,
occur in the same order at least twice without overlap. Reading and searching between them does not
count, and the same step twice in a row is one. The longest sequences come first; their parts are
not named again.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import tools
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act

LONGEST: Final = 6  # steps, ours
SHORTEST: Final = 3  # steps, ours
TIMES_LEAST: Final = 2  # ours
STEPS_MOST: Final = 1_500  # looked at, the last ones; ours
_SAYS_LITTLE: Final = frozenset({"ls", "cd", "pwd", "echo", "cat", "git status", "git diff",
                                 "git log", "find", "wc", "which", "head", "tail"})  # fmt: skip


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the sequences that were done again."""
    steps = _steps(scratchpad)[-STEPS_MOST:]
    words = tuple(word for word, _ in steps)
    taken: list[tuple[str, ...]] = []
    found: list[Sighting] = []
    for length in range(LONGEST, SHORTEST - 1, -1):
        for sequence, starts in _repeated(words, length).items():
            if not any(_is_part(sequence, longer) for longer in taken):
                taken.append(sequence)
                found.append(_sighting(sequence, starts, steps))
    return detections.strongest(sightings=found)


def _steps(scratchpad: Scratchpad) -> tuple[tuple[str, Deed], ...]:
    """Return what was done as words, the same one in a row once."""
    steps: list[tuple[str, Deed]] = []
    for deed in scratchpad.deeds.values():
        word = _word(deed)
        if word and (not steps or steps[-1][0] != word):
            steps.append((word, deed))
    return tuple(steps)


def _word(deed: Deed) -> str:
    """Return the kind of a step; empty for what is no step of a recipe."""
    if deed.is_error:
        return ""
    if deed.act is Act.EDIT:
        folder, _, name = deed.target.rpartition("/")
        return f"edit {folder + '/' if folder else ''}*.{name.rpartition('.')[2]}"
    if deed.act is Act.TEST:
        return "run tests"
    program = tools.program(command=deed.target) if deed.act is Act.RUN else ""
    return "" if not program or program in _SAYS_LITTLE else f"run {program}"


def _repeated(words: tuple[str, ...], length: int) -> dict[tuple[str, ...], list[int]]:
    """Return the sequences of a length that occur often enough, with where they begin."""
    starts: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(words) - length + 1):
        sequence = words[place : place + length]
        if not _is_recipe(sequence):
            continue
        known = starts.setdefault(sequence, [])
        if not known or place >= known[-1] + length:
            known.append(place)
    return {sequence: found for sequence, found in starts.items() if len(found) >= TIMES_LEAST}


def _is_recipe(sequence: tuple[str, ...]) -> bool:
    has_command = any(word.startswith("run") for word in sequence)
    return has_command and len(set(sequence)) >= SHORTEST


def _is_part(sequence: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    """Say whether a sequence lies in a longer one that is walked round and round."""
    around = longer * 2
    return any(around[place : place + len(sequence)] == sequence for place in range(len(longer)))


def _sighting(
    sequence: tuple[str, ...], starts: list[int], steps: tuple[tuple[str, Deed], ...]
) -> Sighting:
    last = tuple(deed for _, deed in steps[starts[-1] : starts[-1] + len(sequence)])
    files = tuple(dict.fromkeys(deed.target for deed in last if deed.act is Act.EDIT))
    return Sighting(
        kind=SignalKind.TOOL_SEQUENCE,
        key=" > ".join(sequence)[: detections.KEY_MOST],
        files=files[: detections.FILES_MOST],
        evidence=detections.evidence(deeds=last),
        times=len(starts),
        details=(("steps", "\n".join(sequence)),),
    )
