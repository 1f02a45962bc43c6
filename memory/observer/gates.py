"""When a session's candidates may be promoted, and how many.

A table by type of session. A long build is promoted piece by piece: once it has more than five
subtasks, after each that was validated.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad, SessionType, Setting
from memory.taxonomy import MemoryType

PIECEWISE_ABOVE: Final = 5  # subtasks of a build


class Gate(StrEnum):
    """What must have happened."""

    QA_PASSED = "qa_passed"
    END = "end"
    SPEC_ACCEPTED = "spec_accepted"
    REVIEW_DONE = "review_done"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One type of session; `types` is empty where any type may be promoted."""

    type: SessionType
    gate: Gate
    most: int
    types: frozenset[MemoryType] = frozenset()


GATES: Final = {
    row.type: row
    for row in (
        GateRow(type=SessionType.BUILD, gate=Gate.QA_PASSED, most=20),
        GateRow(type=SessionType.INSIGHTS, gate=Gate.END, most=5),
        GateRow(
            type=SessionType.ROADMAP,
            gate=Gate.END,
            most=3,
            types=frozenset({MemoryType.DECISION, MemoryType.REQUIREMENT}),
        ),
        GateRow(type=SessionType.TERMINAL, gate=Gate.END, most=3),
        GateRow(type=SessionType.CHANGELOG, gate=Gate.NEVER, most=0),
        GateRow(type=SessionType.SPEC, gate=Gate.SPEC_ACCEPTED, most=3),
        GateRow(type=SessionType.PR_REVIEW, gate=Gate.REVIEW_DONE, most=8),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What has happened to the work of a session beyond its events."""

    spec_accepted: bool = False
    review_done: bool = False
    subtasks: int = 0
    subtask_validated: bool = False


def of_turns(*, setting: Setting) -> GateRow | None:
    """Return the row that also holds for what a session's turns teach; None where none does.

    It is that of a roadmap: decisions and requirements are said, and no signal shows them.
    """
    row = GATES[setting.type]
    return row if row.types else None


def is_open(*, scratchpad: Scratchpad, progress: Progress) -> bool:
    """Say whether candidates of a session may be promoted now."""
    gate = GATES[scratchpad.setting.type].gate
    if gate is Gate.QA_PASSED:
        return qa_passed(scratchpad=scratchpad) or _is_piece(progress)
    return {
        Gate.END: scratchpad.outcome is not None,
        Gate.SPEC_ACCEPTED: progress.spec_accepted,
        Gate.REVIEW_DONE: progress.review_done,
        Gate.NEVER: False,
    }[gate]


def is_of_qa(*, setting: Setting) -> bool:
    """Say whether QA decides; what failed is worth keeping there also where it never passed."""
    return GATES[setting.type].gate is Gate.QA_PASSED


def is_piecewise(*, setting: Setting) -> bool:
    """Say whether a session is a build of so many subtasks that it is promoted piece by piece."""
    return is_of_qa(setting=setting) and setting.planned_steps > PIECEWISE_ABOVE


def validated(*, scratchpad: Scratchpad) -> int:
    """Return the sequence of the report that validated the last subtask; 0 where none did."""
    return scratchpad.reports[-1].sequence if qa_passed(scratchpad=scratchpad) else 0


def qa_passed(*, scratchpad: Scratchpad) -> bool:
    """Say whether the last report of QA, which stands for all before it, says that it passed."""
    reports = scratchpad.reports
    return bool(reports) and reports[-1].outcome is Outcome.SUCCESS


def _is_piece(progress: Progress) -> bool:
    return progress.subtasks > PIECEWISE_ABOVE and progress.subtask_validated
