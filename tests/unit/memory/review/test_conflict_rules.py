"""Who may settle a conflict, and who may take that back."""

from dataclasses import replace
from uuid import UUID

import pytest

from accounts.caller import Caller, Role, TokenScope
from memory.records.models import Conflict, Memory
from memory.review.queries.conflicts import REOPEN, Bar, ConflictVerdict, bars_of

ME, OTHER = UUID(int=1), UUID(int=2)
MEMBER = Caller(
    user_id=ME,
    organization_id=UUID(int=9),
    organization_slug="acme",
    schema_name="acme",
    role=Role.MEMBER,
    scopes=frozenset(TokenScope),
    bound_projects=None,
    source_interface="web",
)
STEWARD = replace(MEMBER, role=Role.STEWARD)
VIEWER = replace(MEMBER, role=Role.VIEWER)
AGENT = replace(STEWARD, token_id=UUID(int=8), scopes=frozenset({TokenScope.WRITE}))
EVERY = tuple(ConflictVerdict)


def bars(
    decider: Caller, older: bool = False, newer: bool = False, *, note: int | None = None,
    is_open: bool = True, settled_it: bool | None = None,
) -> dict[str, Bar]:  # fmt: skip
    """Return what keeps somebody from what; `note`: which of the two is personal."""
    authors = (ME if mine else OTHER for mine in (older, newer))
    sides = tuple(
        Memory(author_user=author, scope="personal" if place == note else "project")
        for place, author in enumerate(authors)
    )
    sides[0].status = "active" if is_open else "archived"
    row = Conflict(verdict="" if settled_it is None else "both")
    row.settled_by = ME if settled_it else OTHER
    return bars_of(caller=decider, row=row, sides=(sides[0], sides[1]))


@pytest.mark.parametrize(
    ("found", "allowed"),
    [
        (bars(STEWARD), EVERY),
        (bars(MEMBER), ()),
        (bars(MEMBER, True, True), EVERY),
        (bars(MEMBER, True, False), (ConflictVerdict.KEEP_NEWER,)),
        (bars(STEWARD, False, True), (ConflictVerdict.KEEP_OLDER,)),
        (bars(VIEWER, True, True), ()),
        (bars(AGENT, True, True), ()),
        (bars(STEWARD, is_open=False), ()),
        (bars(MEMBER, False, True, note=1), (ConflictVerdict.KEEP_OLDER, ConflictVerdict.BOTH)),
        (bars(MEMBER, True, True, note=0), (ConflictVerdict.KEEP_NEWER, ConflictVerdict.BOTH)),
    ],
)
def test_verdicts_are_for_whom_they_are_for(
    found: dict[str, Bar], allowed: tuple[ConflictVerdict, ...]
) -> None:
    assert tuple(one for one in EVERY if not found[one]) == allowed


def test_each_verdict_that_may_not_be_given_says_why() -> None:
    found = bars(MEMBER, True, True, note=1)

    assert [found[one] for one in EVERY] == [Bar.NONE, Bar.PERSONAL, Bar.NONE, Bar.PERSONAL]


@pytest.mark.parametrize(
    ("decider", "settled_it", "why"),
    [
        (MEMBER, True, Bar.NONE),
        (MEMBER, False, Bar.STEWARD),
        (STEWARD, False, Bar.NONE),
        (STEWARD, None, Bar.OPEN),
        (VIEWER, True, Bar.VIEWER),
        (AGENT, True, Bar.AGENT),
    ],
)
def test_a_settlement_is_taken_back_by_who_made_it_or_a_steward(
    decider: Caller, settled_it: bool | None, why: Bar
) -> None:
    assert bars(decider, settled_it=settled_it)[REOPEN] is why
