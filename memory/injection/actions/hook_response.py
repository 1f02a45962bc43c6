"""What an event of an agent's program is answered with.

A touched file is answered with its warnings, whatever else is due; a prompt with what was left
unfinished and the brief, which share the tokens of a brief; between steps only what a project has
asked for. What stands before the brief is chosen and written down before it is looked for, and
nothing once the program has left. A subagent has a context of its own, and is warned, and not
briefed.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.db import transaction

from accounts import tenancy
from accounts.caller import Caller
from memory.injection.actions import brief as injection_brief
from memory.injection.actions import deliver, policy, prefetch, resume, session_start
from memory.injection.actions.brief import Wish
from memory.injection.actions.deliver import LATE, SILENCE, GivenBack
from memory.injection.actions.recipient import Listener
from memory.injection.actions.session_start import Work
from memory.injection.actions.trigger_steps import answer_searches
from memory.records.deadline import TooLate
from memory.search.actions.request import SearchRequest
from memory.sessions.models import Session, Turn
from memory.sessions.points import POINTS, Point
from memory.sessions.queries import sessions
from memory.sessions.turns import Speaker

BEGINNING_MOST: Final = 600  # tokens, of those of the brief that it stands before, ours
LONGEST_QUESTION: Final = 2_000  # characters of a prompt that a brief is looked for with, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What an event asks for: warnings of its files; `is_answered`: a tool has done something."""

    files: tuple[str, ...]
    is_answered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a brief is looked for with: the text, and the turn that it stands in."""

    text: str
    sequence: int


def prompt_due(*, caller: Caller, listener: Listener) -> Prompt | None:
    """Return the last prompt of a held session, if a brief is due and was not looked for with it.

    As it is stored: without secrets. In a unit.
    """
    row = listener.row
    if listener.agent or not injection_brief.is_due(row=row):
        return None
    said = Turn.objects.filter(session=row, role=Speaker.USER.value, sequence__gt=row.brief_through)
    last = said.order_by("-sequence").values_list("text", "sequence").first()
    if last is None or not last[0].strip():
        return None
    is_open = _may_give(caller, row, Point.SYSTEM_PROMPT) or _may_begin(caller, row)
    text = last[0][:LONGEST_QUESTION].strip()
    return Prompt(text=text, sequence=last[1]) if is_open else None


def at_once(*, caller: Caller, listener: Listener, event: Event, now: datetime) -> GivenBack:
    """Give the warnings of an event's files, or else what a project asked for. In a unit."""
    back = _warnings(caller, listener, event, now)
    if back.text or back.is_late or not event.is_answered:
        return back
    return answer_searches(caller=caller, listener=listener, now=now)


def with_brief(
    *, caller: Caller, listener: Listener, event: Event, prompt: Prompt, now: datetime
) -> GivenBack:
    """Give the warnings of an event's files, then what its work begins with, then the brief.

    The search for the brief is what takes long: where it comes too late, the rest is given all the
    same, and it is not looked for with this prompt again.
    """
    wish = Wish(
        wanted=SearchRequest(query=prompt.text), through=prompt.sequence, working=event.files
    )
    try:
        with tenancy.unit(), transaction.atomic():
            parts = _before_brief(caller, _held(caller, listener), event, now)
    except TooLate:
        return LATE
    try:
        brief = _brief(caller, listener, parts, wish, now)
    except TooLate:
        with tenancy.unit():
            injection_brief.too_late(row=_held(caller, listener).row, through=prompt.sequence)
        before = deliver.joined(parts=parts)
        return before if before.text else LATE
    return deliver.joined(parts=(*parts, brief))


def _held(caller: Caller, listener: Listener) -> Listener:
    return replace(listener, row=sessions.hold(caller=caller, session_id=listener.row.id))


def _before_brief(
    caller: Caller, listener: Listener, event: Event, now: datetime
) -> tuple[GivenBack, GivenBack]:
    """Give the warnings, and what the work begins with, or raise TooLate. In a unit."""
    warned = _heard(_warnings(caller, listener, event, now))
    behind = replace(listener, goes_on=bool(warned.text))
    return warned, _heard(_beginning(caller, behind, event, now))


def _brief(
    caller: Caller,
    listener: Listener,
    parts: tuple[GivenBack, GivenBack],
    wish: Wish,
    now: datetime,
) -> GivenBack:
    """Look for the brief and give it behind the other parts of an answer, or raise TooLate."""
    row = listener.row
    with tenancy.unit():
        is_open = _may_give(caller, row, Point.SYSTEM_PROMPT)
    deadline = listener.deadline
    answer = (
        injection_brief.look(caller=caller, row=row, wish=wish, deadline=deadline, now=now)
        if is_open
        else None
    )
    with tenancy.unit(), transaction.atomic():
        held = replace(_held(caller, listener), goes_on=any(one.text for one in parts))
        if answer is None:
            injection_brief.tried(row=held.row, through=wish.through, briefed_at=None)
            return SILENCE
        wish = replace(wish, most=POINTS[Point.SYSTEM_PROMPT].tokens - parts[1].tokens)
        brief = injection_brief.give(
            caller=caller, listener=held, wish=wish, answer=answer, now=now
        )
        return _heard(brief)


def _heard(back: GivenBack) -> GivenBack:
    if back.is_late:
        raise TooLate
    return back


def _warnings(caller: Caller, listener: Listener, event: Event, now: datetime) -> GivenBack:
    row, point = listener.row, Point.TOOL_RESULT
    if not event.files or not _may_give(caller, row, point):
        return SILENCE
    found = deliver.about_files(caller=caller, row=row, files=event.files, now=now)
    return deliver.give_back(caller=caller, listener=listener, point=point, found=found, now=now)


def _beginning(caller: Caller, listener: Listener, event: Event, now: datetime) -> GivenBack:
    """Give what was left unfinished, and the files of it and of the event. In a unit."""
    row = listener.row
    if not _may_begin(caller, row):
        return SILENCE
    left = resume.left_before(caller=caller, row=row)
    files = (*event.files, *(left.state.files if left else ()))
    modules = prefetch.modules_of(named=(), files=files)
    work = Work(modules=modules, left=left, most=BEGINNING_MOST)
    return session_start.begin(caller=caller, listener=listener, work=work, now=now).back


def _may_begin(caller: Caller, row: Session) -> bool:
    """Say whether a session may be told what its work begins with: with its first prompt."""
    is_first = row.brief_tries == 0 and not session_start.was_told(row=row)
    return is_first and _may_give(caller, row, Point.FIRST_MESSAGE)


def _may_give(caller: Caller, row: Session, point: Point) -> bool:
    return policy.of_session(caller=caller, row=row, point=point).is_open
