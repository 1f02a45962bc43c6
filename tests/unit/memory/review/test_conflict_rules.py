"""Who may settle a conflict, and who may take that back."""

import pytest

from memory.review.conflict_rules import (
    Bar,
    ConflictPair,
    ConflictVerdict,
    Decider,
    bar_to_reopen,
    rights,
)

MEMBER = Decider(may_write=True, decides=True, is_steward=False)
STEWARD = Decider(may_write=True, decides=True, is_steward=True)
VIEWER = Decider(may_write=False, decides=True, is_steward=False)
AGENT = Decider(may_write=True, decides=False, is_steward=True)
EVERY = tuple(ConflictVerdict)


def pair(
    older: bool, newer: bool, *, note: int | None = None, is_open: bool = True
) -> ConflictPair:  # note: which of the two is personal
    """Return a pair of which the one who asks wrote these."""
    return ConflictPair(
        wrote=(older, newer),
        personal=(note == 0, note == 1),
        is_same_audience=note is None,
        is_open=is_open,
    )


@pytest.mark.parametrize(
    ("decider", "given", "allowed"),
    [
        (STEWARD, pair(False, False), EVERY),
        (MEMBER, pair(False, False), ()),
        (MEMBER, pair(True, True), EVERY),
        (MEMBER, pair(True, False), (ConflictVerdict.KEEP_NEWER,)),
        (STEWARD, pair(False, True), (ConflictVerdict.KEEP_OLDER,)),
        (VIEWER, pair(True, True), ()),
        (AGENT, pair(True, True), ()),
        (STEWARD, pair(False, False, is_open=False), ()),
        (MEMBER, pair(False, True, note=1), (ConflictVerdict.KEEP_OLDER, ConflictVerdict.BOTH)),
        (MEMBER, pair(True, True, note=0), (ConflictVerdict.KEEP_NEWER, ConflictVerdict.BOTH)),
    ],
)
def test_verdicts_are_for_whom_they_are_for(
    decider: Decider, given: ConflictPair, allowed: tuple[ConflictVerdict, ...]
) -> None:
    assert rights(decider=decider, pair=given, settled_it=None).allowed() == allowed


def test_each_verdict_that_may_not_be_given_says_why() -> None:
    found = dict(rights(decider=MEMBER, pair=pair(True, True, note=1), settled_it=None).verdicts)

    assert found == {
        ConflictVerdict.KEEP_OLDER: None,
        ConflictVerdict.KEEP_NEWER: Bar.PERSONAL,
        ConflictVerdict.BOTH: None,
        ConflictVerdict.EDIT: Bar.PERSONAL,
    }


@pytest.mark.parametrize(
    ("decider", "settled_it", "why"),
    [
        (MEMBER, True, None),
        (MEMBER, False, Bar.STEWARD),
        (STEWARD, False, None),
        (STEWARD, None, Bar.OPEN),
        (VIEWER, True, Bar.VIEWER),
        (AGENT, True, Bar.AGENT),
    ],
)
def test_a_settlement_is_taken_back_by_who_made_it_or_a_steward(
    decider: Decider, settled_it: bool | None, why: Bar | None
) -> None:
    assert bar_to_reopen(decider=decider, settled_it=settled_it) is why
