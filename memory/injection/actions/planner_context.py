"""What a planner is given before work begins, and what it implies for the plan.

Memories of the modules of a task, and what a search for the task finds. Only what may be delivered
to the session counts for the implications, and a complex plan has a checklist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.actions import holdout
from memory.experiments.points import Point
from memory.injection import planner
from memory.injection.actions import deliver, delivery_log, policy
from memory.injection.actions.deliver import SILENCE, CandidateSet, Delivery
from memory.injection.actions.delivery_log import Recipient
from memory.injection.planner import PlanImplications, PlannerMemory
from memory.records.queries import relations
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions.models import Session
from memory.sessions.queries.sessions import hold_own
from memory.taxonomy import MemoryType
from memory.text.text import normalize
from teams import trust, visibility

TYPES: Final = frozenset((*planner.CITED_MOST, *planner.CHECKED))
MODULE_MEMORIES_MOST: Final = 60  # memories of the modules; default, not measured
RESULTS_MOST: Final = 24  # of the search; default
FILES_MOST: Final = 12  # files that are named as also in scope; default


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task: its search with filters, modules, files, and planned steps."""

    task: SearchRequest
    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    estimate: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAdvice:
    """What memory implies for a plan; `step_limit` None where nobody said how long it is.

    `checklist` are memories of the text in the order to check them, empty for a simple plan.
    """

    calibration: float | None = None
    planned_steps: int | None = None
    step_limit: int | None = None
    also_in_scope: tuple[str, ...] = ()
    rests_on: tuple[UUID, ...] = ()
    checklist: tuple[UUID, ...] = ()


def advise_planner(
    *, caller: Caller, session_id: UUID, planned: PlannedTask, now: datetime
) -> tuple[Delivery, PlanAdvice]:
    """Return what a planner is given about a task, and what follows from it.

    Raises NotFound, InvalidInput, and Forbidden for a session that somebody else opened.
    """
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=session_id)
        if not policy.is_open(caller=caller, session=session, point=Point.PLANNER):
            return SILENCE, PlanAdvice()
        on_modules = deliver.of_modules(
            caller=caller,
            session=session,
            modules=planned.modules,
            types=TYPES,
            limit=MODULE_MEMORIES_MOST,
            now=now,
        )
        narrowing = deliver.narrowing_of(session, TYPES)
    request = replace(
        planned.task,
        project=narrowing.project,
        types=narrowing.types,
        limit=RESULTS_MOST,
        is_noted=False,
    )
    answer = search(caller=caller, request=request, now=now)
    found = deliver.of_search(answer=answer, working=planned.files)
    candidates = deliver.merge(sets=(on_modules, found))
    with tenancy.unit():
        session = hold_own(caller=caller, session_id=session_id)
        return _deliver_advice(caller, session, planned, candidates, now)


def _deliver_advice(
    caller: Caller, session: Session, planned: PlannedTask, candidates: CandidateSet, now: datetime
) -> tuple[Delivery, PlanAdvice]:
    """Draw the conclusions, and deliver what they rest on. In a unit."""
    estimate = planned.estimate or len(session.plan or ()) or None
    files = frozenset(planned.files)
    memories, implied = _implications(caller, session, estimate or 1, files, candidates, now)
    advice = PlanAdvice(
        calibration=implied.calibration,
        planned_steps=estimate,
        step_limit=implied.step_limit if estimate else None,
        also_in_scope=implied.also_in_scope[:FILES_MOST],
        rests_on=implied.cited,
    )
    recipient, point = Recipient(session=session), Point.PLANNER
    delivery = deliver.deliver(
        caller=caller,
        recipient=recipient,
        point=point,
        candidates=replace(candidates, heading=_advice_text(advice)),
        now=now,
    )
    delivery_log.record_sources(
        caller=caller, recipient=recipient, point=point, memory_ids=advice.rests_on, now=now
    )
    if planner.is_complex(steps=estimate or 0, modules=len(planned.modules)):
        given = {one.memory.id for one in delivery.memories}
        checks = planner.checklist(memories=(one for one in memories if one.id in given))
        advice = replace(advice, checklist=tuple(one.id for one in checks))
    return delivery, advice


def _implications(
    caller: Caller,
    session: Session,
    estimate: int,
    files: frozenset[str],
    candidates: CandidateSet,
    now: datetime,
) -> tuple[tuple[PlannerMemory, ...], PlanImplications]:
    """Draw conclusions without what is withheld from the session, and note that. In a unit."""
    withheld = holdout.withheld_from(session=session)
    memories = tuple(one for one in _usable(caller, session, candidates) if one.id not in withheld)
    while True:
        implied = planner.plan_implications(memories=memories, estimate=estimate, files=files)
        cited = (candidates.views[one] for one in implied.cited)
        withheld = holdout.withhold(session=session, point=Point.PLANNER, views=cited, now=now)
        if not withheld:
            return memories, implied
        memories = tuple(one for one in memories if one.id not in withheld)


def _usable(
    caller: Caller, session: Session, candidates: CandidateSet
) -> tuple[PlannerMemory, ...]:
    """Return what may be delivered to a session and contradicts nothing. In a unit."""
    allowed = policy.policy_of_session(caller=caller, session=session, point=Point.PLANNER)
    sure = {
        one.id
        for one in deliver.injection_candidates(session=session, candidates=candidates)
        if not one.is_tainted and trust.is_sure(confidence=one.confidence, least=allowed.confidence)
    }
    sight = visibility.sight_of(caller=caller)
    disputed = relations.contradicting(memory_ids=tuple(sorted(sure)), sight=sight)
    return tuple(
        PlannerMemory(
            id=view.id,
            type=MemoryType(view.type),
            confidence=view.effective_confidence,
            files=view.related_files,
            **_measured(view.attributes),
        )
        for view in candidates.views.values()
        if view.id in sure and not disputed.get(view.id)
    )


def _measured(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ratio of a calibration and on how many samples it rests."""
    ratio, samples = attributes.get("ratio"), attributes.get("samples")
    return {
        "ratio": float(ratio) if isinstance(ratio, int | float) and ratio > 0 else 0.0,
        "samples": samples if isinstance(samples, int) and samples > 0 else 1,
    }


def _advice_text(advice: PlanAdvice) -> str:
    """Write what memory implies as text that stands before memories; empty for nothing."""
    lines: list[str] = []
    if advice.calibration is not None:
        took = f"Work like this took {advice.calibration:.2f} times the steps planned"
        limit = f"; allow {advice.step_limit} steps" if advice.step_limit else ""
        lines.append(f"- {took}{limit}.")
    if advice.also_in_scope:
        paths = ", ".join(normalize(text=path) for path in advice.also_in_scope)
        lines.append(f"- Also in scope, because they change together: {paths}.")
    return "\n".join(("What this implies for the plan:", *lines)) + "\n" if lines else ""
