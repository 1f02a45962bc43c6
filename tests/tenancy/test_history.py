"""What was said in one organization is neither read nor found in another."""

from datetime import datetime

import pytest

from accounts.caller import Caller
from accounts.errors import NotFound
from accounts.models import Organization
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.queries import HistoryQuestion, search_history, turns
from tests.support import people

ASKED = HistoryQuestion(query="advisory lock")


def test_another_organization_finds_nothing(
    organization: Organization,
    other_organization: Organization,
    caller: Caller,
    other_caller: Caller,
    now: datetime,
) -> None:
    with people.entered(organization=organization):
        session = open_session(caller=caller, new=NewSession(), now=now).session.id
        said = (NewTurn(role="user", text="The advisory lock keeps carts apart."),)
        append_turns(caller=caller, session_id=session, turns=said, now=now)
        assert search_history(caller=caller, asked=ASKED, after=None, limit=5).items

    with people.entered(organization=other_organization):
        page = search_history(caller=other_caller, asked=ASKED, after=None, limit=5)
        with pytest.raises(NotFound):
            turns(caller=other_caller, session_id=session, after=0, limit=1)
    assert page.items == ()
