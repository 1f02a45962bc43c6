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
from memory.customization.phases import NATIVE_TRANSITIONS
from memory.customization.queries import choose_style, find_own_methodology
from memory.experiments.points import Point
from memory.injection.actions import deliver, policy
from memory.injection.rules import TOKENS_MOST, CandidateSet, handed_over
from memory.records.queries.views import countable
from memory.search import actions, packing, request
from memory.search.queries import list_always_in_effect
from memory.sessions import queries as sessions
from memory.sessions.models import Session
from memory.taxonomy import MemoryType, Reach, Status
from memory.text import tokens

RESULTS_MOST: Final = 24  # of the search that a brief is selected from; default, not measured
NEAR_SHARE: Final = 0.8  # of the best relevance, from which more is told; tests.bench.bench_briefs
NEAR_MOST: Final = 3  # memories that a search adds to a brief; tests.bench.bench_briefs
TRIES_MOST: Final = 3  # prompts that found nothing; default
STYLE_TOKENS_MOST: Final = 250  # a longer style is not delivered; default
ALWAYS_INCLUDED_MOST: Final = 10  # memories; default
MODULE_MEMORIES_MOST: Final = 10  # memories; default
MODULE_TYPES: Final = (MemoryType.WORKFLOW_RECIPE, MemoryType.MODULE_INSIGHT)
STAGE_MEMORIES_MOST: Final = 100  # of the stage before, the surest first; default
UNCOMPARED: Final = 0.3  # relevance of what nobody compared with the task; default


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefRequest:
    """What a brief is looked for with: a task in the turn `through`, the files and modules of it.

    At most `tokens_most` tokens are free for it; `included` is delivered beside what a search
    finds. Without a question in the task nothing is searched for.
    """

    task: request.SearchRequest
    through: int = 0
    working: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    tokens_most: int = TOKENS_MOST
    included: CandidateSet = deliver.NO_CANDIDATES


def is_due(*, session: Session) -> bool:
    """Say whether a session is still to have its brief."""
    return session.briefed_at is None and session.brief_tries < TRIES_MOST


def brief(*, recipient: policy.Recipient, asked: BriefRequest) -> deliver.Delivery:
    """Search for what a task is about, and deliver the best of it; silence where that was done."""
    caller, now = recipient.caller, recipient.now
    narrowing = deliver.narrowing_of(recipient.session, near=(*asked.working, *asked.modules))
    wanted = replace(
        asked.task,
        project=narrowing.project,
        work=narrowing.work,
        limit=RESULTS_MOST,
        silence=request.Silence.HIT,
        is_noted=False,
    )
    found = deliver.NO_CANDIDATES
    try:
        if wanted.query:
            answer = actions.search(
                caller=caller, request=wanted, now=now, deadline=recipient.deadline
            )
            found = deliver.of_search(answer=nearest(answer=answer), working=asked.working)
    except request.TooLate:
        return deliver.LATE
    with tenancy.unit():
        session = sessions.hold(caller=caller, session_id=recipient.session.id)
        if not is_due(session=session) or 0 < asked.through <= session.brief_through:
            return deliver.SILENCE  # its other event was faster
        style = choose_style(caller=caller, topic=asked.task.query, interface=None)
        aside = ""
        if style is not None:
            aside = packing.heading_of_style(name=style.style.name, text=style.style.text)
            aside = aside if tokens.count(text=aside) <= STYLE_TOKENS_MOST else ""
        recipient = replace(recipient, session=session)
        candidates = deliver.merge(
            sets=(
                candidates_of_stage(recipient=recipient),
                found,
                asked.included,
                CandidateSet(aside=aside, tokens_most=asked.tokens_most),
            )
        )
        delivery = deliver.deliver(recipient=recipient, point=Point.BRIEF, candidates=candidates)
        if not delivery.is_late:
            briefed_at = now if delivery.text else None
            record_try(session=session, through=asked.through, briefed_at=briefed_at)
        return delivery


def nearest(*, answer: actions.SearchAnswer) -> actions.SearchAnswer:
    """Return an answer without what is much less relevant than its best: a brief names few."""
    best = max((one.relevance for one in answer.hits), default=0.0)
    near = tuple(one for one in answer.hits if one.relevance >= NEAR_SHARE * best)
    return replace(answer, hits=near[:NEAR_MOST])


def record_try(*, session: Session, through: int, briefed_at: datetime | None) -> None:
    """Note that a brief was looked for with a prompt, and when it was delivered. In a unit."""
    session.briefed_at = briefed_at
    session.brief_tries += int(briefed_at is None)
    session.brief_through = max(through, session.brief_through)
    session.save(update_fields=["briefed_at", "brief_tries", "brief_through"])


def always_included(*, recipient: policy.Recipient, modules: tuple[str, ...]) -> CandidateSet:
    """Find what a session is given whatever its task: pinned or firm, and on its modules.

    That is what is pinned or firm and applies everywhere, the latest reflection, and how work on
    the modules is done. It stands behind what a search finds, and takes the tokens left. In a unit.
    """
    firm = list_always_in_effect(
        question=deliver.question_of(recipient=recipient), limit=ALWAYS_INCLUDED_MOST
    )
    on_modules = deliver.of_modules(
        recipient=recipient,
        modules=modules,
        types=MODULE_TYPES,
        limit=MODULE_MEMORIES_MOST,
        relevance=UNCOMPARED,
    )
    found = deliver.of_memories(recipient=recipient, memory_ids=firm, relevance=UNCOMPARED)
    return deliver.merge(sets=(found, on_modules))


def candidates_of_stage(*, recipient: policy.Recipient) -> CandidateSet:
    """Find what the stage before hands over: what it recorded and the methodology lets pass.

    The stage before is the last session of the same thread or unit of work in another phase. What
    may not be delivered to anybody is not handed over either.
    """
    caller, session = recipient.caller, recipient.session
    same = Q(pk__in=())
    if session.thread:
        same |= Q(thread=session.thread)
    if session.work_unit:
        same |= Q(work_unit=session.work_unit)
    rows = sessions.opened_before(caller=caller, row=session).filter(same)
    rows = rows.exclude(phase__in=("", session.phase)).order_by("-opened_at", "-id")
    before = rows.first() if session.phase else None
    if before is None:
        return deliver.NO_CANDIDATES
    recorded = countable(caller=caller).filter(
        session_id=before.id, status=Status.ACTIVE.value, needs_review=False, taint_reason=""
    )
    recorded = recorded.exclude(reach=Reach.SESSION.value)
    ranked = recorded.order_by("-confidence", "id").values_list("id", flat=True)
    found = deliver.of_memories(recipient=recipient, memory_ids=ranked[:STAGE_MEMORIES_MOST])
    own = find_own_methodology(caller=caller, name=session.methodology)
    ids = handed_over(
        transitions=(own and own.relays) or NATIVE_TRANSITIONS,
        before=before.phase,
        after=session.phase,
        recorded=found.views.values(),
    )
    return replace(found, views={one: found.views[one] for one in ids})
