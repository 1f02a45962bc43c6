"""Give back at the point that an agent names, for the session that it works in.

What may be given, and how much of it, is each point's own; most often nothing is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.actions import brief, deliver, planner_context, policy, resume, session_start
from memory.injection.actions import prefetch as injection_prefetch
from memory.injection.actions.always_included import standing
from memory.injection.actions.brief import Wish
from memory.injection.actions.deliver import SILENCE, GivenBack
from memory.injection.actions.planner_context import Advice, Task
from memory.injection.actions.recipient import Listener
from memory.injection.actions.resume import Unfinished
from memory.injection.actions.session_start import Work
from memory.injection.actions.trigger_steps import Step, give_at_step
from memory.injection.prefetch_rules import Plan
from memory.injection.steps import FIRST_STEP
from memory.search.actions.request import SearchRequest
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_turns import hold_own
from memory.sessions.points import Point
from teams.permissions import Act, require


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
        allowed = policy.of_session(caller=caller, row=row, point=Point.SYSTEM_PROMPT)
        if not brief.is_due(row=row) or not allowed.is_open:
            return AtPointGiven()
        modules = injection_prefetch.modules_of(named=asked.modules, files=files)
        known = standing(caller=caller, row=row, modules=modules, now=now)
    wish = Wish(wanted=asked.wanted, working=files, known=known)
    back = brief.brief(caller=caller, listener=Listener(row=row), wish=wish, now=now)
    return AtPointGiven(back=back)


def _first_message(caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=asked.session_id)
        allowed = policy.of_session(caller=caller, row=row, point=asked.point)
        if session_start.was_told(row=row) or not allowed.is_open:
            return AtPointGiven()
        files = scratchpads.named(row=row, paths=asked.files)
        modules = injection_prefetch.modules_of(named=asked.modules, files=files)
        left = resume.unfinished(caller=caller, row=row)
        work = Work(modules=modules, left=left)
        begun = session_start.begin(caller=caller, listener=Listener(row=row), work=work, now=now)
    return AtPointGiven(back=begun.back, prefetch=begun.plan, unfinished=left)


def _tool_result(caller: Caller, asked: AtPoint, now: datetime) -> AtPointGiven:
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=asked.session_id)
        files = scratchpads.named(row=row, paths=asked.files)
        if not policy.of_session(caller=caller, row=row, point=asked.point).is_open:
            return AtPointGiven()
        found = deliver.about_files(caller=caller, row=row, files=files, now=now)
        back = deliver.give_back(
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
        modules=injection_prefetch.modules_of(named=asked.modules, files=files),
        files=files,
        estimate=asked.estimate,
    )
    done = planner_context.plan(caller=caller, session_id=asked.session_id, task=task, now=now)
    return AtPointGiven(back=done.back, advice=done.advice)


_GIVES: Final[Mapping[Point, Callable[[Caller, AtPoint, datetime], AtPointGiven]]] = {
    Point.SYSTEM_PROMPT: _system_prompt,
    Point.FIRST_MESSAGE: _first_message,
    Point.TOOL_RESULT: _tool_result,
    Point.STEP: _step,
    Point.PLANNER: _planner,
}
