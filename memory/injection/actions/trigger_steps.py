"""Give back between two steps of an agent: the fourth point, most often silence.

Three triggers in their order, and the first with an answer is all that is said: files just touched;
an entry that the agent just recorded; searches that a memory already answers. The last two are for
projects that ask for them, look by words alone, and never tell an agent its own entry.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.injection import steps
from memory.injection.actions import deliver, policy
from memory.injection.actions.deliver import SILENCE, Found, GivenBack
from memory.injection.actions.recipient import Listener
from memory.injection.steps import FIRST_STEP, Asked, Trigger
from memory.records.queries.views import MemoryView
from memory.search.actions import keyword_answer
from memory.sessions import event_storage, file_paths, fold, tools
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_turns import hold_own
from memory.sessions.events import Event
from memory.sessions.models import Session, Turn
from memory.sessions.points import Point
from memory.sessions.tools import Act
from teams.permissions import Act as Right
from teams.permissions import require

LOOKED_BACK: Final = 4  # events that are just behind a step: two calls with their results, ours
SEARCHED_BACK: Final = 24  # events among which the last three searches are looked for, ours
LONGEST_QUESTION: Final = 400  # characters of an entry that is looked for, ours
EVENTS_OF_A_STEP: Final = 2  # a call and its result
ON_REQUEST: Final = frozenset(Trigger) - steps.DEFAULT
_NO_WORDS: Final = re.compile(r"\\.|[^\w./-]+")  # of a regular expression or a glob


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Where an agent stands: its step from 1 on, and the files it has just touched, if it says."""

    number: int
    files: tuple[str, ...] = ()


def give_at_step(*, caller: Caller, session_id: UUID, step: Step, now: datetime) -> GivenBack:
    """Return what the first trigger with an answer gives, from the fifth step on, never twice.

    All of it in one unit, because fifty milliseconds are short: words ask no model. Raises
    NotFound, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Right.READ)
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=session_id)
        allowed = policy.of_session(caller=caller, row=row, point=Point.STEP)
        if step.number < FIRST_STEP or not allowed.is_open:
            return SILENCE
        last = _last(row)
        if Trigger.FILE_TOUCHED in allowed.triggers:
            back = _about_files(caller, row, _files(row, step, last), now)
            if back.given:
                return back
        return _first_answer(caller, Listener(row=row), last, allowed.triggers, now)


def answer_searches(*, caller: Caller, listener: Listener, now: datetime) -> GivenBack:
    """Return what answers the last events of a held session, where its project asks for it.

    Of files nothing: their touch is warned of by itself. In a unit.
    """
    row = listener.row
    step = (row.events + 1) // EVENTS_OF_A_STEP
    known = policy.of_session(caller=caller, row=row, point=Point.TOOL_RESULT)
    if step < FIRST_STEP or not known.triggers & ON_REQUEST:
        return SILENCE
    allowed = policy.of_session(caller=caller, row=row, point=Point.STEP)
    if not allowed.is_open:
        return SILENCE
    return _first_answer(caller, listener, _last(row), allowed.triggers, now)


def _first_answer(
    caller: Caller,
    listener: Listener,
    last: tuple[Event, ...],
    triggers: frozenset[Trigger],
    now: datetime,
) -> GivenBack:
    """Give what answers the first question that has an answer. In a unit."""
    for question in _questions(_asked(listener.row, last, triggers & ON_REQUEST)):
        back = _answered(caller, listener, question, now)
        if back.given or back.is_late:
            return back
    return SILENCE


def _about_files(caller: Caller, row: Session, files: tuple[str, ...], now: datetime) -> GivenBack:
    """Give what warns of some files. In a unit."""
    if not files:
        return SILENCE
    found = deliver.about_files(caller=caller, row=row, files=files, now=now)
    return deliver.give_back(
        caller=caller, listener=Listener(row=row), point=Point.STEP, found=found, now=now
    )


def _files(row: Session, step: Step, last: tuple[Event, ...]) -> tuple[str, ...]:
    """Return the files just touched: those that the caller names, else those of the events."""
    return scratchpads.named(row=row, paths=step.files) or _touched(row, last[-LOOKED_BACK:])


def _last(row: Session) -> tuple[Event, ...]:
    """Return the last events of a session, in their order."""
    newest = Turn.done.filter(session=row).order_by("-sequence")[:SEARCHED_BACK]
    made = (event_storage.from_row(sequence=turn.sequence, row=turn.body or {}) for turn in newest)
    return tuple(reversed(tuple(made)))


def _touched(row: Session, last: tuple[Event, ...]) -> tuple[str, ...]:
    """Return the files that the last events touched, the last first."""
    setting = scratchpads.setting_of(row=row)
    read = (
        tools.read(
            event=event,
            root=setting.root,
            own_servers=setting.own_servers,
            folder=setting.folder,
        )
        for event in reversed(last)
    )
    paths = (one.target for one in read if one.act in {Act.READ, Act.EDIT} and one.target)
    return tuple(dict.fromkeys(path for path in paths if not file_paths.is_outside(path=path)))


def _asked(
    row: Session, last: tuple[Event, ...], triggers: frozenset[Trigger]
) -> tuple[Asked, ...]:
    """Return what the last events ask beside the files."""
    if not triggers or not last:
        return ()
    scratchpad = fold.rebuild(setting=scratchpads.setting_of(row=row), events=last)
    through = last[-LOOKED_BACK:][0].sequence - 1
    return steps.asked(scratchpad=scratchpad, step=FIRST_STEP, through=through, triggers=triggers)


def _questions(asked: tuple[Asked, ...]) -> tuple[str, ...]:
    """Return what to look for, in the order of triggers: one question each, or none has time."""
    texts = (
        one.recorded[-1].text if one.recorded else " ".join(map(_words, one.patterns))
        for one in asked
    )
    return tuple(text[:LONGEST_QUESTION].strip() for text in texts if text.strip())


def _words(pattern: str) -> str:
    """Return the words of a regular expression or a glob."""
    return " ".join(_NO_WORDS.sub(" ", pattern).split())


def _answered(caller: Caller, listener: Listener, question: str, now: datetime) -> GivenBack:
    """Look for a question by words alone, and give what was found. In a unit."""
    row = listener.row
    found = _others(
        row, keyword_answer.answered(caller=caller, row=row, question=question, now=now)
    )
    return deliver.give_back(
        caller=caller, listener=listener, point=Point.STEP, found=found, now=now
    )


def _others(row: Session, found: Found) -> Found:
    """Leave out what the agent of a session itself has stored since it began."""
    views = {one: view for one, view in found.views.items() if not _is_own(row, view)}
    return replace(found, views=views)


def _is_own(row: Session, view: MemoryView) -> bool:
    is_same = view.author_user == row.opened_by and view.author_agent in {"", row.agent}
    return is_same and view.created_at >= row.opened_at
