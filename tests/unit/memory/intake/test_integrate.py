"""ADD, UPDATE, DELETE, NONE as a decision that prefers keeping both."""

from dataclasses import replace
from uuid import UUID

import pytest

from memory.intake import integrate
from memory.intake.integrate import CandidateStatement, Operation, Relation, StoredStatement
from memory.taxonomy import Authority, LinkKind

OLD = StoredStatement(
    id=UUID(int=1),
    content="The API times out after 30 s.",
    authority=Authority.AGENT,
    subjects=frozenset({"api"}),
    cosine=0.9,
)


def _new(content: str, authority: Authority = Authority.AGENT) -> CandidateStatement:
    return CandidateStatement(content=content, authority=authority, subjects=frozenset({"api"}))


@pytest.mark.parametrize(
    ("content", "operation", "link"),
    [
        ("The API times out after 60 s.", Operation.ADD, LinkKind.CONTRADICTS),
        ("The API now times out after 60 s.", Operation.UPDATE, LinkKind.SUPERSEDES),
        ("The API no longer times out after 30 s.", Operation.DELETE, LinkKind.SUPERSEDES),
        ("The API never times out after 30 s.", Operation.ADD, LinkKind.CONTRADICTS),
        ("The API authenticates callers by token.", Operation.ADD, None),
    ],
)
def test_words_decide(content: str, operation: Operation, link: LinkKind | None) -> None:
    decision = integrate.decide(candidate=_new(content), known=(OLD,))

    assert (decision.operation, decision.link) == (operation, link)
    assert decision.is_conflict == (link is LinkKind.CONTRADICTS)


@pytest.mark.parametrize(
    ("relation", "operation", "link"),
    [
        (Relation.NEW, Operation.ADD, None),
        (Relation.SAME, Operation.NONE, None),
        (Relation.UPDATE, Operation.UPDATE, LinkKind.SUPERSEDES),
        (Relation.RETRACT, Operation.DELETE, LinkKind.SUPERSEDES),
        (Relation.CONTRADICT, Operation.ADD, LinkKind.CONTRADICTS),
        (Relation.EXTEND, Operation.ADD, LinkKind.EXTEND),
        (Relation.DERIVE, Operation.ADD, LinkKind.DERIVE),
    ],
)
def test_a_judged_relation_is_followed(
    relation: Relation, operation: Operation, link: LinkKind | None
) -> None:
    candidate = _new("The API times out after 60 s.")

    decision = integrate.decide(candidate=candidate, known=(replace(OLD, judged=relation),))

    assert (decision.operation, decision.link) == (operation, link)
    assert decision.target_id == (None if relation is Relation.NEW else OLD.id)


def test_a_person_replaces_what_an_agent_said() -> None:
    person = _new("The API times out after 60 s.", Authority.HUMAN)

    assert integrate.decide(candidate=person, known=(OLD,)).operation is Operation.UPDATE


@pytest.mark.parametrize(
    "far", [replace(OLD, cosine=0.74), replace(OLD, subjects=frozenset({"billing"}))]
)
def test_a_conflict_needs_a_high_cosine_and_a_shared_subject(far: StoredStatement) -> None:
    candidate = _new("The API times out after 60 s.")

    assert integrate.decide(candidate=candidate, known=(far,)).target_id is None
