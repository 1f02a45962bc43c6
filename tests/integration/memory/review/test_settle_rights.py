"""What a conflict says of the rights to settle it is what settling does."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from accounts.caller import Caller, Role
from accounts.errors import Forbidden, RoleNotSufficient
from memory.errors import SelfApproval
from memory.review.actions.settlements import Settlement, reopen, settle
from memory.review.conflict_rules import Bar, ConflictVerdict
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from tests.support.memories import as_agent, as_role, sent

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
RIGHT = "The checkout worker in `shop/checkout.py` retries a payment 4 times before it gives up."
LATER = timedelta(hours=1)

pytestmark = pytest.mark.usefixtures("in_organization")


def _settled(
    caller: Caller, one: ConflictView, now: datetime, verdict: ConflictVerdict
) -> ConflictView:
    settlement = Settlement(
        verdict=verdict,
        reason="It was raised last week.",
        content=RIGHT if verdict is ConflictVerdict.EDIT else "",
        if_version=one.version,
    )
    return settle(caller=caller, conflict_id=one.id, settlement=settlement, now=now + LATER)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.STEWARD, Role.VIEWER])
@pytest.mark.parametrize("is_authors", [True, False])
@pytest.mark.parametrize("scope", ["project", "personal"])
def test_what_a_conflict_says_of_rights_is_what_settling_does(
    caller: Caller, member_caller: Caller, store: str, now: datetime, role: Role,
    is_authors: bool, scope: str,
) -> None:  # fmt: skip
    sent(as_agent(member_caller), now, OLD, project=store, source="agent_explicit")
    newer = sent(as_agent(caller), now, NEW, project=store, scope=scope, source="agent_explicit")
    assert newer.conflict_id is not None
    asks = as_role(caller if is_authors or scope == "personal" else member_caller, role)
    one = conflicts.get_conflict(caller=asks, conflict_id=newer.conflict_id, now=now)

    for verdict, bar in one.rights.verdicts:
        if bar is None:
            ended = _settled(asks, one, now, verdict)
            version = ended.version
            one = reopen(caller=asks, conflict_id=one.id, if_version=version, now=now + LATER)
        else:
            with pytest.raises((Forbidden, RoleNotSufficient, SelfApproval)):
                _settled(asks, one, now, verdict)

    assert one.verdict == ""


def test_both_are_kept_by_whose_note_one_of_them_is_alone(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    sent(as_agent(caller), now, OLD, project=store, source="agent_explicit")
    note = sent(member_caller, now, NEW, project=store, scope="personal")
    assert note.conflict_id is not None
    one = conflicts.get_conflict(caller=member_caller, conflict_id=note.conflict_id, now=now)

    assert one.rights.allowed() == (ConflictVerdict.KEEP_OLDER, ConflictVerdict.BOTH)
    assert _settled(member_caller, one, now, ConflictVerdict.BOTH).verdict == "both"


def test_a_settlement_is_taken_back_by_whoever_made_it_or_a_steward(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    sent(as_agent(caller), now, OLD, project=store, source="agent_explicit")
    newer = sent(as_agent(member_caller), now, NEW, project=store, source="agent_explicit")
    assert newer.conflict_id is not None
    found = conflicts.get_conflict(caller=caller, conflict_id=newer.conflict_id, now=now)
    steward = replace(caller, user_id=UUID(int=9), role=Role.STEWARD)
    _settled(member_caller, found, now, ConflictVerdict.KEEP_OLDER)

    stranger = replace(member_caller, user_id=UUID(int=7))
    rights = {
        asks: conflicts.get_conflict(caller=asks, conflict_id=found.id, now=now).rights.reopen
        for asks in (stranger, member_caller, steward)
    }

    assert tuple(rights.values()) == (Bar.STEWARD, None, None)
    with pytest.raises(RoleNotSufficient):
        reopen(caller=stranger, conflict_id=found.id, if_version=None, now=now + LATER)
