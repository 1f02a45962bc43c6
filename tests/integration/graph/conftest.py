"""A project to index."""

from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from teams.actions import create_project


@pytest.fixture
def shop(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> str:
    """The slug of a project without code."""
    return create_project(caller=caller, slug="shop", name="Shop", now=now).slug
