"""From one stage of a methodology to the next: what is passed on.

A methodology names its transitions, each with the types that pass; without types everything does.
What a stage left unfinished is its work state.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory.customization.methodology import Transition
from memory.injection.planner import Known
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad, edited, in_order
from memory.sessions.tools import Act

FILES_MOST: Final = 12  # of a work state, ours
PASSED_MOST: Final = 20  # memories of a transition, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkState:
    """Where unfinished work stands: the task, the files changed, the last error left."""

    task: str
    files: tuple[str, ...]
    last_error: str
    step: int


def passed_on(
    *, transitions: tuple[Transition, ...], before: str, after: str, recorded: Iterable[Known]
) -> tuple[Known, ...]:
    """Return what one stage passes on to the next; nothing where no transition is named."""
    way = next((one for one in transitions if (one.before, one.after) == (before, after)), None)
    if way is None:
        return ()
    fitting = (
        one for one in recorded if not way.types or way.types & {one.type.value, one.own_type}
    )
    return tuple(sorted(fitting, key=lambda one: (-one.confidence, one.id)))[:PASSED_MOST]


def work_state(*, scratchpad: Scratchpad) -> WorkState | None:
    """Return where a session stopped; None when it succeeded or changed nothing after a commit."""
    committed = max((one.sequence for one in scratchpad.commits), default=0)
    later = {
        deed.target
        for deed in scratchpad.deeds.values()
        if deed.act is Act.EDIT and deed.sequence > committed
    }
    files = [path for path in edited(scratchpad=scratchpad) if not committed or path in later]
    if scratchpad.outcome is Outcome.SUCCESS or not files:
        return None
    recent = sorted(files, key=lambda path: -scratchpad.files[path].last_sequence)
    deeds = in_order(scratchpad=scratchpad)
    left = deeds[-1].message if deeds and deeds[-1].is_error else ""
    return WorkState(
        task=scratchpad.task,
        files=tuple(recent[:FILES_MOST]),
        last_error=left,
        step=scratchpad.current_step,
    )
