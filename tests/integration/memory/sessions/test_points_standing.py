"""What a brief over REST holds whatever the task: what stands, and how work is done."""

from datetime import datetime, timedelta

import pytest

from accounts.caller import Caller
from memory.experiments.points import Point
from tests.integration.memory.sessions.test_points import at, known, opened

CENTS = "Money is counted in whole cents everywhere, because floats drift."
DISCOUNTS = "To add a discount, write its rule first, then the test, then the docs."
LATE_MAILS = "Mails were late in spring because one queue took all of them."
MAILS_IN_TIME = "Mails are on time since summer because two queues share them."
TEMPLATES = "To add a mail, copy a template first, then write the test and look at it."
THOUSANDTHS = "My own invoices are counted in thousandths, since the bank asks so."


@pytest.mark.usefixtures("store")
def test_the_brief_over_rest_holds_what_stands_and_how_work_on_its_modules_is_done(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    firm = known(caller, now, CENTS, pinned=True)
    recipe = known(caller, now, DISCOUNTS, type="workflow_recipe")
    old = known(caller, now - timedelta(days=2), LATE_MAILS, type="reflection")
    last = known(caller, now, MAILS_IN_TIME, type="reflection")
    known(caller, now, TEMPLATES, related_modules=("src/mail",), type="workflow_recipe")
    known(member_caller, now, THOUSANDTHS, scope="personal", pinned=True)

    session = opened(caller, now)
    given = at(caller, now, Point.SYSTEM_PROMPT, session, modules=("src/cart",)).delivery

    assert {one.memory.id for one in given.memories} == {firm.id, recipe.id, last.id}
    assert old.content not in given.text


@pytest.mark.usefixtures("store")
def test_a_brief_over_rest_is_silent_where_nothing_stands(caller: Caller, now: datetime) -> None:
    known(caller, now, "The lamp in the kitchen is green.")

    given = at(
        caller, now, Point.SYSTEM_PROMPT, opened(caller, now), modules=("src/cart",)
    ).delivery

    assert (given.text, given.tokens) == ("", 0)
