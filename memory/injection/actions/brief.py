"""The brief of a session: what is known about its task, delivered once.

What the stage before hands over comes first, where the session is the next stage of the same work;
then what a search for the task finds; then, where the caller names the point, what is always
included. Memories about files that are worked on come first. A prompt about which nothing is known
leaves the brief to a later one, three times; a style is delivered with a brief and never alone.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from accounts import tenancy
from memory.customization.queries import choose_style
from memory.experiments.points import Point
from memory.injection.actions import deliver, handover
from memory.injection.actions.policy import Recipient
from memory.search import packing
from memory.search.actions import search
from memory.search.deadline import TooLate
from memory.search.queries import list_always_in_effect, list_of_modules
from memory.search.request import SearchRequest
from memory.sessions import queries as sessions
from memory.sessions.models import Session
from memory.taxonomy import MemoryType
from memory.text import tokens
from teams import visibility

RESULTS_MOST: Final = 24  # of the search that a brief is selected from; default, not measured
TRIES_MOST: Final = 3  # prompts that found nothing; default
STYLE_TOKENS_MOST: Final = 250  # a longer style is not delivered; default
ALWAYS_INCLUDED_MOST: Final = 10  # memories; default
MODULE_MEMORIES_MOST: Final = 10  # memories; default
MODULE_TYPES: Final = (MemoryType.WORKFLOW_RECIPE, MemoryType.MODULE_INSIGHT)
UNCOMPARED: Final = 0.3  # relevance of what nobody compared with the task; default


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
    included: deliver.CandidateSet = deliver.NO_CANDIDATES


def is_due(*, session: Session) -> bool:
    """Say whether a session is still to have its brief."""
    return session.briefed_at is None and session.brief_tries < TRIES_MOST


def brief(*, recipient: Recipient, request: BriefRequest) -> deliver.Delivery:
    """Search for what a task is about, and deliver the best of it; silence where that was done."""
    caller, now = recipient.caller, recipient.now
    wanted = replace(
        request.task,
        project=deliver.narrowing_of(recipient.session).project,
        limit=RESULTS_MOST,
        is_noted=False,
    )
    try:
        answer = search(caller=caller, request=wanted, now=now, deadline=recipient.deadline)
    except TooLate:
        return deliver.LATE
    with tenancy.unit():
        session = sessions.hold(caller=caller, session_id=recipient.session.id)
        if not is_due(session=session) or 0 < request.through <= session.brief_through:
            return deliver.SILENCE  # its other event was faster
        style = choose_style(caller=caller, topic=request.task.query, interface=None)
        aside = ""
        if style is not None:
            aside = packing.heading_of_style(name=style.style.name, text=style.style.text)
            aside = aside if tokens.count(text=aside) <= STYLE_TOKENS_MOST else ""
        recipient = replace(recipient, session=session)
        candidates = deliver.merge(
            sets=(
                handover.candidates_of_stage(recipient=recipient),
                deliver.of_search(answer=answer, working=request.working),
                request.included,
                deliver.CandidateSet(aside=aside, tokens_most=request.tokens_most),
            )
        )
        delivery = deliver.deliver(
            recipient=recipient, point=Point.SYSTEM_PROMPT, candidates=candidates
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


def always_included(*, recipient: Recipient, modules: tuple[str, ...]) -> deliver.CandidateSet:
    """Find what a session is given whatever its task: pinned or firm, and on its modules.

    That is what is pinned or firm and applies everywhere, the latest reflection, and how work on
    the modules is done. It stands behind what a search finds, and takes the tokens left. In a unit.
    """
    sight = visibility.sight_of(caller=recipient.caller)
    firm = list_always_in_effect(
        question=deliver.question_of(recipient=recipient), limit=ALWAYS_INCLUDED_MOST, sight=sight
    )
    on_modules = list_of_modules(
        modules=modules,
        question=deliver.question_of(recipient=recipient, types=MODULE_TYPES),
        limit=MODULE_MEMORIES_MOST,
        sight=sight,
    )
    ids = dict.fromkeys((*firm, *on_modules))
    return deliver.of_memories(recipient=recipient, memory_ids=ids, relevance=UNCOMPARED)
