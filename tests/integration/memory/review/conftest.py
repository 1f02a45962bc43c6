"""Set-up that tests of review share."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from accounts.caller import Caller, Role
from memory.review.rollback import plan
from memory.review.rollback.execute import RolledBack, roll_back
from memory.review.rollback.plan import RollbackPreview
from memory.review.rollback.selection import RollbackChoice
from tests.support.rollbacks import LATER, Look, Roll


@pytest.fixture
def steward(caller: Caller) -> Caller:
    """Somebody else who decides: neither who rolls back nor who wrote."""
    return replace(caller, user_id=uuid4(), role=Role.STEWARD)


@pytest.fixture
def roll(caller: Caller, store: str, now: datetime) -> Roll:
    """Roll back in the project, so many hours later; the owner unless somebody else."""

    def by(who: Caller = caller, hours: int = 1, **chosen: Any) -> RolledBack:
        choice = RollbackChoice(project=store, **chosen)
        return roll_back(caller=who, choice=choice, now=now + hours * LATER)

    return by


@pytest.fixture
def look(caller: Caller, store: str, now: datetime) -> Look:
    """Preview a rollback, so many hours later; the owner unless somebody else."""

    def by(who: Caller = caller, hours: int = 1, **chosen: Any) -> RollbackPreview:
        choice, then = RollbackChoice(project=store, **chosen), now + hours * LATER
        return plan.preview(caller=who, choice=choice, after=None, limit=200, now=then)

    return by
