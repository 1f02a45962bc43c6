"""Of one organization, few calls are read at a time; they keep nobody else from theirs."""

import pytest

from accounts import tenancy
from accounts.errors import RateLimited
from accounts.models import Organization
from graph.backend.turns import AGAIN_SECONDS, Turns
from tests.support import people


def test_a_third_call_of_an_organization_comes_again(in_organization: tenancy.Tenant) -> None:
    turns = Turns()

    with turns.hold(), turns.hold(), pytest.raises(RateLimited) as refused, turns.hold():
        pass

    assert refused.value.retry_after_seconds == AGAIN_SECONDS
    with turns.hold():
        assert str(refused.value) == "2 calls of this organization are being read."


def test_a_place_is_given_back_whatever_happens(in_organization: tenancy.Tenant) -> None:
    turns = Turns()
    for _ in range(3):
        with pytest.raises(ValueError, match="x"), turns.hold():
            raise ValueError("x")

    with turns.hold(), turns.hold():
        assert sum(turns._held.values()) == 2


def test_another_organization_has_places_of_its_own(
    organization: Organization, other_organization: Organization
) -> None:
    turns = Turns()

    with people.entered(organization=organization):
        first, second = turns.hold(), turns.hold()
        first.__enter__()
        second.__enter__()
    with people.entered(organization=other_organization), turns.hold():
        held = sum(turns._held.values())
    second.__exit__(None, None, None)
    first.__exit__(None, None, None)

    assert held == 3
    assert not turns._held
