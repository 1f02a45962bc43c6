"""What a planner is told before work begins, and what it implies for the plan.

Memories of the modules of a task, and what a search for the task finds: calibrations multiply the
estimate, dead ends are constraints, causal dependencies widen the scope; outcomes and recipes are
told as they are. A plan that is worth it has a checklist. Only what may be given to the session
counts for any of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.actions import holdout
from memory.injection import planner
from memory.injection.actions import deliver, delivery_log, policy
from memory.injection.actions.deliver import CERTAIN, NOTHING, SILENCE, Found, GivenBack
from memory.injection.actions.recipient import Listener
from memory.injection.planner import Known, PlannerContext
from memory.records.queries import relations
from memory.records.queries.views import views_of
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.actions.request import SearchRequest
from memory.search.actions.search import search
from memory.search.sql import lookups
from memory.sessions.actions.append_turns import hold_own
from memory.sessions.models import Session
from memory.sessions.points import Point
from memory.taxonomy import MemoryType
from memory.text.text import normalized
from teams import trust, visibility

TYPES: Final = (*planner.LINES_MOST, *planner.CHECKED)
OF_MODULES: Final = 60  # memories of the modules, ours
OF_TASK: Final = 24  # results of the search, ours
IN_SCOPE_MOST: Final = 12  # files that are named, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task: its words with the filters of a search, modules, files, and planned steps."""

    wanted: SearchRequest
    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    estimate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What memory implies for a plan; `step_limit` None where nobody said how long it is.

    `checklist` are memories of the text in the order to check them, empty for a simple plan.
    """

    calibration: float | None = None
    planned_steps: int | None = None
    step_limit: int | None = None
    also_in_scope: tuple[str, ...] = ()
    rests_on: tuple[UUID, ...] = ()
    checklist: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What is given to a planner, and what follows from it."""

    back: GivenBack = SILENCE
    advice: Advice = Advice()


def plan(*, caller: Caller, session_id: UUID, task: Task, now: datetime) -> Planned:
    """Return what a planner is told about a task.

    Raises NotFound, InvalidInput, and Forbidden for a session that somebody else opened.
    """
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=session_id)
        if not policy.of_session(caller=caller, row=row, point=Point.PLANNER).is_open:
            return Planned()
        of_modules = _of_modules(caller, row, task.modules, now)
    request = replace(
        task.wanted,
        project=None if row.project is None else str(row.project.id),
        types=tuple(type.value for type in dict.fromkeys(TYPES)),
        limit=OF_TASK,
        is_noted=False,
    )
    answer = search(caller=caller, request=request, now=now)
    found = deliver.together(
        found=(of_modules, deliver.of_search(answer=answer, working=task.files))
    )
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=session_id)
        return _planned(caller, row, task, found, now)


def _of_modules(caller: Caller, row: Session, modules: tuple[str, ...], now: datetime) -> Found:
    """Find what is known of some modules, of the types that a planner asks for. In a unit."""
    if not modules:
        return NOTHING
    narrowing = Narrowing(
        project=None if row.project is None else str(row.project.id),
        types=tuple(type.value for type in dict.fromkeys(TYPES)),
    )
    sight = visibility.sight_of(caller=caller)
    ids = lookups.of_modules(
        modules=modules,
        question=narrowings.question(caller=caller, narrowing=narrowing),
        limit=OF_MODULES,
        sight=sight,
    )
    views = views_of(memory_ids=ids, sight=sight, now=now)
    return Found(views=views, relevance=dict.fromkeys(views, CERTAIN), files={})


def _planned(caller: Caller, row: Session, task: Task, found: Found, now: datetime) -> Planned:
    """Draw the conclusions, and give what they rest on. In a unit."""
    estimate = task.estimate or len(row.plan or ()) or None
    known, drawn = _drawn(caller, row, replace(task, estimate=estimate), found, now)
    advice = Advice(
        calibration=drawn.calibration,
        planned_steps=estimate,
        step_limit=drawn.estimate if estimate else None,
        also_in_scope=drawn.also_in_scope[:IN_SCOPE_MOST],
        rests_on=drawn.cited,
    )
    headed = replace(found, heading=_told(advice))
    listener, point, ids = Listener(row=row), Point.PLANNER, advice.rests_on
    back = deliver.give_back(caller=caller, listener=listener, point=point, found=headed, now=now)
    delivery_log.note(caller=caller, listener=listener, point=point, ids=ids, now=now)
    given = {one.memory.id for one in back.given}
    is_complex = planner.is_complex(steps=estimate or 0, modules=len(task.modules))
    checks = planner.checklist(known=(one for one in known if one.id in given))
    checklist = tuple(one.id for one in checks) if is_complex else ()
    return Planned(back=back, advice=replace(advice, checklist=checklist))


def _drawn(
    caller: Caller, row: Session, task: Task, found: Found, now: datetime
) -> tuple[tuple[Known, ...], PlannerContext]:
    """Draw conclusions without what is withheld from the session, and note that. In a unit."""
    left = holdout.withheld_from(row=row)
    known = tuple(one for one in _known(caller, row, found) if one.id not in left)
    while True:
        drawn = planner.context(
            known=known, estimate=task.estimate or 1, files=frozenset(task.files)
        )
        cited = (found.views[one] for one in drawn.cited)
        left = holdout.withhold(row=row, point=Point.PLANNER, views=cited, now=now)
        if not left:
            return known, drawn
        known = tuple(one for one in known if one.id not in left)


def _known(caller: Caller, row: Session, found: Found) -> tuple[Known, ...]:
    """Return what may be given to a session and contradicts nothing. In a unit."""
    allowed = policy.of_session(caller=caller, row=row, point=Point.PLANNER)
    offers = deliver.offers(row=row, found=found)
    sure = {
        one.id
        for one in offers
        if not one.is_tainted and trust.is_sure(confidence=one.confidence, least=allowed.confidence)
    }
    sight = visibility.sight_of(caller=caller)
    disputed = relations.contradicting(memory_ids=tuple(sorted(sure)), sight=sight)
    return tuple(
        Known(
            id=view.id,
            type=MemoryType(view.type),
            content=view.content,
            confidence=view.effective_confidence,
            files=view.related_files,
            **_measured(view.attributes),
        )
        for view in found.views.values()
        if view.id in sure and not disputed.get(view.id)
    )


def _measured(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ratio of a calibration and on how many samples it rests."""
    ratio, samples = attributes.get("ratio"), attributes.get("samples")
    return {
        "ratio": float(ratio) if isinstance(ratio, int | float) and ratio > 0 else 0.0,
        "samples": samples if isinstance(samples, int) and samples > 0 else 1,
    }


def _told(advice: Advice) -> str:
    """Write what memory implies as text that stands before memories; empty for nothing."""
    lines: list[str] = []
    if advice.calibration is not None:
        took = f"Work like this took {advice.calibration:.2f} times the steps planned"
        limit = f"; allow {advice.step_limit} steps" if advice.step_limit else ""
        lines.append(f"- {took}{limit}.")
    if advice.also_in_scope:
        paths = ", ".join(normalized(text=path) for path in advice.also_in_scope)
        lines.append(f"- Also in scope, because they change together: {paths}.")
    return "\n".join(("What this implies for the plan:", *lines)) + "\n" if lines else ""
