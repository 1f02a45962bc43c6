"""`manage.py embed`: what operators see and do of models, for one organization or all."""

from datetime import datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.caller import Caller
from accounts.models import Organization
from tests.support import people
from tests.support.memories import stored
from tests.support.switching import active_key, do_jobs

TURNED = "hashing/turned-384"


@pytest.fixture
def acme(caller: Caller, organization: Organization, now: datetime) -> Organization:
    """An organization with a memory."""
    with people.entered(organization=organization):
        stored(caller, now)
    return organization


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("embed", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_an_operator_switches_looks_goes_back_and_drops(acme: Organization) -> None:
    said("switch", "--to", TURNED)
    with people.entered(organization=acme):
        do_jobs()
        assert active_key() == TURNED

    status = said("status")
    assert "acme: hashing/words-384 (kept): 1 of 1 memories" in status
    assert f"acme: {TURNED} (active): 1 of 1 memories" in status
    assert "hashing/words-384 again" in said("rollback", "--organization", "acme")
    assert "being deleted" in said("drop", "--model", TURNED)


def test_a_switch_that_is_cancelled_is_over(acme: Organization) -> None:
    said("switch", "--to", TURNED)

    assert "cancelled" in said("cancel")
    assert f"{TURNED} (left)" in said("status")


def test_one_refused_stops_none(acme: Organization, other_organization: Organization) -> None:
    said("switch", "--to", TURNED, "--organization", "globex")

    with pytest.raises(CommandError, match="Refused for 1 of 2"):
        said("cancel")
    assert "(filling)" not in said("status")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("switch",), "--to KEY"),
        (("drop",), "--model KEY"),
        (("switch", "--to", "nobody/knows"), "Refused for 1 of 1"),
        (("status", "--organization", "nowhere"), "There is no organization"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    acme: Organization, arguments: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        said(*arguments)
