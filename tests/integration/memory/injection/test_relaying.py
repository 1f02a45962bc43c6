"""What one stage passes on to the next: of what its caller may be given, the surest."""

from datetime import datetime
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.points import Point
from memory.injection.actions.handover import STAGE_MEMORIES_MOST
from memory.records.models import Memory
from tests.integration.memory.sessions.test_points import at, known, opened

pytestmark = pytest.mark.usefixtures("in_organization", "store")


def test_what_may_not_be_passed_on_crowds_out_nothing(caller: Caller, now: datetime) -> None:
    before = opened(caller, now, thread="cache", phase="planner")
    few = known(caller, now, "Totals are kept in cents, as the ledger does.", type="decision")
    with tenancy.unit():
        Memory.objects.filter(pk=few.id).update(session_id=before)
        row = Memory.objects.get(pk=few.id)
        row.needs_review, row.confidence = True, 0.99
        for number in range(STAGE_MEMORIES_MOST):
            row.pk, row.content, row.content_hash = uuid4(), f"Guess {number}.", f"{number:064}"
            row.save(force_insert=True)

    coder = opened(caller, now, thread="cache", phase="coder")
    passed = at(caller, now, Point.SYSTEM_PROMPT, coder)

    assert [one.memory.id for one in passed.delivery.memories] == [few.id]
