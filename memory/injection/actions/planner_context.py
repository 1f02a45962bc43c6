"""What a planner is given before work begins, and what it implies for the plan.

Memories of the modules of a task, and what a search for the task finds. Only what may be delivered
to the session counts for the implications, and a complex plan has a checklist.
"""

from dataclasses import replace
from typing import Final

from accounts import tenancy
from memory.experiments.actions import measurement
from memory.experiments.points import Point
from memory.injection import rules
from memory.injection.actions import deliver, delivery_log, policy
from memory.records.queries import views
from memory.records.queries.views import MemoryView
from memory.search.actions import search
from memory.search.request import SearchRequest, Silence
from memory.sessions.queries import hold_own
from memory.text.text import normalize
from teams import visibility

TYPES: Final = frozenset((*rules.CITED_MOST, *rules.CHECKED))
MODULE_MEMORIES_MOST: Final = 60  # memories of the modules; default, not measured
RESULTS_MOST: Final = 24  # of the search; default


def advise_planner(
    *,
    recipient: policy.Recipient,
    task: SearchRequest,
    modules: tuple[str, ...],
    files: tuple[str, ...],
    planned_steps: int | None,
) -> tuple[deliver.Delivery, rules.PlanAdvice]:
    """Return what a planner is given about a task, and what follows from it.

    Raises NotFound, InvalidInput, and Forbidden for a session that somebody else opened.
    """
    with tenancy.unit():
        on_modules = deliver.of_modules(
            recipient=recipient, modules=modules, types=TYPES, limit=MODULE_MEMORIES_MOST
        )
        narrowing = deliver.narrowing_of(recipient.session, TYPES, near=(*modules, *files))
    request = replace(
        task,
        project=narrowing.project,
        types=narrowing.types,
        work=narrowing.work,
        limit=RESULTS_MOST,
        silence=Silence.HIT,
        is_noted=False,
    )
    found = deliver.NO_CANDIDATES
    if request.query:
        answer = search(caller=recipient.caller, request=request, now=recipient.now)
        found = deliver.of_search(answer=answer, working=files)
    candidates = deliver.merge(sets=(on_modules, found))
    with tenancy.unit():
        session = hold_own(caller=recipient.caller, session_id=recipient.session.id)
        recipient = replace(recipient, session=session)
        planned_steps = planned_steps or len(session.plan or ()) or None
        memories, advice = _advise(recipient, planned_steps, frozenset(files), candidates)
        delivery = deliver.deliver(
            recipient=recipient,
            point=Point.PLANNER,
            candidates=replace(candidates, heading=_advice_text(advice)),
        )
        delivery_log.record_sources(
            recipient=recipient, point=Point.PLANNER, memory_ids=advice.rests_on
        )
    if rules.is_complex(steps=planned_steps or 0, modules=len(modules)):
        given = {one.memory.id for one in delivery.memories}
        checks = rules.checklist(memories=(one for one in memories if one.id in given))
        advice = replace(advice, checklist=checks)
    return delivery, advice


def _advise(
    recipient: policy.Recipient,
    planned_steps: int | None,
    files: frozenset[str],
    candidates: rules.CandidateSet,
) -> tuple[tuple[MemoryView, ...], rules.PlanAdvice]:
    """Draw conclusions without what is withheld from the session, and note that. In a unit."""
    session, now = recipient.session, recipient.now
    withheld = measurement.withheld_from(session=session)
    memories = tuple(one for one in _usable(recipient, candidates) if one.id not in withheld)
    while True:
        advice = rules.advise(memories=memories, planned_steps=planned_steps, files=files)
        cited = (candidates.views[one] for one in advice.rests_on)
        withheld = measurement.withhold(session=session, point=Point.PLANNER, views=cited, now=now)
        if not withheld:
            return memories, advice
        memories = tuple(one for one in memories if one.id not in withheld)


def _usable(recipient: policy.Recipient, candidates: rules.CandidateSet) -> tuple[MemoryView, ...]:
    """Return what may be delivered to a session and contradicts nothing. In a unit."""
    point = Point.PLANNER
    found = deliver.deliverable(recipient=recipient, point=point, candidates=candidates)
    sure = found.views
    sight = visibility.sight_of(caller=recipient.caller)
    disputed = views.contradicting(memory_ids=tuple(sorted(sure)), sight=sight)
    return tuple(one for one in sure.values() if not disputed.get(one.id))


def _advice_text(advice: rules.PlanAdvice) -> str:
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
