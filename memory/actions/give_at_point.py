"""Give back at the point that an agent names, for the session that it works in (spec 4.6, 8.1).

What may be given, and how much of it, is each point's own; most often nothing is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.actions import (
    allowing,
    beginning,
    briefing,
    giving_back,
    planning,
    prefetching,
    resuming,
    scratchpads,
)
from memory.actions.append_turns import hold_own
from memory.actions.asking import SearchRequest
from memory.actions.beginning import Work
from memory.actions.briefing import Wish
from memory.actions.give_at_step import Step, give_at_step
from memory.actions.giving_back import SILENCE, GivenBack
from memory.actions.listener import Listener
from memory.actions.planning import Advice, Task
from memory.actions.resuming import Unfinished
from memory.actions.standing import standing
from memory.observer.injection.points import Point
from memory.observer.injection.prefetch import Plan
from memory.observer.injection.steps import FIRST_STEP
from teams.permissions import require
from teams.roles import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class AtPoint:
    """What an agent says at a point: its task, the files and modules, where it stands."""

    point: Point
    session_id: UUID
    wanted: SearchRequest
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    step: int = FIRST_STEP
    estimate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AtPointGiven:
    """What is given, and what a point gives beside memories."""

    back: GivenBack = SILENCE
    prefetch: Plan | None = None
    unfinished: Unfinished | None = None
    advice: Advice | None = None


def give_at_point(*, caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    """Return what a point gives.

    Raises NotFound, InvalidInput, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Act.READ)
    return _GIVES[asked.point](caller, asked, now)


def _system_prompt(caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=asked.session_id)
        files = scratchpads.named(row=row, paths=asked.files)
        allowed = allowing.of_session(caller=caller, row=row, point=Point.SYSTEM_PROMPT)
        if not briefing.is_due(row=row) or not allowed.is_open:
            return AtPointGiven()
        modules = prefetching.modules_of(named=asked.modules, files=files)
        known = standing(caller=caller, row=row, modules=modules, now=now)
    wish = Wish(wanted=asked.wanted, working=files, known=known)
    back = briefing.brief(caller=caller, listener=Listener(row=row), wish=wish, now=now)
    return AtPointGiven(back=back)


def _first_message(caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=asked.session_id)
        allowed = allowing.of_session(caller=caller, row=row, point=asked.point)
        if beginning.was_told(row=row) or not allowed.is_open:
            return AtPointGiven()
        files = scratchpads.named(row=row, paths=asked.files)
        modules = prefetching.modules_of(named=asked.modules, files=files)
        left = resuming.unfinished(caller=caller, row=row)
        work = Work(modules=modules, left=left)
        begun = beginning.begin(caller=caller, listener=Listener(row=row), work=work, now=now)
    return AtPointGiven(back=begun.back, prefetch=begun.plan, unfinished=left)


def _tool_result(caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=asked.session_id)
        files = scratchpads.named(row=row, paths=asked.files)
        if not allowing.of_session(caller=caller, row=row, point=asked.point).is_open:
            return AtPointGiven()
        found = giving_back.about_files(caller=caller, row=row, files=files, now=now)
        back = giving_back.give_back(
            caller=caller, listener=Listener(row=row), point=asked.point, found=found, now=now
        )
    return AtPointGiven(back=back)


def _step(caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    step = Step(number=asked.step, files=asked.files)
    back = give_at_step(caller=caller, session_id=asked.session_id, step=step, now=now)
    return AtPointGiven(back=back)


def _planner(caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=asked.session_id)
        files = scratchpads.named(row=row, paths=asked.files)
    task = Task(
        wanted=asked.wanted,
        modules=prefetching.modules_of(named=asked.modules, files=files),
        files=files,
        estimate=asked.estimate,
    )
    done = planning.plan(caller=caller, session_id=asked.session_id, task=task, now=now)
    return AtPointGiven(back=done.back, advice=done.advice)


_GIVES: Final[Mapping[Point, Callable[[Caller, AtPoint, datetime], AtPointGiven]]] = {
    Point.SYSTEM_PROMPT: _system_prompt,
    Point.FIRST_MESSAGE: _first_message,
    Point.TOOL_RESULT: _tool_result,
    Point.STEP: _step,
    Point.PLANNER: _planner,
}
