"""A project whose agents' sessions are looked at."""

from datetime import datetime

import pytest

from accounts.caller import Caller
from tests.support.agent_runs import Shop


@pytest.fixture
def shop(caller: Caller, member_caller: Caller, store: str, now: datetime) -> Shop:
    """A project, its people and their agents."""
    return Shop(caller, member_caller, now)
