"""Give back between two steps of an agent: the fourth point, most often silence (spec 4.6).

The files are those that the caller names, or those that the session's last events touched.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.actions import allowing, giving_back
from memory.actions.append_turns import hold_own
from memory.actions.giving_back import SILENCE, GivenBack
from memory.models import Session, Turn
from memory.observer import places, stored, tools
from memory.observer.injection.points import Point
from memory.observer.injection.steps import FIRST_STEP
from memory.observer.scratchpad import Setting
from memory.observer.tools import Act
from teams.permissions import require
from teams.roles import Act as Right

LOOKED_BACK: Final = 4  # events that are just behind a step: two calls with their results, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Where an agent stands: its step from 1 on, and the files it has just touched, if it says."""

    number: int
    files: tuple[str, ...] = ()


def give_at_step(*, caller: Caller, session_id: UUID, step: Step, now: datetime) -> GivenBack:
    """Return what warns of the files just touched, from the fifth step on, never twice.

    Raises NotFound, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Right.READ)
    with tenancy.unit():
        row = hold_own(caller=caller, session_id=session_id)
        allowed = allowing.of_session(caller=caller, row=row, point=Point.STEP)
        if step.number < FIRST_STEP or not allowed.is_open:
            return SILENCE
        files = tuple(places.relative(path=path, root=row.cwd) for path in step.files)
        files = files or _touched(row)
        if not files:
            return SILENCE
        found = giving_back.about_files(caller=caller, row=row, files=files, now=now)
        return giving_back.give_back(caller=caller, row=row, point=Point.STEP, found=found, now=now)


def _touched(row: Session) -> tuple[str, ...]:
    """Return the files that the last events touched, the last first."""
    last = Turn.done.filter(session=row).order_by("-sequence")[:LOOKED_BACK]
    own = Setting().own_servers
    events = (stored.from_row(sequence=turn.sequence, row=turn.body or {}) for turn in last)
    read = (tools.read(event=event, root=row.cwd, own_servers=own) for event in events)
    paths = (one.target for one in read if one.act in {Act.READ, Act.EDIT} and one.target)
    return tuple(dict.fromkeys(path for path in paths if not places.is_outside(path=path)))
