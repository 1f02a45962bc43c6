"""One memory in each place of an organization, its text naming that place by a canary."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.review.actions.corrections import correct
from teams.actions.projects import create_project
from teams.models import Team, TeamMember
from tests.support.memories import stored

PLACES = ("public", "closed", "personal", "team", "everyone")


def projects(caller: Caller, now: datetime) -> tuple[UUID, UUID]:
    """Make an open and a closed project."""
    made = (
        create_project(caller=caller, slug=slug, name=slug, open_to_all=slug == "public", now=now)
        for slug in ("public", "closed")
    )
    first, second = made
    return first.id, second.id


def memories(caller: Caller, now: datetime) -> dict[str, UUID]:
    """Store a memory in every place, in a team of the caller's too; return their ids by place."""
    with tenancy.unit():
        team = Team.objects.create(slug="core", name="Core")
        TeamMember.objects.create(team=team, user_id=caller.user_id)
    given: dict[str, dict[str, Any]] = {
        "public": {"project": "public"},
        "closed": {"project": "closed"},
        "personal": {"project": "public", "scope": "personal"},
        "team": {"project": "public", "scope": "team", "team": "core"},
        "everyone": {"scope": "organization"},
    }
    return {place: _corrected(caller, now, place, given[place]) for place in PLACES}


def _corrected(caller: Caller, now: datetime, place: str, given: dict[str, Any]) -> UUID:
    """Store a memory that has a history and a link; return the newer one."""
    given = {**given, "related_files": ("canary/bird.py",)}
    old = stored(caller, now, f"{place}-canary was here before, in short.", **given)
    fixed = f"`{place}-canary` sings here now, and `canary` is it."
    outcome = correct(
        caller=caller, memory_id=old.id, content=fixed, kind="wrong", reason="", now=now
    )
    assert outcome.memory is not None
    return outcome.memory.id
