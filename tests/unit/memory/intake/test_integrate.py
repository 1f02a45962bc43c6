"""What a candidate does to what is known: a decision that prefers keeping both."""

from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.intake import integrate
from memory.intake.integrate import CandidateStatement, Decision, Relation, StoredStatement
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
    ("content", "link", "reason"),
    [
        ("The API times out after 60 s.", LinkKind.CONTRADICTS, "contradicts"),
        ("The API now times out after 60 s.", LinkKind.SUPERSEDES, "replaces"),
        ("The API no longer times out after 30 s.", LinkKind.SUPERSEDES, "takes back"),
        ("The API never times out after 30 s.", LinkKind.CONTRADICTS, "contradicts"),
        ("The API authenticates callers by token.", None, "Nothing known"),
    ],
)
def test_words_decide(content: str, link: LinkKind | None, reason: str) -> None:
    decision = integrate.decide(candidate=_new(content), known=(OLD,))

    assert (decision.link, reason in decision.reason) == (link, True)
    assert (decision.cause is None) == (link is not LinkKind.CONTRADICTS)


@pytest.mark.parametrize(
    ("relation", "link"),
    [
        (Relation.NEW, None),
        (Relation.SAME, None),
        (Relation.UPDATE, LinkKind.SUPERSEDES),
        (Relation.RETRACT, LinkKind.SUPERSEDES),
        (Relation.CONTRADICT, LinkKind.CONTRADICTS),
        (Relation.EXTEND, LinkKind.EXTEND),
        (Relation.DERIVE, LinkKind.DERIVE),
    ],
)
def test_a_judged_relation_is_followed(relation: Relation, link: LinkKind | None) -> None:
    candidate = _new("The API times out after 60 s.")

    decision = integrate.decide(candidate=candidate, known=(replace(OLD, judged=relation),))

    target = None if relation is Relation.NEW else OLD.id
    assert (decision.link, decision.target_id) == (link, target)


def test_a_person_replaces_what_an_agent_said_where_cosine_and_subject_are_shared() -> None:
    content = "The API times out after 60 s."
    person = _new(content, Authority.HUMAN)

    assert integrate.decide(candidate=person, known=(OLD,)).link is LinkKind.SUPERSEDES
    for far in (replace(OLD, cosine=0.74), replace(OLD, subjects=frozenset({"billing"}))):
        assert integrate.decide(candidate=_new(content), known=(far,)).target_id is None


FILE: Final = Path("tests/support/contradictions.tsv")
SAID: Final = {
    "It replaces what was true.": "update",
    "It takes back what was true.": "retract",
    "It contradicts what is known.": "contradict",
}


class Pair(NamedTuple):
    """Two statements, and what the newer one does to the older one."""

    half: str
    kind: str
    expected: str
    older: str
    newer: str


def _read() -> tuple[Pair, ...]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(Pair(*line.split("\t")) for line in lines if not line.startswith("#"))


PAIRS: Final = _read()


def _known(content: str, number: int = 1, cosine: float = 0.97) -> StoredStatement:
    return replace(OLD, id=UUID(int=number), content=content, cosine=cosine)


def _decision(pair: Pair) -> Decision:
    return integrate.decide(candidate=_new(pair.newer), known=(_known(pair.older),))


def _said(decision: Decision) -> str:
    return SAID.get(decision.reason, "none")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.half}: {pair.older[:40]}")
def test_nothing_that_is_still_true_or_holds_elsewhere_is_replaced_or_contradicted(
    pair: Pair,
) -> None:
    said = _said(_decision(pair))

    allowed = {"none"} if pair.expected == "none" else {"none", "contradict", pair.expected}
    assert said in allowed


@given(order=st.permutations(range(6)), chosen=st.integers(0, len(PAIRS) - 1))
def test_the_order_in_which_neighbors_come_does_not_matter(order: list[int], chosen: int) -> None:
    pair = PAIRS[chosen]
    near = [_known(one.older, number=n, cosine=0.9) for n, one in enumerate(PAIRS[:5], 2)]
    known = (_known(pair.older), *near)

    decisions = {
        integrate.decide(candidate=_new(pair.newer), known=tuple(known[i] for i in order)),
        integrate.decide(candidate=_new(pair.newer), known=known),
    }

    assert len(decisions) == 1


@given(chosen=st.integers(0, len(PAIRS) - 1), authority=st.sampled_from(Authority))
def test_nobody_below_replaces_what_somebody_above_said(chosen: int, authority: Authority) -> None:
    pair = PAIRS[chosen]
    taught = replace(_known(pair.older), authority=Authority.HUMAN)
    candidate = replace(_new(pair.newer), authority=authority)

    decision = integrate.decide(candidate=candidate, known=(taught,))

    assert authority is Authority.HUMAN or decision.link is not LinkKind.SUPERSEDES
