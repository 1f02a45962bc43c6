"""Who may settle a conflict, and who may take that back."""

import pytest

from memory.review.conflict_rules import Bar, Decider, Pair, Verdict, bar_to_reopen, rights

MEMBER = Decider(may_write=True, decides=True, is_steward=False)
STEWARD = Decider(may_write=True, decides=True, is_steward=True)
VIEWER = Decider(may_write=False, decides=True, is_steward=False)
AGENT = Decider(may_write=True, decides=False, is_steward=True)
EVERY = tuple(Verdict)


def pair(
    older: bool, newer: bool, *, note: int | None = None, is_open: bool = True
) -> Pair:  # note: which of the two is personal
    """Return a pair of which the one who asks wrote these."""
    return Pair(
        wrote=(older, newer),
        personal=(note == 0, note == 1),
        is_same_place=note is None,
        is_open=is_open,
    )


@pytest.mark.parametrize(
    ("decider", "given", "allowed"),
    [
        (STEWARD, pair(False, False), EVERY),
        (MEMBER, pair(False, False), ()),
        (MEMBER, pair(True, True), EVERY),
        (MEMBER, pair(True, False), (Verdict.KEEP_NEWER,)),
        (STEWARD, pair(False, True), (Verdict.KEEP_OLDER,)),
        (VIEWER, pair(True, True), ()),
        (AGENT, pair(True, True), ()),
        (STEWARD, pair(False, False, is_open=False), ()),
        (MEMBER, pair(False, True, note=1), (Verdict.KEEP_OLDER, Verdict.BOTH)),
        (MEMBER, pair(True, True, note=0), (Verdict.KEEP_NEWER, Verdict.BOTH)),
    ],
)
def test_verdicts_are_for_whom_they_are_for(
    decider: Decider, given: Pair, allowed: tuple[Verdict, ...]
) -> None:
    assert rights(decider=decider, pair=given, settled_it=None).allowed() == allowed


def test_each_verdict_that_may_not_be_given_says_why() -> None:
    found = dict(rights(decider=MEMBER, pair=pair(True, True, note=1), settled_it=None).verdicts)

    assert found == {
        Verdict.KEEP_OLDER: None,
        Verdict.KEEP_NEWER: Bar.PERSONAL,
        Verdict.BOTH: None,
        Verdict.EDIT: Bar.PERSONAL,
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
