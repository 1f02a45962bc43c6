"""Who may settle a conflict, and who may take that back."""

from typing import Any

import pytest

from memory.review.queries.conflicts import REOPEN, Bar, ConflictVerdict, find_bars

MEMBER = {"may_write": True, "decides": True, "is_steward": False}
STEWARD = {**MEMBER, "is_steward": True}
VIEWER = {**MEMBER, "may_write": False}
AGENT = {**STEWARD, "decides": False}
EVERY = tuple(ConflictVerdict)


def bars(
    decider: dict[str, bool], older: bool = False, newer: bool = False, *, note: int | None = None,
    is_open: bool = True, settled_it: bool | None = None,
) -> dict[str, Bar]:  # fmt: skip
    """Return what keeps somebody from what; `note`: which of the two is personal."""
    pair: dict[str, Any] = {"wrote": (older, newer), "personal": (note == 0, note == 1)}
    return find_bars(
        **decider, **pair, is_same_audience=note is None, is_open=is_open, settled_it=settled_it
    )


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
    decider: dict[str, bool], settled_it: bool | None, why: Bar
) -> None:
    assert bars(decider, settled_it=settled_it)[REOPEN] is why
