"""Names that are most likely one thing, over REST: of what one sees, with the reason."""

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.search.entity_profile import close_names_of
from memory.search.request import Narrowing
from tests.support.api import Api

NAMED = ("The `ConnectionBroker` waits for a lock.", "The `ConectionBroker` is slow at night.")
AT = "entities/close?name=ConnectionBroker"


def _stored(api: Api, text: str, **given: str) -> None:
    api.post("memories", {"content": text, "project": "shop", **given})


def test_another_spelling_is_suggested_with_its_reason(api: Api) -> None:
    for text in NAMED:
        _stored(api, text)

    told = api.get(AT).json()
    asked_in = api.get(f"{AT}&project=shop&kind={told['entity']['kind']}").json()

    assert told["entity"]["name"] == "ConnectionBroker"
    assert [(one["entity"]["name"], one["reason"]) for one in told["items"]] == [
        ("ConectionBroker", "misspelled")
    ]
    assert asked_in == told


def test_of_what_nobody_names_nothing_is_said(api: Api) -> None:
    assert api.get("entities/close?name=Nowhere").json() == {"entity": None, "items": []}


@pytest.mark.parametrize(
    "query", ["", "name=", f"name={'x' * 121}", "name=a%00b", "name=x&kind=purple", "name=x&q=1"]
)
def test_what_is_no_name_is_refused(api: Api, query: str) -> None:
    assert api.get(f"entities/close?{query}").status_code == 422


def test_a_project_that_one_does_not_see_is_none(api: Api) -> None:
    assert api.get(f"{AT}&project=vault").status_code == 404


def test_nobody_learns_of_a_name_by_asking_for_what_is_close(
    api: Api, member_caller: Caller
) -> None:
    _stored(api, NAMED[0])
    _stored(api, NAMED[1], scope="personal")

    mine = api.get(AT).json()

    assert len(mine["items"]) == 1
    given = {"name": "ConnectionBroker", "type": None}
    with entered(member_caller):
        seen = close_names_of(caller=member_caller, narrowing=Narrowing(), **given)
        hidden = close_names_of(
            caller=member_caller, name="ConectionBroker", type=None, narrowing=Narrowing()
        )
    assert (seen.thing is None, seen.suggestions) == (False, ())
    assert (hidden.thing, hidden.suggestions) == (None, ())


def test_another_organization_knows_neither_the_name_nor_the_project(
    api: Api, other_caller: Caller
) -> None:
    _stored(api, NAMED[0])
    given = {"name": "ConnectionBroker", "type": None}

    with entered(other_caller):
        there = close_names_of(caller=other_caller, narrowing=Narrowing(), **given)
        with pytest.raises(NotFound):
            close_names_of(caller=other_caller, narrowing=Narrowing(project="shop"), **given)

    assert there.thing is None
