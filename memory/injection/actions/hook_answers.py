"""What an event of an agent's program is answered with.

A touched file is answered with its warnings, whatever else is due; a prompt with unfinished work
and the brief, which share the tokens of a brief; between steps only what a project has asked for.
What stands before the brief is selected and logged before the search for the brief, and nothing
once the program does not wait any more. A subagent is warned, and not briefed.
"""

from dataclasses import replace
from typing import Final

from django.db import transaction

from accounts import tenancy
from memory.experiments.points import POINTS, Point
from memory.injection.actions import brief, deliver, policy, session_start
from memory.injection.actions.between_steps import answer_searches
from memory.injection.actions.brief import BriefRequest
from memory.injection.actions.deliver import LATE, SILENCE, Delivery
from memory.injection.actions.policy import Recipient
from memory.injection.harnesses.adapters import Meaning
from memory.injection.harnesses.payloads import HookEvent
from memory.search.deadline import TooLate
from memory.search.request import SearchRequest
from memory.sessions import queries as sessions
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session, Turn
from memory.sessions.turns import Speaker

START_TOKENS_MOST: Final = 600  # of those of the brief that it stands before; default
LONGEST_QUESTION: Final = 2_000  # characters of a prompt that a brief is searched with; default


def deliver_at_once(
    *, recipient: Recipient, event: HookEvent
) -> tuple[Delivery, BriefRequest | None]:
    """Deliver warnings, or else what a project asked for; a brief that is due comes later.

    In a unit.
    """
    session = recipient.session
    files = scratchpads.named(row=session, paths=event.files, folder=event.folder)
    request = _due_brief(recipient, files)
    if request is not None:
        return SILENCE, request
    delivery = _warnings(recipient, files)
    if not delivery.text and not delivery.is_late and event.meaning is Meaning.ANSWERED:
        delivery = answer_searches(recipient=recipient)
    return delivery, None


def _due_brief(recipient: Recipient, files: tuple[str, ...]) -> BriefRequest | None:
    """Return what a brief of a locked session is searched with, if one is due: the last prompt.

    As it is stored: without secrets. None where it was tried with that prompt. In a unit.
    """
    session = recipient.session
    if recipient.agent or not brief.is_due(session=session):
        return None
    prompts = Turn.objects.filter(
        session=session, role=Speaker.USER.value, sequence__gt=session.brief_through
    )
    last = prompts.order_by("-sequence").values_list("text", "sequence").first()
    if last is None or not last[0].strip():
        return None
    is_open = policy.is_open(recipient=recipient, point=Point.SYSTEM_PROMPT)
    if not is_open and not _may_start(recipient):
        return None
    task = SearchRequest(query=last[0][:LONGEST_QUESTION].strip())
    return BriefRequest(task=task, through=last[1], working=files)


def deliver_with_brief(*, recipient: Recipient, request: BriefRequest) -> Delivery:
    """Deliver the warnings of an event's files, then what its work begins with, then the brief.

    The search for the brief is what takes long: where it comes too late, the rest is delivered all
    the same, and it is not searched with this prompt again.
    """
    try:
        with tenancy.unit(), transaction.atomic():
            recipient = replace(recipient, session=_lock(recipient))
            warnings = _in_time(_warnings(recipient, request.working))
            behind = replace(recipient, is_continued=bool(warnings.text))
            start = _in_time(_start(behind, request.working))
            is_open = policy.is_open(recipient=recipient, point=Point.SYSTEM_PROMPT)
    except TooLate:
        return LATE
    before = deliver.join(deliveries=(warnings, start))
    if not is_open:
        with tenancy.unit():
            session = _lock(recipient)
            brief.record_try(session=session, through=request.through, briefed_at=None)
        return before
    behind = replace(recipient, is_continued=bool(before.text))
    free = POINTS[Point.SYSTEM_PROMPT].tokens - start.tokens
    found = brief.brief(recipient=behind, request=replace(request, tokens_most=free))
    if not found.is_late:
        return deliver.join(deliveries=(before, found))
    with tenancy.unit():
        session = _lock(recipient)
        if brief.is_due(session=session) and session.brief_through < request.through:
            brief.record_try(session=session, through=request.through, briefed_at=None)
    return before if before.text else LATE


def _lock(recipient: Recipient) -> Session:
    return sessions.hold(caller=recipient.caller, session_id=recipient.session.id)


def _in_time(delivery: Delivery) -> Delivery:
    if delivery.is_late:
        raise TooLate
    return delivery


def _warnings(recipient: Recipient, files: tuple[str, ...]) -> Delivery:
    point = Point.TOOL_RESULT
    if not files or not policy.is_open(recipient=recipient, point=point):
        return SILENCE
    return deliver.deliver_warnings(recipient=recipient, point=point, files=files)


def _start(recipient: Recipient, files: tuple[str, ...]) -> Delivery:
    """Deliver what was left unfinished, and the files of it and of the event. In a unit."""
    if not _may_start(recipient):
        return SILENCE
    unfinished = session_start.unfinished_work(
        caller=recipient.caller, session=recipient.session, is_new=True
    )
    every = (*files, *(unfinished.files if unfinished else ()))
    delivery, _ = session_start.deliver_start(
        recipient=recipient,
        modules=session_start.modules_of(files=every),
        unfinished=unfinished,
        tokens_most=START_TOKENS_MOST,
    )
    return delivery


def _may_start(recipient: Recipient) -> bool:
    """Say whether a session may be given what its work begins with: with its first prompt."""
    session = recipient.session
    is_first = session.brief_tries == 0 and not session_start.had_start(session=session)
    return is_first and policy.is_open(recipient=recipient, point=Point.FIRST_MESSAGE)
