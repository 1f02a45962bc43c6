"""The inbox as decisions: what is suggested, who may approve, how long it takes."""

from dataclasses import replace
from uuid import UUID

import pytest

from accounts.caller import Caller, Role, TokenScope
from memory.records.models import Memory
from memory.records.queries import pending
from memory.records.queries.pending import Group, Why
from memory.taxonomy import Verdict

ME, OTHER = UUID(int=1), UUID(int=2)
PERSON = Caller(
    user_id=ME,
    organization_id=UUID(int=9),
    organization_slug="acme",
    schema_name="acme",
    role=Role.MEMBER,
    scopes=frozenset(TokenScope),
    bound_projects=None,
    source_interface="web",
)
TOKEN = replace(PERSON, token_id=UUID(int=8), agent="claude-code")


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

    assert pending.may_approve(caller=PERSON, row=row) is in_person
    assert pending.may_approve(caller=TOKEN, row=row) is by_token
    assert pending.may_approve(caller=PERSON, row=tainted) is in_person
    assert not pending.may_approve(caller=TOKEN, row=tainted)


def test_minutes_are_rounded_up() -> None:
    assert [pending.minutes_left(memories=n) for n in (0, 1, 3, 4, 12)] == [0, 1, 1, 2, 4]
