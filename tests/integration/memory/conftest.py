"""A project, the callers that write into it, and a vendor's model that reads with them."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from teams.actions import create_project
from teams.models import Team, TeamMember
from tests.support import memories, vendors
from tests.support.reviewed import World
from tests.support.vendor_server import Vendor


@pytest.fixture
def store(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> str:
    """The slug of a project without memories."""
    return create_project(caller=caller, slug="store", name="Store", now=now).slug


@pytest.fixture
def world(caller: Caller, member_caller: Caller, store: str, now: datetime) -> World:
    """An empty project and its people."""
    return World(owner=caller, member=member_caller, store=store, now=now)


@pytest.fixture
def agent(member_caller: Caller) -> Caller:
    """An agent with the member's token."""
    return memories.as_agent(member_caller)


@pytest.fixture
def team(caller: Caller, in_organization: tenancy.Tenant) -> str:
    """The slug of a team the owner belongs to."""
    with tenancy.unit():
        row = Team.objects.create(slug="platform", name="Platform")
        TeamMember.objects.create(team=row, user_id=caller.user_id)
    return row.slug


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """An installation whose chat model is a vendor on the loopback interface."""
    with vendors.chatting_vendor() as running:
        yield running
