"""The brief of a session: what is known about its task, delivered once.

What the stage before hands over comes first, where the session is the next stage of the same work;
then what a search for the task finds; then, where the caller names the point, what is always
included. Memories about files that are worked on come first. A prompt about which nothing is known
leaves the brief to a later one, three times; a style is delivered with a brief and never alone.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.methodology import NATIVE_TRANSITIONS
from memory.customization.queries import choose_style, relays_of
from memory.experiments.points import Point
from memory.injection.actions import deliver
from memory.injection.actions.deliver import LATE, NO_CANDIDATES, SILENCE, CandidateSet, Delivery
from memory.injection.actions.delivery_log import Recipient
from memory.injection.session_start_rules import RecordedMemory, handed_over
from memory.records.queries.views import countable, views_of
from memory.search import packing
from memory.search import request as filter_values
from memory.search.actions import SearchAnswer, search
from memory.search.deadline import TooLate
from memory.search.queries import list_always_in_effect, list_of_modules
from memory.search.request import SearchRequest
from memory.sessions.models import Session
from memory.sessions.queries import sessions
from memory.taxonomy import MemoryType, Status
from memory.text import tokens
from teams import visibility

RESULTS_MOST: Final = 24  # of the search that a brief is selected from; default, not measured
TRIES_MOST: Final = 3  # prompts that found nothing; default
STYLE_TOKENS_MOST: Final = 250  # a longer style is not delivered; default
ALWAYS_INCLUDED_MOST: Final = 10  # memories; default
MODULE_MEMORIES_MOST: Final = 10  # memories; default
MODULE_TYPES: Final = (MemoryType.WORKFLOW_RECIPE, MemoryType.MODULE_INSIGHT)
UNCOMPARED: Final = 0.3  # relevance of what nobody compared with the task; default
STAGE_MEMORIES_MOST: Final = 100  # of the stage before, the surest first; default


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefRequest:
    """What a brief is looked for with: a task in the turn `through`, and the files worked on.

    At most `tokens_most` tokens are free for it; `included` is delivered beside what a search
    finds.
    """

    task: SearchRequest
    through: int = 0
    working: tuple[str, ...] = ()
    tokens_most: int = deliver.TOKENS_MOST
    included: CandidateSet = NO_CANDIDATES


def is_due(*, session: Session) -> bool:
    """Say whether a session is still to have its brief."""
    return session.briefed_at is None and session.brief_tries < TRIES_MOST


def brief(
    *, caller: Caller, recipient: Recipient, request: BriefRequest, now: datetime
) -> Delivery:
    """Search for what a task is about, and deliver the best of it; silence where that was done."""
    try:
        answer = search_task(caller=caller, recipient=recipient, request=request, now=now)
    except TooLate:
        return LATE
    with tenancy.unit():
        locked = sessions.hold(caller=caller, session_id=recipient.session.id)
        recipient = replace(recipient, session=locked)
        return deliver_brief(
            caller=caller, recipient=recipient, request=request, answer=answer, now=now
        )


def search_task(
    *, caller: Caller, recipient: Recipient, request: BriefRequest, now: datetime
) -> SearchAnswer:
    """Search for what a task is about. Raises TooLate."""
    wanted = replace(
        request.task,
        project=deliver.narrowing_of(recipient.session).project,
        limit=RESULTS_MOST,
        is_noted=False,
    )
    return search(caller=caller, request=wanted, now=now, deadline=recipient.deadline)


def deliver_brief(
    *,
    caller: Caller,
    recipient: Recipient,
    request: BriefRequest,
    answer: SearchAnswer,
    now: datetime,
) -> Delivery:
    """Deliver the best of what was found to a locked session, once. In a unit."""
    session = recipient.session
    if not is_due(session=session) or 0 < request.through <= session.brief_through:
        return SILENCE  # its other event was faster
    style = choose_style(caller=caller, topic=request.task.query, interface=None)
    aside = ""
    if style is not None:
        aside = packing.heading_of_style(name=style.style.name, text=style.style.text)
        aside = aside if tokens.count(text=aside) <= STYLE_TOKENS_MOST else ""
    candidates = deliver.merge(
        sets=(
            _handed_over(caller, session, now),
            deliver.of_search(answer=answer, working=request.working),
            request.included,
            replace(NO_CANDIDATES, aside=aside, tokens_most=request.tokens_most),
        )
    )
    delivery = deliver.deliver(
        caller=caller,
        recipient=recipient,
        point=Point.SYSTEM_PROMPT,
        candidates=candidates,
        now=now,
    )
    if not delivery.is_late:
        briefed_at = now if delivery.text else None
        record_try(session=session, through=request.through, briefed_at=briefed_at)
    return delivery


def record_try(*, session: Session, through: int, briefed_at: datetime | None) -> None:
    """Note that a brief was looked for with a prompt, and when it was delivered, if it was. In a
    unit."""
    session.briefed_at = briefed_at
    session.brief_tries += int(briefed_at is None)
    session.brief_through = max(through, session.brief_through)
    session.save(update_fields=["briefed_at", "brief_tries", "brief_through"])


def record_late_try(*, session: Session, through: int) -> None:
    """Note that the search for a brief took too long; the session is locked. In a unit."""
    if is_due(session=session) and session.brief_through < through:  # else another was faster
        record_try(session=session, through=through, briefed_at=None)


def always_included(
    *, caller: Caller, session: Session, modules: tuple[str, ...], now: datetime
) -> CandidateSet:
    """Find what a session is given whatever its task: pinned or firm, and on its modules.

    That is what is pinned or firm and applies everywhere, the latest reflection, and how work on
    the modules is done. It stands behind what a search finds, and takes the tokens left. In a unit.
    """
    sight = visibility.sight_of(caller=caller)
    everywhere, of_types = (
        filter_values.narrowed_question(
            caller=caller, narrowing=deliver.narrowing_of(session, types)
        )
        for types in ((), MODULE_TYPES)
    )
    firm = list_always_in_effect(question=everywhere, limit=ALWAYS_INCLUDED_MOST, sight=sight)
    on_modules = list_of_modules(
        modules=modules, question=of_types, limit=MODULE_MEMORIES_MOST, sight=sight
    )
    ids = tuple(dict.fromkeys((*firm, *on_modules)))
    return deliver.of_memories(caller=caller, memory_ids=ids, relevance=UNCOMPARED, now=now)


def _handed_over(caller: Caller, session: Session, now: datetime) -> CandidateSet:
    """Find what the stage before hands over: what it recorded and the methodology lets pass.

    The stage before is the last session of the same thread or unit of work in another phase. What
    may not be delivered to anybody is not handed over either.
    """
    before = _stage_before(caller, session)
    if before is None:
        return NO_CANDIDATES
    rows = countable(caller=caller).filter(
        session_id=before.id, status=Status.ACTIVE.value, needs_review=False, taint_reason=""
    )
    surest = rows.order_by("-confidence", "id").values_list("id", flat=True)[:STAGE_MEMORIES_MOST]
    sight = visibility.sight_of(caller=caller)
    views = views_of(memory_ids=tuple(surest), sight=sight, now=now)
    own = relays_of(caller=caller, name=session.methodology) if session.methodology else ()
    ids = handed_over(
        transitions=own or NATIVE_TRANSITIONS,
        before=before.phase,
        after=session.phase,
        recorded=(
            RecordedMemory(
                id=view.id,
                type_names=frozenset({view.type, view.own_type}),
                confidence=view.effective_confidence,
            )
            for view in views.values()
        ),
    )
    return CandidateSet(
        views={one: views[one] for one in ids},
        relevance=dict.fromkeys(ids, deliver.CERTAIN),
        files={},
    )


def _stage_before(caller: Caller, session: Session) -> Session | None:
    """Return the last session of the same work in another phase, of those the caller may see."""
    same = Q(pk__in=())
    if session.thread:
        same |= Q(thread=session.thread)
    if session.work_unit:
        same |= Q(work_unit=session.work_unit)
    if not session.phase or not (session.thread or session.work_unit):
        return None
    rows = sessions.opened_before(caller=caller, row=session).filter(same)
    return rows.exclude(phase__in=("", session.phase)).order_by("-opened_at", "-id").first()
