"""Names that are most likely one thing, over REST: of what one sees, with the reason."""

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.search.entity_profile import CloseNames, close_names_of
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
    assert api.get("entities/close?name=Nowhere").json() == {"entity": None, "items": []}
    assert api.get(f"{AT}&project=vault").status_code == 404
    for wrong in (
        "",
        "name=",
        f"name={'x' * 121}",
        "name=a%00b",
        "name=x&kind=purple",
        "name=x&q=1",
    ):
        assert api.get(f"entities/close?{wrong}").status_code == 422


def test_nobody_learns_of_a_name_by_asking_for_what_is_close(
    api: Api, member_caller: Caller, other_caller: Caller
) -> None:
    _stored(api, NAMED[0])
    _stored(api, NAMED[1], scope="personal")

    def seen(
        caller: Caller, name: str = "ConnectionBroker", project: str | None = None
    ) -> CloseNames:
        with entered(caller):
            narrowing = Narrowing(project=project)
            return close_names_of(caller=caller, name=name, type=None, narrowing=narrowing)

    assert len(api.get(AT).json()["items"]) == 1
    assert (seen(member_caller).thing is None, seen(member_caller).suggestions) == (False, ())
    hidden = seen(member_caller, "ConectionBroker")
    assert (hidden.thing, hidden.suggestions, seen(other_caller).thing) == (None, (), None)
    with pytest.raises(NotFound):
        seen(other_caller, project="shop")
