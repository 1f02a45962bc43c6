"""The one brief of a session: what is known about its task, said once.

What the stage before passes on comes first, where the session is the next stage of the same work;
then what a search for the task finds. Of what is found, files that are worked on come first. A
prompt that nothing is known about leaves the brief to a later one, three times; the style that fits
is told with a brief and never alone.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.queries import styles
from memory.injection.actions import deliver, relay
from memory.injection.actions.deliver import LATE, MOST, NOTHING, SILENCE, Found, GivenBack
from memory.injection.actions.recipient import Listener
from memory.records.deadline import Deadline, TooLate
from memory.search import packing_text
from memory.search import packing_tokens as tokens
from memory.search.actions.search import SearchAnswer, SearchRequest, search
from memory.sessions.models import Session
from memory.sessions.points import Point
from memory.sessions.queries import sessions

FOUND_MOST: Final = 24  # results that a brief is chosen from, ours
TRIES_MOST: Final = 3  # prompts that found nothing, ours
STYLE_MOST: Final = 250  # tokens of a style; a longer one is not told, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a brief is looked for with: a task, in the turn `through`, the files worked on.

    `most` tokens are free for it; `known` is what is told beside what a search finds.
    """

    wanted: SearchRequest
    through: int = 0
    working: tuple[str, ...] = ()
    most: int = MOST
    known: Found = NOTHING


def is_due(*, row: Session) -> bool:
    """Say whether a session is still to have its brief."""
    return row.briefed_at is None and row.brief_tries < TRIES_MOST


def brief(*, caller: Caller, listener: Listener, wish: Wish, now: datetime) -> GivenBack:
    """Look for what a task is about, and give the best of it; silence where that was done."""
    row = listener.row
    try:
        answer = look(caller=caller, row=row, wish=wish, deadline=listener.deadline, now=now)
    except TooLate:
        return LATE
    with tenancy.unit():
        held = replace(listener, row=sessions.hold(caller=caller, session_id=row.id))
        return give(caller=caller, listener=held, wish=wish, answer=answer, now=now)


def look(
    *, caller: Caller, row: Session, wish: Wish, deadline: Deadline, now: datetime
) -> SearchAnswer:
    """Search for what a task is about. Raises TooLate."""
    project = row.project
    request = replace(
        wish.wanted,
        project=None if project is None else str(project.id),
        limit=FOUND_MOST,
        is_noted=False,
    )
    return search(caller=caller, request=request, now=now, deadline=deadline)


def give(
    *, caller: Caller, listener: Listener, wish: Wish, answer: SearchAnswer, now: datetime
) -> GivenBack:
    """Give the best of what was found to a held session, once. In a unit."""
    row = listener.row
    if not is_due(row=row) or 0 < wish.through <= row.brief_through:
        return SILENCE  # its other event was faster
    found = deliver.together(
        found=(
            relay.passed_on(caller=caller, row=row, now=now),
            deliver.of_search(answer=answer, working=wish.working),
            wish.known,
            replace(NOTHING, aside=_style(caller, wish), most=wish.most),
        )
    )
    back = deliver.give_back(
        caller=caller, listener=listener, point=Point.SYSTEM_PROMPT, found=found, now=now
    )
    if not back.is_late:
        tried(row=row, through=wish.through, briefed_at=now if back.text else None)
    return back


def tried(*, row: Session, through: int, briefed_at: datetime | None) -> None:
    """Note that a brief was looked for with a prompt, and when it was given, if it was. In a
    unit."""
    row.briefed_at = briefed_at
    row.brief_tries += int(briefed_at is None)
    row.brief_through = max(through, row.brief_through)
    row.save(update_fields=["briefed_at", "brief_tries", "brief_through"])


def too_late(*, row: Session, through: int) -> None:
    """Note that a brief was looked for with a prompt for too long; held. In a unit."""
    if is_due(row=row) and row.brief_through < through:  # else its other event was faster
        tried(row=row, through=through, briefed_at=None)


def _style(caller: Caller, wish: Wish) -> str:
    """Return how answers should read where the session is; empty for no style, or a long one."""
    found = styles.composed(caller=caller, topic=wish.wanted.query, interface=None)
    if found is None:
        return ""
    text = packing_text.heading_of_style(name=found.style.name, text=found.style.text)
    return text if tokens.count(text=text) <= STYLE_MOST else ""
