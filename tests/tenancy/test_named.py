"""What memories name tells nothing of those that one may not see: no name, no count, no rank."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.entities import queries as entities
from memory.intake.actions.remember import remember_all
from memory.search.fusion import FusedCandidate
from teams import visibility
from teams.actions import create_project
from teams.queries import find_project
from tests.support import crowds
from tests.support.memories import new

SHARED = "The proxy of AuthService is restarted on Fridays by deploy/run.sh, says the handbook."
ENOUGH = 200  # memories that name a thing, of which the path then says nothing


@pytest.fixture
def shop(caller: Caller, clean_cache: None, now: datetime) -> None:
    """A project with one memory that everybody sees, and one without any."""
    with entered(caller):
        for slug in ("shop", "vault"):
            create_project(caller=caller, slug=slug, name=slug, now=now)
        remember_all(caller=caller, new=(new(SHARED, project="shop"),), now=now)


def crowd(caller: Caller, now: datetime, **where: str) -> None:
    """Name what the shared memory names in very many others."""
    texts = (f"Deal {number} is signed by AuthService and TokenStore." for number in range(ENOUGH))
    with entered(caller):
        remember_all(caller=caller, new=tuple(new(text, **where) for text in texts), now=now)


def found(caller: Caller) -> tuple[FusedCandidate, ...]:
    """Return the candidates by two names."""
    with entered(caller), tenancy.unit():
        return crowds.ask(caller=caller, named=("auth service", "token store"))


def test_what_others_name_for_themselves_changes_nothing(
    shop: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    before = found(member_caller)

    crowd(caller, now, project="shop", scope="personal")

    assert [one.scores["entities"] for one in before] == [1.0]
    assert found(member_caller) == before


def test_what_other_projects_name_changes_nothing_for_a_bound_token(
    shop: None, caller: Caller, now: datetime
) -> None:
    with entered(caller), tenancy.unit():
        bound = replace(caller, bound_projects=(find_project(caller=caller, ref="shop").id,))
    before = found(bound)

    crowd(caller, now, project="vault")

    assert [one.scores["entities"] for one in before] == [1.0]
    assert found(bound) == before


def test_what_one_may_see_does_change_it(
    shop: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    crowd(caller, now, project="shop")

    assert found(member_caller) == ()


def test_what_a_memory_names_is_told_to_who_may_see_it(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    with entered(caller):
        own = remember_all(caller=caller, new=(new(SHARED, scope="personal"),), now=now)
    ids = tuple(one.memory.id for one in own if one.memory)

    def told(who: Caller) -> dict[UUID, frozenset[str]]:
        with entered(who), tenancy.unit():
            return entities.things_of(memory_ids=ids, sight=visibility.sight_of(caller=who))

    assert told(caller) == {ids[0]: frozenset({"auth service", "deploy/run.sh"})}
    assert told(member_caller) == {}
