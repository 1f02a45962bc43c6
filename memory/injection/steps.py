"""Between steps: whether there is anything to say, and what about.

Three triggers, in their order, from the fifth step on. The first alone is on by default: a file
that was just touched. The other two are for projects that ask for them.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Recorded, Scratchpad, in_order
from memory.sessions.tools import Act

FIRST_STEP: Final = 5
SEARCHES: Final = 3  # the last ones
CONFIDENCE_LEAST: Final = 0.65  # of what a touched file has
STEPS_BACK: Final = 1  # what was touched in this step or the one before is “just” touched, ours
_FILES: Final = frozenset({Act.READ, Act.EDIT})
_SEARCHES: Final = frozenset({Act.GREP, Act.GLOB})


class Trigger(StrEnum):
    """Why something is said between steps."""

    FILE_TOUCHED = "file_touched"
    RECORDED = "recorded"
    SEARCHED = "searched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to look up, for which trigger: files, the agent's own entries, or patterns."""

    trigger: Trigger
    files: tuple[str, ...] = ()
    recorded: tuple[Recorded, ...] = ()
    patterns: tuple[str, ...] = ()


DEFAULT: Final = frozenset({Trigger.FILE_TOUCHED})


def asked(
    *, scratchpad: Scratchpad, step: int, through: int, triggers: frozenset[Trigger] = DEFAULT
) -> tuple[Asked, ...]:
    """Return what to look up at a step, in the order of triggers; the first with an answer is said.

    `through` is the sequence number of the last event that an earlier step had looked at.
    """
    if step < FIRST_STEP:
        return ()
    deeds = in_order(scratchpad=scratchpad)
    recorded = tuple(entry for entry in scratchpad.recorded if entry.sequence > through)
    every = (
        Asked(trigger=Trigger.FILE_TOUCHED, files=_touched(deeds, step, through)),
        Asked(trigger=Trigger.RECORDED, recorded=recorded),
        Asked(trigger=Trigger.SEARCHED, patterns=_searched(deeds, through)),
    )
    return tuple(
        one
        for one in every
        if one.trigger in triggers and (one.files or one.recorded or one.patterns)
    )


def _touched(deeds: tuple[Deed, ...], step: int, through: int) -> tuple[str, ...]:
    """Return the files of the repository touched just now, the last first."""
    just = (
        deed.target
        for deed in reversed(deeds)
        if deed.act in _FILES and deed.sequence > through and deed.step >= step - STEPS_BACK
    )
    return tuple(
        path for path in dict.fromkeys(just) if path and not file_paths.is_outside(path=path)
    )


def _searched(deeds: tuple[Deed, ...], through: int) -> tuple[str, ...]:
    """Return the patterns of the last three searches, the last first, if one of them is new."""
    last = [deed for deed in deeds if deed.act in _SEARCHES and deed.target][-SEARCHES:]
    if not last or last[-1].sequence <= through:
        return ()
    return tuple(dict.fromkeys(deed.target for deed in reversed(last)))
