"""What work begins with: what was left unfinished, and the files to have at hand.

Said once a session, and again only to one that ended and goes on. The plan of files and the work
that was left are told in words before what is remembered of such work.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from accounts.caller import Caller
from memory.injection.actions import deliver, prefetch, resume, suggested_files
from memory.injection.actions.deliver import (
    CERTAIN,
    MOST,
    NOTHING,
    OPENING,
    SILENCE,
    Found,
    GivenBack,
)
from memory.injection.actions.recipient import Listener
from memory.injection.actions.resume import Unfinished
from memory.injection.prefetch_rules import Plan
from memory.records.queries.views import views_of
from memory.search import packing_tokens as tokens
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.sql import lookups
from memory.sessions.models import Session
from memory.sessions.points import POINTS, Point
from teams import visibility

OF_MODULES: Final = 20  # memories of the modules, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Work that begins: its modules, what was left of it, and how many tokens are free for it."""

    modules: tuple[str, ...]
    left: Unfinished | None
    most: int = MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What is given, and the plan that is in it."""

    back: GivenBack = SILENCE
    plan: Plan | None = None


def was_told(*, row: Session) -> bool:
    """Say whether a session had its first message; one that ended and goes on has another."""
    at = row.prefetched_at
    return at is not None and (row.ended_at is None or row.ended_at <= at)


def begin(*, caller: Caller, listener: Listener, work: Work, now: datetime) -> Begun:
    """Give a held session what its work begins with. In a unit."""
    row = listener.row
    plan = prefetch.plan(caller=caller, row=row, modules=work.modules)
    left = resume.told(left=work.left) if work.left else ""
    room = min(POINTS[Point.FIRST_MESSAGE].tokens - plan.tokens, work.most)
    files = prefetch.told(plan=plan)
    said = replace(
        NOTHING,
        heading=_first_that_fits((f"{left}{files}", left, files), room),
        reserved=plan.tokens,
        most=work.most,
    )
    found = deliver.together(found=(_of_modules(caller, row, work.modules, now), said))
    back = deliver.give_back(
        caller=caller, listener=listener, point=Point.FIRST_MESSAGE, found=found, now=now
    )
    if not back.is_late and (back.text or plan.files or work.left):
        row.prefetched_at = now
        row.save(update_fields=["prefetched_at"])
        suggested_files.note(row=row, paths=(one.path for one in plan.files))
    return Begun(back=back, plan=plan)


def _first_that_fits(texts: Iterable[str], most: int) -> str:
    room = most - tokens.count(text=OPENING) - 1  # the line between them
    return next((one for one in texts if one and tokens.count(text=one) <= room), "")


def _of_modules(caller: Caller, row: Session, modules: tuple[str, ...], now: datetime) -> Found:
    """Find the patterns and states of work that are known of some modules. In a unit."""
    types = tuple(sorted(type.value for type in POINTS[Point.FIRST_MESSAGE].types))
    project = None if row.project is None else str(row.project.id)
    sight = visibility.sight_of(caller=caller)
    question = narrowings.question(caller=caller, narrowing=Narrowing(project=project, types=types))
    ids = lookups.of_modules(modules=modules, question=question, limit=OF_MODULES, sight=sight)
    views = views_of(memory_ids=ids, sight=sight, now=now)
    return Found(views=views, relevance=dict.fromkeys(views, CERTAIN), files={})
