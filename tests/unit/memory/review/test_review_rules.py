"""The inbox, conflicts and rollbacks as decisions: what is suggested, who may."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.caller import Caller, Role, TokenScope
from memory.records.formulas import total
from memory.records.models import Conflict, Memory
from memory.records.queries import pending
from memory.records.queries.pending import Group, Why
from memory.review.queries.conflicts import REOPEN, Bar, ConflictVerdict, bars_of
from memory.review.queries.overview import Health, health
from memory.review.queries.rollback_plan import LeftReason, VersionChange, find_end
from memory.taxonomy import Verdict

ME, OTHER = UUID(int=1), UUID(int=2)
MEMBER = Caller(
    user_id=ME, organization_id=UUID(int=9), organization_slug="acme", schema_name="acme",
    role=Role.MEMBER, scopes=frozenset(TokenScope), bound_projects=None, source_interface="web",
)  # fmt: skip
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
def test_verdicts_are_for_some(found: dict[str, Bar], allowed: tuple[ConflictVerdict, ...]) -> None:
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
def test_maker_or_steward_takes_back(decider: Caller, settled_it: bool | None, why: Bar) -> None:
    assert bars(decider, settled_it=settled_it)[REOPEN] is why


LENT = frozenset({TokenScope.READ, TokenScope.WRITE})
TOKEN = replace(MEMBER, token_id=UUID(int=8), agent="claude-code", scopes=LENT)


@pytest.mark.parametrize(
    ("given", "group", "confidence", "nearest", "verdict", "why"),
    [
        ({}, Group.NEW, 0.8, None, Verdict.KEEP, Why.NOVEL),
        ({}, Group.NEW, 0.8, 0.88, Verdict.KEEP, Why.NOVEL),
        ({}, Group.NEW, 0.8, 0.89, Verdict.MERGE, Why.ALIKE),
        ({"confirmations": 2}, Group.NEW, 0.3, None, Verdict.KEEP, Why.MET_AGAIN),
        ({}, Group.NEW, 0.3, None, Verdict.REJECT, Why.UNSURE),
        ({}, Group.TAINTED, 0.8, None, Verdict.REJECT, Why.TAINTED),
        ({}, Group.STALE, 0.8, 0.99, Verdict.EDIT, Why.STALE),
        (
            {"verification": "contradicted"}, Group.STALE, 0.8, None, Verdict.REJECT,
            Why.CONTRADICTED,
        ),
    ],
)  # fmt: skip
def test_a_suggestion_says_why(
    given: dict[str, object], group: Group, confidence: float, nearest: float | None,
    verdict: Verdict, why: Why,
) -> None:  # fmt: skip
    row = Memory(**given)

    found = pending.suggest(row=row, group=group, confidence=confidence, nearest=nearest)

    assert (found.verdict, found.why) == (verdict, why)


@pytest.mark.parametrize(
    ("author", "agent", "scope", "source", "in_person", "by_token"),
    [
        (ME, "claude-code", "project", "agent_explicit", True, False),
        (ME, "", "project", "user_taught", False, False),
        (ME, "", "personal", "user_taught", True, False),
        (ME, "", "project", "import", True, False),
        (OTHER, "", "project", "user_taught", True, True),
        (OTHER, "codex", "project", "agent_explicit", True, True),
    ],
)
def test_who_proposed_does_not_approve_and_a_taint_is_lifted_in_person(
    author: UUID, agent: str, scope: str, source: str, in_person: bool, by_token: bool
) -> None:
    row = Memory(author_user=author, author_agent=agent, scope=scope, source=source)
    tainted = Memory(
        author_user=author, author_agent=agent, scope=scope, source=source, taint_reason="web"
    )

    assert pending.may_approve(caller=MEMBER, row=row) is in_person
    assert pending.may_approve(caller=TOKEN, row=row) is by_token
    assert pending.may_approve(caller=MEMBER, row=tainted) is in_person
    assert not pending.may_approve(caller=TOKEN, row=tainted)


def test_minutes_are_rounded_up() -> None:
    assert [pending.minutes_left(memories=n) for n in (0, 1, 3, 4, 12)] == [0, 1, 1, 2, 4]


START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
THEY, OTHERS = uuid4(), uuid4()


def change(number: int, by: UUID = THEY) -> VersionChange:
    """A change an hour after the one before; of those rolled back where they made it."""
    return number, by, at(number), by == THEY


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


@pytest.mark.parametrize(
    ("makers", "judged", "end"),
    [
        ((), None, LeftReason.CHANGED), ((THEY, THEY), None, 1),
        ((THEY, OTHERS), None, LeftReason.CHANGED), ((OTHERS, THEY, THEY), None, 2),
        ((THEY, THEY), 0.5, 1), ((THEY, THEY), 1.5, 2), ((THEY, THEY), 2.5, LeftReason.KEPT),
        ((OTHERS, THEY, THEY), 1.5, 2), ((OTHERS, THEY, THEY), 2.5, 3),
    ],
)  # fmt: skip
def test_goes_back_down_to_what_others_wrote_or_found_right(
    makers: tuple[UUID, ...], judged: float | None, end: int | LeftReason
) -> None:
    changes = tuple(change(number, by) for number, by in enumerate(makers, start=1))
    judgments = () if judged is None else ((OTHERS, at(judged)),)

    assert find_end(changes=changes[::-1], judgments=judgments) == end


def test_who_made_a_change_does_not_find_it_right() -> None:
    own = (THEY, at(5))

    assert find_end(changes=(change(1), change(2)), judgments=(own,)) == 1


PERFECT = {"memories": 100, "verified": 100, "stale": 0, "awaiting_review": 0, "corrected": 0}
COUNTS = st.integers(0, 100)


def _health(**given: int) -> Health:
    result = health(**{**PERFECT, **given})
    assert result is not None
    return result


def test_a_project_without_memories_has_no_score_and_no_part_is_larger_than_its_whole() -> None:
    assert health(**{**PERFECT, "memories": 0, "verified": 0}) is None
    with pytest.raises(ValueError, match="stale"):
        _health(stale=101)


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        ({}, 0),
        ({"verified": 0}, 20),
        ({"stale": 50}, 10),
        ({"awaiting_review": 10}, 7.5),
        ({"awaiting_review": 80}, 15),
        ({"corrected": 5}, 5),
    ],
)
def test_each_fault_costs_its_share_of_its_part(given: dict[str, int], lost: float) -> None:
    assert _health(**given).value == pytest.approx(100 - lost * 100 / 65)


@given(verified=COUNTS, stale=COUNTS, review=COUNTS, corrected=COUNTS)
def test_parts_sum_to_a_score(verified: int, stale: int, review: int, corrected: int) -> None:
    result = _health(verified=verified, stale=stale, awaiting_review=review, corrected=corrected)

    assert -1e-9 <= result.value <= 100 + 1e-9
    assert result.value == total(factors=result.parts)
    assert total(factors=result.attainable) == pytest.approx(100)
