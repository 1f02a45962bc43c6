"""ADD, UPDATE, DELETE, NONE as a decision that prefers keeping both."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.intake import integrate
from memory.intake.integrate import Known, Operation, Relation, Statement
from memory.taxonomy import Authority, LinkKind

OLD = Known(
    id=UUID(int=1),
    content="The API times out after 30 s.",
    authority=Authority.AGENT,
    subjects=frozenset({"api"}),
    cosine=0.9,
)


def _new(content: str, authority: Authority = Authority.AGENT) -> Statement:
    return Statement(content=content, authority=authority, subjects=frozenset({"api"}))


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
def test_without_a_model_words_decide(
    content: str, operation: Operation, link: LinkKind | None
) -> None:
    decision = integrate.decide(candidate=_new(content), known=(OLD,))

    assert (decision.operation, decision.link) == (operation, link)
    assert decision.is_conflict == (link is LinkKind.CONTRADICTS)


@pytest.mark.parametrize(
    ("relation", "operation", "link"),
    [
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
    decision = integrate.decide(candidate=_new("Anything."), known=(replace(OLD, judged=relation),))

    assert (decision.operation, decision.link, decision.target_id) == (operation, link, OLD.id)


def test_a_judgment_of_something_new_adds_without_an_edge() -> None:
    known = (replace(OLD, judged=Relation.NEW),)

    decision = integrate.decide(candidate=_new("The API times out after 60 s."), known=known)

    assert (decision.operation, decision.target_id) == (Operation.ADD, None)


def test_a_person_replaces_what_an_agent_said() -> None:
    person = _new("The API times out after 60 s.", Authority.HUMAN)

    assert integrate.decide(candidate=person, known=(OLD,)).operation is Operation.UPDATE


@pytest.mark.parametrize("relation", [Relation.UPDATE, Relation.RETRACT])
def test_an_agent_never_replaces_what_a_person_said(relation: Relation) -> None:
    taught = replace(OLD, authority=Authority.HUMAN, judged=relation)

    decision = integrate.decide(candidate=_new("The API now waits 60 s."), known=(taught,))

    assert (decision.operation, decision.is_conflict) == (Operation.ADD, True)


@pytest.mark.parametrize(
    "far", [replace(OLD, cosine=0.74), replace(OLD, subjects=frozenset({"billing"}))]
)
def test_a_conflict_needs_a_high_cosine_and_a_shared_subject(far: Known) -> None:
    candidate = _new("The API times out after 60 s.")

    assert integrate.decide(candidate=candidate, known=(far,)).target_id is None


@given(order=st.permutations([replace(OLD, id=UUID(int=n), cosine=0.9) for n in (3, 1, 2)]))
def test_the_order_of_what_is_known_does_not_matter(order: list[Known]) -> None:
    candidate = _new("The API times out after 60 s.")

    assert integrate.decide(candidate=candidate, known=tuple(order)).target_id == UUID(int=1)


@pytest.mark.parametrize(("cosine", "novel"), [(0.0, True), (0.88, True), (0.89, False)])
def test_novelty_of_promoted_candidates(cosine: float, novel: bool) -> None:
    bound = integrate.NOVELTY_COSINE

    assert integrate.is_novel(cosine=cosine, novelty_cosine=bound) == novel
