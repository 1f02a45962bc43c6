"""What work begins with: files to read first, unfinished work, what the stage before hands over.

Files read in more than 80 % of a module's sessions come first, those in more than 50 % next, at
most twelve and 30,000 tokens. A file whose size nobody knows is not planned: a budget that rests on
a guess is none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from memory.customization.phases import Transition
from memory.records.queries.views import MemoryView
from memory.sessions import counters
from memory.sessions.counters import FileRow, ModuleRow
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad, each_file, edited
from memory.sessions.tools import Act

PLAN_TOKENS_MOST: Final = 30_000  # of the point's 32,000; the others are for text beside the files
PLAN_FILES_MOST: Final = 12
WORK_FILES_MOST: Final = 12  # of unfinished work; default, not measured
HANDED_OVER_MOST: Final = 20  # memories of a transition; default, not measured
BEFORE: Final = -1  # the sequence of what happened before the first event

SuggestedFiles = Mapping[str, int]  # by path the last event before it was suggested
ModuleHistory = tuple[ModuleRow, tuple[FileRow, ...]]  # what is worked on, and its files


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """One file to read first; `always` tells the first group from the second."""

    path: str
    tokens: int
    always: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """The files in their order, the tokens of all of them, and those that were left out."""

    files: tuple[PlannedFile, ...]
    tokens: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkState:
    """Where unfinished work stopped: the task, the files changed, the last error left.

    `branch` and `at` say where and when that was.
    """

    task: str
    files: tuple[str, ...]
    last_error: str
    step: int
    branch: str
    at: datetime


def plan_files(*, modules: Iterable[ModuleHistory]) -> FilePlan:
    """Plan the files of some modules."""
    histories = tuple(modules)
    tokens = {row.path: counters.file_tokens(row=row) for _, files in histories for row in files}
    always, often = (
        [
            path
            for module, files in histories
            for path in counters.shares(module=module, files=files, above=above)
        ]
        for above in (counters.ALWAYS_ABOVE, counters.OFTEN_ABOVE)
    )
    kept: list[PlannedFile] = []
    left: list[str] = []
    spent = 0
    for path in dict.fromkeys((*always, *often)):
        cost = tokens[path]
        if cost is None or spent + cost > PLAN_TOKENS_MOST or len(kept) >= PLAN_FILES_MOST:
            left.append(path)
            continue
        kept.append(PlannedFile(path=path, tokens=cost, always=path in always))
        spent += cost
    return FilePlan(files=tuple(kept), tokens=spent, left_out=tuple(left))


def unprompted(*, scratchpad: Scratchpad, suggested: SuggestedFiles) -> Scratchpad:
    """Return a session without the reads of files that were suggested to it before.

    A plan of files rests on what sessions read; a read that was suggested would keep the plan
    alive. A suggested file counts where it was edited, or touched before it was suggested.
    """
    touched_before = {
        deed.target
        for deed in each_file(deeds=scratchpad.deeds.values())
        if deed.sequence <= suggested.get(deed.target, BEFORE)
    }
    obeyed = suggested.keys() - edited(scratchpad=scratchpad) - touched_before
    return replace(
        scratchpad,
        deeds={
            at: deed
            for at, deed in scratchpad.deeds.items()
            if deed.act is not Act.READ or {deed.target, *deed.also} - obeyed
        },
        files={path: use for path, use in scratchpad.files.items() if path not in obeyed},
    )


def handed_over(
    *,
    transitions: tuple[Transition, ...],
    before: str,
    after: str,
    recorded: Iterable[MemoryView],
) -> tuple[UUID, ...]:
    """Return what one stage hands over to the next; nothing where no transition is named."""
    found = next((one for one in transitions if (one.before, one.after) == (before, after)), None)
    if found is None:
        return ()
    fitting = (one for one in recorded if not found.types or found.types & {one.type, one.own_type})
    ranked = sorted(fitting, key=lambda one: (-one.effective_confidence, one.id))
    return tuple(one.id for one in ranked[:HANDED_OVER_MOST])


def _uncommitted(scratchpad: Scratchpad) -> frozenset[str]:
    """Return the files that were edited, behind the last commit if there was one."""
    files = edited(scratchpad=scratchpad)
    if not scratchpad.commits:
        return files
    committed = max(one.sequence for one in scratchpad.commits)
    deeds = scratchpad.deeds.values()
    edits = (one for one in deeds if one.act is Act.EDIT and one.sequence > committed)
    return files.intersection(one.target for one in edits)


def work_state(*, scratchpad: Scratchpad, branch: str, at: datetime) -> WorkState | None:
    """Return where a session stopped; None when it succeeded or changed nothing after a commit."""
    files = _uncommitted(scratchpad)
    if scratchpad.outcome is Outcome.SUCCESS or not files:
        return None
    recent = sorted(files, key=lambda path: -scratchpad.files[path].last_sequence)
    last = next(reversed(scratchpad.deeds.values()), None)
    return WorkState(
        task=scratchpad.task,
        files=tuple(recent[:WORK_FILES_MOST]),
        last_error=last.message if last and last.is_error else "",
        step=scratchpad.current_step,
        branch=branch,
        at=at,
    )
