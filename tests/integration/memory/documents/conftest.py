"""A project with memories that other connections see."""

from datetime import datetime

import pytest

from accounts.caller import Caller
from accounts.models import Organization
from teams.actions import create_project
from tests.support import memories, people


@pytest.fixture
def shop(transactional_db: None, caller: Caller, organization: Organization, now: datetime) -> str:
    """A project with three memories, committed."""
    with people.entered(organization=organization):
        slug = create_project(caller=caller, slug="store", name="Store", now=now).slug
        for text in (memories.REDIS, memories.CARTS, memories.PARSER):
            memories.stored(caller, now, text, project=slug)
    return slug
