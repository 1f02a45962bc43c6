"""What an answer of a hook leaves out since its token found it itself, and how it should read."""

from datetime import datetime, timedelta

import pytest

from accounts.caller import Caller
from memory.customization.actions import put_style
from memory.customization.style import NewStyle
from memory.index.actions import maintenance
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.text import tokens
from tests.integration.memory.injection.test_hook_answers import (
    VAT,
    WARNING,
    heard,
    known,
    program,
    prompted,
    tokens_of_the_ledger,
    used,
    warned,
)
from tests.support import memories

__all__ = ["program"]

pytestmark = pytest.mark.usefixtures("store")


@pytest.mark.parametrize("is_merged", [False, True])
def test_what_its_token_just_searched_for_is_not_told_again(
    caller: Caller, program: Caller, now: datetime, is_merged: bool
) -> None:
    warned(caller, now)
    heard(program, now, hook_event_name="SessionStart")
    request = SearchRequest(query=WARNING, project="store")
    assert search(caller=program, request=request, now=now).hits != ()
    if is_merged:
        maintenance.merge_access()

    mine = used(program, now).text
    others = used(memories.as_agent(caller), now, session_id="run-2").text

    assert mine == ""
    assert WARNING in others


def test_what_its_token_searched_for_before_the_session_is_told(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    search(caller=program, request=SearchRequest(query=WARNING, project="store"), now=now)

    assert WARNING in used(program, now + timedelta(minutes=1)).text


def test_a_style_is_told_with_a_brief_and_never_alone(
    caller: Caller, program: Caller, now: datetime
) -> None:
    style = NewStyle(name="short", text="Answer in one sentence.", is_default=True)
    put_style(caller=caller, new=style, now=now)

    assert prompted(program, now, "hi").text == ""
    known(caller, now)
    back = prompted(program, now)

    assert "Answer in one sentence." in back.text
    assert VAT in back.text
    assert tokens.count(text=back.text) == back.tokens == tokens_of_the_ledger()
