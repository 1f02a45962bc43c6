"""What is delivered at a point, what work begins with, and what memories imply for a plan.

*Selection*: few memories, fresh, relevant, within a hard budget. Whatever else holds, nothing is
delivered twice in a session, and never more tokens than the point has; a memory that does not fit
is passed over for a shorter one behind it. Between steps three triggers are looked at in their
order, from the fifth step on. The first alone is on by default: a file that was just touched.

*What work begins with*: files to read first, unfinished work, what the stage before hands over.
Files read in more than 80 % of a module's sessions come first, those in more than 50 % next, at
most twelve and 30,000 tokens. A file whose size nobody knows is not planned: a budget that rests on
a guess is none.

*Plans*: calibrations multiply the estimate, dead ends are constraints, causal dependencies widen
the scope; outcomes and recipes are given as they are. A complex plan has a short checklist.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import Final
from uuid import UUID

from memory.customization.phases import Transition
from memory.experiments.points import OF_A_FILE, POINTS, WARNINGS, Point
from memory.injection.eligibility import WARNING_CONFIDENCE
from memory.records.queries.views import GraphPart, MemoryView
from memory.search.packing import SALIENCE_BOOST
from memory.sessions import counters
from memory.sessions.counters import FileRow, ModuleRow
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad, each_file, edited
from memory.sessions.tools import Act
from memory.taxonomy import FIX, MemoryType
from memory.text import text as texts
from memory.text import tokens

MEMORIES_MOST: Final = {  # at once; defaults, not measured
    Point.BRIEF: 12,
    Point.SESSION_START: 12,
    Point.TOOL_RESULT: 4,
    Point.STEP: 4,
    Point.PLANNER: 30,
}
TOKENS_MOST: Final = max(row.tokens for row in POINTS.values())
TOKENS_EACH: Final = 8  # of the line that carries a memory beside its content; default
FIRST_STEP: Final = 5  # before it nothing is delivered between steps
MET_SHARE: Final = 0.5  # of a warning's words that a failed call must have; default
FEWEST_MET: Final = 3  # of them; default
SEARCHES: Final = 3  # the last ones that are looked at
LONGEST_QUESTION: Final = 400  # characters of an entry that is looked up; default
_NO_WORDS: Final = re.compile(r"\\.|[^\w./-]+")  # of a regular expression or a glob
_SEARCHES: Final = frozenset({Act.GREP, Act.GLOB})


class Trigger(StrEnum):
    """Why something is delivered between steps."""

    FILE_TOUCHED = "file_touched"
    RECORDED = "recorded"
    SEARCHED = "searched"


ON_REQUEST: Final = frozenset({Trigger.RECORDED, Trigger.SEARCHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSet:
    """What may be delivered: memories by id, how relevant each is, and for which file.

    `working` are files that are worked on: memories about them come first. `heading` is a text that
    stands before the memories, `reserved` how many of the point's tokens the files that it names
    take; `aside` a text that is never delivered alone. At most `tokens_most` tokens are delivered.
    `graph` is what the graph did to the ranking, where a search found them. `is_of_failure`: they
    are about a call that just failed, whatever its files.
    """

    views: Mapping[UUID, MemoryView] = field(default_factory=dict)
    relevance: Mapping[UUID, float] = field(default_factory=dict)
    files: Mapping[UUID, str] = field(default_factory=dict)
    working: frozenset[str] = frozenset()
    heading: str = ""
    reserved: int = 0
    aside: str = ""
    tokens_most: int = TOKENS_MOST
    graph: GraphPart | None = None
    is_of_failure: bool = False


def select(
    *, candidates: CandidateSet, point: Point, delivered: frozenset[UUID]
) -> tuple[UUID, ...]:
    """Return what is delivered of what may be, the most salient first; most often nothing.

    After a tool result, and between steps when a file was touched, the files worked on are those
    just touched, and only what warns of them is selected. Salience is relevance · confidence,
    + 0.15 when one of its files is worked on.
    """
    working = _worked_on(candidates)
    is_after_touch = _is_after_touch(candidates, point)
    salience: dict[UUID, float] = {}
    for view in candidates.views.values():
        is_near = candidates.is_of_failure or view.id in candidates.files
        is_near = is_near or not working.isdisjoint(view.related_files)
        if view.id not in delivered and _is_wanted(
            view, point, is_near=is_near, is_after_touch=is_after_touch
        ):
            salience[view.id] = candidates.relevance[view.id] * view.effective_confidence
            salience[view.id] += SALIENCE_BOOST if is_near else 0.0
    return _fit(salience, candidates, point)


def least_confidence(*, candidates: CandidateSet, point: Point, least: float) -> float:
    """Return how sure what was inferred must be at a point, where a level asks for `least`."""
    return max(least, WARNING_CONFIDENCE) if _is_after_touch(candidates, point) else least


def _worked_on(candidates: CandidateSet) -> frozenset[str]:
    return candidates.working | frozenset(candidates.files.values())


def _is_after_touch(candidates: CandidateSet, point: Point) -> bool:
    return point is Point.TOOL_RESULT or (point is Point.STEP and bool(_worked_on(candidates)))


def _is_wanted(view: MemoryView, point: Point, *, is_near: bool, is_after_touch: bool) -> bool:
    """Say whether a memory is of a type for a point; after a touch only what warns of the file."""
    types = POINTS[point].types
    if types and view.type not in types:
        return False
    return not is_after_touch or (is_near and view.type in OF_A_FILE)


def met(*, views: Mapping[UUID, MemoryView], failed: str) -> dict[UUID, MemoryView]:
    """Return the warnings that are about a failed call: their own words stand in call and error."""
    said = texts.content_words(text=failed)
    return {one: view for one, view in views.items() if _is_met(view, said)}


def _is_met(view: MemoryView, said: frozenset[str]) -> bool:
    """Say whether words have most of a warning's own.

    What went through instead is none of these: it is what the agent is to be told.
    """
    fix = view.attributes.get(FIX)
    own = texts.content_words(text=view.content)
    own -= texts.content_words(text=fix) if isinstance(fix, str) else frozenset()
    is_warning = view.type in WARNINGS | {MemoryType.FIX}
    return is_warning and len(own & said) >= max(FEWEST_MET, len(own) * MET_SHARE)


def _fit(
    salience: Mapping[UUID, float], candidates: CandidateSet, point: Point
) -> tuple[UUID, ...]:
    """Return the most salient memories that fit into the tokens of a point."""
    kept: list[UUID] = []
    room = POINTS[point].tokens
    for memory_id in sorted(salience, key=lambda one: (-salience[one], one)):
        if len(kept) == MEMORIES_MOST[point]:
            break
        cost = tokens_of(content=candidates.views[memory_id].content)
        if cost <= room:
            kept.append(memory_id)
            room -= cost
    return tuple(kept)


def tokens_of(*, content: str) -> int:
    """Return an upper estimate of the tokens that a memory takes."""
    return tokens.count(text=content) + TOKENS_EACH


def triggered_questions(
    *, scratchpad: Scratchpad, through: int, triggers: frozenset[Trigger]
) -> tuple[str, ...]:
    """Return what to look up by words between steps, in the order of triggers.

    `through` is the sequence number of the last event that an earlier step had looked at. Of
    entries that an agent recorded the last is looked up; of its searches the words of the last
    three, the last first, if one of them is new.
    """
    recorded = [one.text for one in scratchpad.recorded if one.sequence > through]
    questions = {
        Trigger.RECORDED: recorded[-1] if recorded else "",
        Trigger.SEARCHED: _searched_words(scratchpad, through),
    }
    texts = (questions[one][:LONGEST_QUESTION].strip() for one in questions if one in triggers)
    return tuple(filter(None, texts))


def _searched_words(scratchpad: Scratchpad, through: int) -> str:
    """Return the words of the last searches, the last first; empty where none is new."""
    deeds = scratchpad.deeds.values()
    searches = [one for one in deeds if one.act in _SEARCHES and one.target][-SEARCHES:]
    if not searches or searches[-1].sequence <= through:
        return ""
    patterns = dict.fromkeys(one.target for one in reversed(searches))
    return " ".join(_NO_WORDS.sub(" ", " ".join(patterns)).split())


PLAN_TOKENS_MOST: Final = 30_000  # of the point's 32,000; the others are for text beside the files
PLAN_FILES_MOST: Final = 12
WORK_FILES_MOST: Final = 12  # of unfinished work; default, not measured
HANDED_OVER_MOST: Final = 20  # memories of a transition; default, not measured

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
    sizes = {row.path: counters.file_tokens(row=row) for _, files in histories for row in files}
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
        cost = sizes[path]
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
        if deed.target in suggested and deed.sequence <= suggested[deed.target]
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


CALIBRATION_MOST: Final = 2.0
STEPS_MOST: Final = 400  # absolute; default, not measured
CITED_MOST: Final = {  # memories of each type that a plan rests on; defaults, not measured
    MemoryType.TASK_CALIBRATION: 5,
    MemoryType.DEAD_END: 8,
    MemoryType.CAUSAL_DEPENDENCY: 10,
    MemoryType.WORK_UNIT_OUTCOME: 5,
    MemoryType.WORKFLOW_RECIPE: 2,
}
FILES_MOST: Final = 12  # that are named as also in scope; default
COMPLEX_STEPS: Final = 8  # of a plan that has a checklist; default
COMPLEX_MODULES: Final = 2  # of a plan that has a checklist; default
CHECKS_MOST: Final = 7  # lines of a checklist; default
CHECKED: Final = (
    MemoryType.REQUIREMENT,
    MemoryType.DEAD_END,
    MemoryType.CAUSAL_DEPENDENCY,
    MemoryType.GOTCHA,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAdvice:
    """What memory implies for a plan; `step_limit` None where nobody said how long it is.

    `rests_on` are the memories that it follows from, `checklist` those to check, in their order;
    empty for a simple plan.
    """

    calibration: float | None = None
    planned_steps: int | None = None
    step_limit: int | None = None
    also_in_scope: tuple[str, ...] = ()
    rests_on: tuple[UUID, ...] = ()
    checklist: tuple[UUID, ...] = ()


def advise(
    *, memories: Iterable[MemoryView], planned_steps: int | None, files: frozenset[str]
) -> PlanAdvice:
    """Compose what follows for a task of so many steps that touches some files.

    The calibration is the mean ratio, each weighed by its samples. A dependency adds its files when
    one of them is in scope.
    """
    ranked = sorted(memories, key=lambda one: (-one.effective_confidence, one.id))
    kept = {
        type: tuple(one for one in ranked if one.type == type)[:most]
        for type, most in CITED_MOST.items()
    }
    calibration = _mean_ratio(kept[MemoryType.TASK_CALIBRATION])
    coupled = (
        path
        for one in kept[MemoryType.CAUSAL_DEPENDENCY]
        if not files.isdisjoint(one.related_files)
        for path in one.related_files
        if path not in files
    )
    limit = step_limit(base=planned_steps, calibration=calibration) if planned_steps else None
    return PlanAdvice(
        calibration=calibration,
        planned_steps=planned_steps,
        step_limit=limit,
        also_in_scope=tuple(dict.fromkeys(coupled))[:FILES_MOST],
        rests_on=tuple(one.id for one in chain.from_iterable(kept.values())),
    )


def _mean_ratio(calibrations: tuple[MemoryView, ...]) -> float | None:
    """Return the mean of the ratios that memories measured, each weighed by its samples."""
    fields = [one.attributes for one in calibrations]
    measured = [
        (_positive(one.get("ratio"), 0.0), int(_positive(one.get("samples"), 1))) for one in fields
    ]
    samples = sum(count for ratio, count in measured if ratio)
    total = sum(ratio * count for ratio, count in measured)
    return total / samples if samples else None


def _positive(value: object, otherwise: float) -> float:
    """Return a number of an attribute of a calibration, which agents write as they like."""
    return float(value) if isinstance(value, int | float) and value > 0 else otherwise


def step_limit(*, base: int, calibration: float | None) -> int:
    """Compute L = min(⌈base · min(r, 2.0)⌉, 400) steps; r = 1 when nothing is known.

    Raises ValueError for a base below 1.
    """
    if base < 1:
        raise ValueError(f"base must be at least 1, not {base}")
    factor = min(calibration if calibration is not None else 1.0, CALIBRATION_MOST)
    return max(1, min(math.ceil(base * factor), STEPS_MOST))


def is_complex(*, steps: int, modules: int) -> bool:
    """Say whether a plan is worth a checklist."""
    return steps >= COMPLEX_STEPS or modules >= COMPLEX_MODULES


def checklist(*, memories: Iterable[MemoryView]) -> tuple[UUID, ...]:
    """Return what to check: what must hold, what failed, what is coupled, traps."""
    ranked = sorted(
        (CHECKED.index(type), -one.effective_confidence, one.id)
        for one in memories
        if (type := MemoryType(one.type)) in CHECKED
    )
    return tuple(memory_id for _, _, memory_id in ranked[:CHECKS_MOST])
