"""Names that are read at night stay in the organization whose memories say them."""

from datetime import datetime

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.entities.actions import enrich_entities, forget_enriched
from memory.entities.models import Mention
from memory.records.models import Memory
from tests.support.marking import marking
from tests.support.memories import stored

OURS = "Marco wants short names."
THEIRS = "Priya Raman wants long names."


@pytest.fixture(autouse=True)
def _memories(caller: Caller, other_caller: Caller, now: datetime) -> None:
    for one, text in ((caller, OURS), (other_caller, THEIRS)):
        with entered(one):
            stored(one, now, text, scope="organization")


def read(caller: Caller) -> tuple[list[str], int]:
    """Read the names of the caller's organization: what the reader was given, and how many."""
    heard: list[str] = []
    with entered(caller):
        done = enrich_entities(
            left=9, tell=lambda *_: None, open_reader=lambda: marking(heard=heard)
        )
    return heard, done["named"]


def found(caller: Caller) -> tuple[set[str], int]:
    """Return the names stored in the caller's organization, and how many memories are unread."""
    with entered(caller), tenancy.unit():
        unread = Memory.objects.filter(enriched_by=0).count()
        return set(Mention.objects.values_list("key", flat=True)), unread


def test_a_night_reads_the_memories_of_its_own_organization_alone(
    caller: Caller, other_caller: Caller
) -> None:
    given = read(caller)

    assert given == ([OURS], 1)
    assert found(caller) == ({"marco"}, 0)
    assert found(other_caller) == (set(), 1)


def test_what_one_takes_back_another_keeps(caller: Caller, other_caller: Caller) -> None:
    read(caller)
    read(other_caller)

    with entered(caller):
        gone = forget_enriched()

    assert gone == 1
    assert found(caller) == (set(), 0)
    assert found(other_caller) == ({"priya raman"}, 0)
