"""Bind the session of an agent's program to one of Cairn, and it to its project, once.

A session that is full goes on in another one; to the agent both are one.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.crypto import salted_hmac

from accounts.caller import Caller
from memory.injection.actions import delivery_log
from memory.injection.harnesses import HookEvent
from memory.secrets import scanner
from memory.sessions import queries as sessions
from memory.sessions.actions import append_events, append_turns, lifecycle, scratchpads
from memory.sessions.actions.lifecycle import LONGEST, NewSession, Placed, place_session
from memory.sessions.models import Session
from teams import queries as places

AGENT_MOST: Final = 80  # characters of an agent's name in the delivery log; default
SALT: Final = "cairn.sessions.of.programs"
PART: Final = "#"  # before the number under which a full session goes on
DETACHED: Final = "HEAD"  # what git calls the branch of whoever is on none
COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
NOT_OF_SLUGS: Final = re.compile(r"[^a-z0-9-]+")
DELIVERED: Final = (
    "briefed_at", "brief_tries", "prefetched_at", "compacted_at", "experiment_group",
)  # fmt: skip
CONTINUED: Final = (  # what the session that goes on has of the full one
    "thread", "type", "phase", "methodology", "agent", "cwd", "root", "branch", "commit",
    "work_unit", "memory_eligible", "models_agreed",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Where an agent works, as it says: a project of Cairn, or its repository and where there."""

    project: str = ""
    repository: str = ""
    root: str = ""
    branch: str = ""
    commit: str = ""


def bind(*, caller: Caller, event: HookEvent, whereabouts: Whereabouts, now: datetime) -> Placed:
    """Find the session that a program means, or open it. In a unit.

    Raises NotFound for a named project the caller cannot see, NotBoundToProject, InvalidInput.
    """
    row, name = find_bound(caller=caller, event=event)
    if row is not None and row.external_id == name:
        return Placed(row=row, is_new=False)
    if row is not None:
        return go_on(caller=caller, row=row, name=name, now=now)
    project = event.project or project_of(
        caller=caller, whereabouts=whereabouts, folder=event.folder
    )
    new = NewSession(
        project=project,
        external_id=name,
        agent=event.harness,
        cwd=_clean(event.folder, "cwd"),
        root=_clean(whereabouts.root, "root"),
        branch=_clean("" if whereabouts.branch == DETACHED else whereabouts.branch, "branch"),
        commit=whereabouts.commit if COMMIT.fullmatch(whereabouts.commit) else "",
        shared=caller.user_id is None,  # a credential of nobody has no sessions of its own
    )
    return place_session(caller=caller, new=new, now=now)


def find_bound(*, caller: Caller, event: HookEvent) -> tuple[Session | None, str]:
    """Return the session that a program means, locked, and the name of the one to go on in.

    None for one that is new. What has no room for more events or turns goes on under the next
    number, so that none is lost. In a unit.
    """
    session = _without_secrets(event.session)
    own = _digest(session) if PART in session else session  # else it may claim a part of another
    name = called = f"{event.harness}/{own}"
    row = sessions.hold_named(caller=caller, external_id=name)
    while row is not None and (append_events.is_full(row=row) or append_turns.is_full(row=row)):
        called = f"{name}{PART}{int(called.removeprefix(name)[1:] or 1) + 1}"
        following = sessions.hold_named(caller=caller, external_id=called)
        if following is None:
            break
        row = following
    return row, called


def project_of(*, caller: Caller, whereabouts: Whereabouts, folder: str) -> str | None:
    """Return the project that an agent works on: the named one, or one called like its code.

    A credential that is bound to one project works on that. None: on no project. In a unit.
    """
    if whereabouts.project:
        return whereabouts.project
    seen = {one.slug for one in places.projects(caller=caller)}
    addresses = (whereabouts.repository, whereabouts.root, folder)
    named = next((name for name in map(_last_part, addresses) if name in seen), None)
    if named is not None or caller.bound_projects is None or len(seen) != 1:
        return named
    return next(iter(seen))


def _clean(text: str, field: str) -> str:
    return scanner.without_secrets(text=text)[: LONGEST[field]]


def agent_of(*, event: HookEvent) -> str:
    """Return which agent of its session an event is of, as the delivery log calls it."""
    return _without_secrets(event.agent)[:AGENT_MOST]


def _without_secrets(text: str) -> str:
    """Return an id as it may be kept: a digest where it holds a secret."""
    return _digest(text) if scanner.find_secrets(text=text) else text


def _digest(text: str) -> str:
    return salted_hmac(SALT, text, algorithm="sha256").hexdigest()


def _last_part(address: str) -> str:
    """Return the last part of an address or a folder as a slug; nothing else of it is kept."""
    last = re.split(r"[/\\:]", address.strip().rstrip("/\\"))[-1].lower().removesuffix(".git")
    return NOT_OF_SLUGS.sub("-", last).strip("-")


def go_on(*, caller: Caller, row: Session, name: str, now: datetime) -> Placed:
    """End a session that is full, and open the one in which it goes on; both are one thread.

    What its agent was given it is not given again, and what it has seen goes with it. In a unit.
    """
    row.thread = row.thread or row.external_id
    row.save(update_fields=["thread"])
    if row.state == "open":
        lifecycle.close(rows=(row,), now=now)
    new = NewSession(
        project=None if row.project_id is None else str(row.project_id),
        external_id=name,
        plan=tuple(row.plan or ()),
        shared=row.audience == row.project_id,
        **{field: getattr(row, field) for field in CONTINUED},
    )
    placed = place_session(caller=caller, new=new, now=now)
    if placed.is_new:
        seen = scratchpads.settled(opened=scratchpads.read(row=row))
        suggested = delivery_log.suggested_files(session=row)
        placed.row.observed = {
            **scratchpads.carry_over(row=row, scratchpad=seen),
            delivery_log.SUGGESTED_FILES_KEY: dict.fromkeys(suggested, 0),
        }
        for field in DELIVERED:
            setattr(placed.row, field, getattr(row, field))
        if row.reflection is not None:  # asked once in all parts; what about, the one of then knows
            asked_in = row.reflection.get(sessions.ASKED_IN, str(row.id))
            placed.row.reflection = {sessions.ASKED_IN: asked_in}
        placed.row.save(update_fields=["observed", "reflection", *DELIVERED])
    return placed
