"""The inbox as decisions: what is suggested, who may approve, how long it takes."""

import pytest

from memory.records import verdicts
from memory.records.verdicts import Group, Proposal, Proposer, Waiting, Why
from memory.taxonomy import Scope, Source, Verdict, Verification


def waiting(**given: object) -> Waiting:
    """Return something new that an agent proposed, with some of it otherwise."""
    usual = {
        "group": Group.NEW,
        "verification": Verification.UNVERIFIED,
        "confidence": 0.8,
        "confirmations": 0,
        "nearest": None,
    }
    return Waiting(**{**usual, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "verdict", "why"),
    [
        ({}, Verdict.KEEP, Why.NOVEL),
        ({"nearest": 0.88}, Verdict.KEEP, Why.NOVEL),
        ({"nearest": 0.89}, Verdict.MERGE, Why.ALIKE),
        ({"confirmations": 2, "confidence": 0.3}, Verdict.KEEP, Why.MET_AGAIN),
        ({"confidence": 0.3}, Verdict.REJECT, Why.UNSURE),
        ({"group": Group.TAINTED}, Verdict.REJECT, Why.TAINTED),
        ({"group": Group.STALE, "nearest": 0.99}, Verdict.EDIT, Why.STALE),
        (
            {"group": Group.STALE, "verification": Verification.CONTRADICTED},
            Verdict.REJECT,
            Why.CONTRADICTED,
        ),
    ],
)
def test_a_suggestion_says_why(given: dict[str, object], verdict: Verdict, why: Why) -> None:
    suggested = verdicts.suggest(waiting=waiting(**given))

    assert (suggested.verdict, suggested.why) == (verdict, why)


def test_every_reason_has_a_verdict() -> None:
    assert set(verdicts.VERDICTS) == set(Why)


@pytest.mark.parametrize(
    ("proposer", "scope", "source", "in_person", "may"),
    [
        (Proposer.OWN_AGENT, Scope.PROJECT, Source.AGENT_EXPLICIT, True, True),
        (Proposer.OWN_AGENT, Scope.PROJECT, Source.AGENT_EXPLICIT, False, False),
        (Proposer.SELF, Scope.PROJECT, Source.USER_TAUGHT, True, False),
        (Proposer.SELF, Scope.PERSONAL, Source.USER_TAUGHT, True, True),
        (Proposer.SELF, Scope.PROJECT, Source.IMPORT, True, True),
        (Proposer.SELF, Scope.PERSONAL, Source.USER_TAUGHT, False, False),
        (Proposer.SOMEBODY_ELSE, Scope.PROJECT, Source.USER_TAUGHT, True, True),
        (Proposer.SOMEBODY_ELSE, Scope.PROJECT, Source.AGENT_EXPLICIT, False, True),
    ],
)
def test_who_proposed_does_not_approve(
    proposer: Proposer, scope: Scope, source: Source, in_person: bool, may: bool
) -> None:
    proposal = Proposal(proposer=proposer, scope=scope, source=source, is_tainted=False)

    assert verdicts.may_approve(proposal=proposal, in_person=in_person) is may


@pytest.mark.parametrize(("in_person", "may"), [(True, True), (False, False)])
def test_a_taint_is_lifted_in_person(in_person: bool, may: bool) -> None:
    proposal = Proposal(
        proposer=Proposer.SOMEBODY_ELSE,
        scope=Scope.PROJECT,
        source=Source.EXTRACTED,
        is_tainted=True,
    )

    assert verdicts.may_approve(proposal=proposal, in_person=in_person) is may


@pytest.mark.parametrize(("memories", "minutes"), [(0, 0), (1, 1), (3, 1), (4, 2), (12, 4)])
def test_minutes_are_rounded_up(memories: int, minutes: int) -> None:
    assert verdicts.minutes_left(memories=memories) == minutes
