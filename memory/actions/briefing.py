"""The one brief of a session: what is known about its task, said once (spec 4.6, 11.1).

What the stage before passes on comes first, where the session is the next stage of the same work;
then what a search for the task finds. Of what is found, files that are worked on come first.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from memory.actions import giving_back, relaying
from memory.actions.giving_back import SILENCE, GivenBack
from memory.actions.search import SearchRequest, search
from memory.models import Session
from memory.observer.injection.points import Point
from memory.queries import sessions

FOUND_MOST: Final = 24  # results that a brief is chosen from, ours


def brief(
    *,
    caller: Caller,
    row: Session,
    wanted: SearchRequest,
    working: tuple[str, ...],
    now: datetime,
) -> GivenBack:
    """Look for what a task is about, and give the best of it; silence where that was done."""
    project = row.project
    request = replace(
        wanted,
        project=None if project is None else str(project.id),
        limit=FOUND_MOST,
        is_noted=False,
    )
    answer = search(caller=caller, request=request, now=now)
    with tenancy.unit():
        held = sessions.hold(caller=caller, session_id=row.id)
        if held.briefed_at is not None:  # its other event was faster
            return SILENCE
        held.briefed_at = now
        held.save(update_fields=["briefed_at"])
        found = giving_back.together(
            found=(
                relaying.passed_on(caller=caller, row=held, now=now),
                giving_back.of_search(answer=answer, working=working),
            )
        )
        return giving_back.give_back(
            caller=caller, row=held, point=Point.SYSTEM_PROMPT, found=found, now=now
        )
