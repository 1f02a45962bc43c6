"""Close names: joined in the night where that is certain, else suggested to who sees both."""

from datetime import datetime
from itertools import product
from typing import Final

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from memory.entities.close_names import Reason
from memory.entities.queries import Thing
from memory.records.models import ReviewVerdict
from memory.review.actions import entity_merges
from memory.review.actions.entity_merges import MergePair, merge_names, scope_of, unmerge_names
from memory.search.entity_profile import (
    MOST_LOOKED_BESIDE,
    Suggestion,
    about,
    list_things,
    suggest_names,
)
from memory.search.request import Narrowing
from tests.support.memories import stored

JOINED: Final = ("The `AuthGate` counts sign-ins.", "The `Authgate` answers within a second.")
SPELLED: Final = (
    "The `OpenAuthGate` counts.", "The `OpenAuthgate` answers.", "The `Openauthgate` is slow.",
)  # fmt: skip
SLIPPED: Final = ("The `ConnectionBroker` waits.", "The `ConectionBroker` is slow at night.")
APART: Final = ("The `CiToolbox` waits.", "The `Citoolbox` is slow at night.")


def _thing(caller: Caller, name: str, now: datetime) -> Thing:
    found = about(caller=caller, name=name, type=None, narrowing=Narrowing(limit=9), now=now)
    assert found.thing is not None
    return found.thing


def _close(caller: Caller, name: str, now: datetime) -> tuple[Suggestion, ...]:
    thing = _thing(caller, name, now)
    return suggest_names(caller=caller, thing=thing, narrowing=Narrowing())


def _names(found: tuple[Suggestion, ...]) -> list[tuple[str, Reason]]:
    return [(one.thing.name, one.reason) for one in found]


def test_what_is_certain_is_joined_for_those_who_see_the_place(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    for text in (*JOINED, *SLIPPED, *SPELLED, *APART):
        stored(caller, now, text, project=store)
    pair = MergePair(name="CiToolbox", same_as="Citoolbox", scope="organization")
    merge_names(caller=caller, pair=pair, now=now)

    done = entity_merges.join_names(now=now)

    thing = _thing(member_caller, "AuthGate", now)
    assert (done["places"], done["joined"]) == (1, 3)  # three spellings by two pairs
    assert (thing.memories, thing.spellings) == (2, ("AuthGate", "Authgate"))
    assert _thing(caller, "OpenAuthGate", now).memories == 3
    assert _thing(member_caller, "ConnectionBroker", now).memories == 1


def test_a_second_night_joins_nothing_and_contradicts_nobody(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    for text in JOINED:
        stored(caller, now, text, project=store)
    entity_merges.join_names(now=now)
    again = entity_merges.join_names(now=now)
    found = about(
        caller=member_caller, name="AuthGate", type=None, narrowing=Narrowing(limit=9), now=now
    )
    (merge,) = found.merges

    unmerge_names(caller=caller, merge_id=merge.id, now=now)
    after = entity_merges.join_names(now=now)

    assert scope_of(merge=merge, caller=member_caller) == "project"
    assert (again["joined"], after["joined"]) == (0, 0)
    assert _thing(member_caller, "AuthGate", now).memories == 1


def test_names_of_two_places_are_not_joined_nor_what_a_person_keeps(
    caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, JOINED[0], project=store)
    stored(caller, now, JOINED[1], scope="organization")
    for text in (*SLIPPED[:1], "The `Connectionbroker` is mine."):
        stored(caller, now, text, project=store, scope="personal")

    done = entity_merges.join_names(now=now)

    assert done["joined"] == 0
    with tenancy.unit():
        assert not ReviewVerdict.objects.exists()


def test_a_longer_name_is_suggested_beside_the_same_names_alone(
    caller: Caller, store: str, now: datetime
) -> None:
    for name in ("`Checkout`", "`CheckoutService`"):
        stored(caller, now, f"{name} calls `TaxTable` before `PriceBook` each time.", project=store)
    stored(caller, now, "`Billing` runs at night.", project=store)
    stored(caller, now, "`BillingService` sends letters.", project=store)

    assert _names(_close(caller, "Checkout", now)) == [("CheckoutService", Reason.LONGER)]
    assert _close(caller, "Billing", now) == ()


@pytest.mark.parametrize(
    ("texts", "name", "other", "reason"),
    [
        (SLIPPED, "ConnectionBroker", "ConectionBroker", Reason.MISSPELLED),
        (APART, "CiToolbox", "Citoolbox", Reason.JOINED),
        (APART, "Citoolbox", "CiToolbox", Reason.JOINED),
    ],
)
def test_what_names_say_by_themselves_needs_no_look_beside_them(
    caller: Caller, store: str, now: datetime,
    texts: tuple[str, ...], name: str, other: str, reason: Reason,
) -> None:  # fmt: skip
    for text in texts:
        stored(caller, now, text, project=store)
    thing = _thing(caller, name, now)
    with connection.execute_wrapper(_count := _Counter()):
        found = suggest_names(caller=caller, thing=thing, narrowing=Narrowing())

    assert _names(found) == [(other, reason)]
    assert _count.looks == 0


def test_a_suggestion_takes_a_bounded_number_of_statements(
    caller: Caller, store: str, now: datetime
) -> None:
    texts = [f"Ask @maria-xo{first}{second} of it." for first, second in product("abcde", repeat=2)]
    for text in ("Ask @maria of the depot about it.", *texts):
        stored(caller, now, text, project=store)
    thing = _thing(caller, "maria", now)
    with connection.execute_wrapper(_count := _Counter()):
        suggest_names(caller=caller, thing=thing, narrowing=Narrowing())

    assert _count.looks == 1 + MOST_LOOKED_BESIDE  # of 25 names that are likely
    assert _count.statements <= 9 + MOST_LOOKED_BESIDE


def test_a_later_spelling_does_not_join_what_was_taken_apart(
    caller: Caller, store: str, now: datetime
) -> None:
    for text in SPELLED[:2]:
        stored(caller, now, text, project=store)
    entity_merges.join_names(now=now)
    with tenancy.unit():
        made = ReviewVerdict.objects.get()
    unmerge_names(caller=caller, merge_id=made.id, now=now)
    stored(caller, now, SPELLED[2], project=store)

    assert entity_merges.join_names(now=now)["joined"] == 1
    listed, _ = list_things(
        caller=caller, begins="open", type=None, narrowing=Narrowing(), after=None, limit=9
    )
    assert [one.memories for one in listed] == [2, 1]


class _Counter:
    """Counts statements, and those among them that look at what is named beside a thing."""

    statements = 0
    looks = 0

    def __call__(self, execute: object, *args: object) -> object:
        self.statements += 1
        self.looks += "count(DISTINCT o.memory_id)" in str(args[0])
        return execute(*args)  # type: ignore[operator]
