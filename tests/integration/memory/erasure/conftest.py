"""A project whose agents' sessions and memories are deleted."""

from datetime import datetime

import pytest

from accounts.caller import Caller
from teams.actions import change_project
from tests.support.agent_runs import Shop


@pytest.fixture
def shop(caller: Caller, member_caller: Caller, store: str, now: datetime) -> Shop:
    """A project whose sessions teach their own people, and their agents."""
    personal = {"session_lessons": "personal"}
    change_project(caller=caller, ref=store, changes=personal, if_version=None)
    return Shop(caller, member_caller, now)
