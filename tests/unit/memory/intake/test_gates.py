"""Six gates in order; the first that refuses or confirms ends the run."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memory.intake import integrate
from memory.intake.integrate import (
    Gate,
    GateOutcome,
    GateResult,
    Neighborhood,
    StoredStatement,
    Thresholds,
)
from memory.secrets.findings import Finding, SecretKind
from memory.taxonomy import Authority, MemoryType

CONTENT = "The auth service uses JWT tokens with RS256 signing, rotated every 90 days."
CANDIDATE: dict[str, Any] = {"content": CONTENT, "type": MemoryType.FACT, "secrets": ()}
EMPTY = Neighborhood()
SECRET = Finding(kind=SecretKind.PRIVATE_KEY, start=5, end=40)


def _run(neighborhood: Neighborhood = EMPTY, **given: Any) -> GateResult:
    candidate = {**CANDIDATE, **given}
    return integrate.run_gates(**candidate, neighborhood=neighborhood, thresholds=Thresholds())


def _near(cosine: float, *, id: int = 9, content: str = CONTENT) -> StoredStatement:
    return StoredStatement(
        id=UUID(int=id),
        content=content,
        authority=Authority.AGENT,
        subjects=frozenset(),
        cosine=cosine,
    )


def test_the_length_has_two_bounds_and_padding_does_not_count() -> None:
    padded = _run(content="too short" + " " * 40 + "\u200b" * 40)
    found = [_run(content="x" * length).outcome for length in (19, 20, 20_000, 20_001)]

    accepted, refused = GateOutcome.ACCEPTED, GateOutcome.REFUSED
    assert found == [refused, accepted, accepted, refused]
    assert padded.gate is Gate.LENGTH
    assert padded.hint


def test_secrets_are_refused_after_length_and_before_duplicates_without_their_value() -> None:
    crowded = replace(EMPTY, exact_duplicate_id=UUID(int=5))

    short = _run(crowded, content="short", secrets=(SECRET,))
    secret = _run(crowded, secrets=(SECRET,))

    assert short.gate is Gate.LENGTH
    assert (secret.outcome, secret.gate) == (GateOutcome.REFUSED, Gate.SECRETS)
    assert "private_key at line 1, column 6" in secret.reason
    assert CONTENT[5:40] not in secret.reason + secret.hint


def test_the_same_text_confirms_the_known_memory() -> None:
    known = UUID(int=5)

    result = _run(neighborhood=replace(EMPTY, exact_duplicate_id=known))

    assert (result.outcome, result.gate) == (GateOutcome.CONFIRMED, Gate.EXACT_DUPLICATE)
    assert result.confirmed_id == known


def test_a_near_duplicate_is_above_the_threshold_and_says_no_other_number_and_no_negation() -> None:
    def outcome(neighbor: StoredStatement) -> GateOutcome:
        return _run(neighborhood=replace(EMPTY, neighbors=(neighbor,))).outcome

    assert outcome(_near(0.951)) is GateOutcome.CONFIRMED
    assert outcome(_near(0.95)) is GateOutcome.ACCEPTED
    for other in (CONTENT.replace("90", "30"), CONTENT.replace("uses", "never uses")):
        assert outcome(_near(0.99, content=other)) is GateOutcome.ACCEPTED


@given(order=st.permutations([_near(0.96, id=1), _near(0.99, id=3), _near(0.99, id=2)]))
def test_the_closest_neighbor_is_confirmed(order: list[StoredStatement]) -> None:
    result = _run(neighborhood=replace(EMPTY, neighbors=tuple(order)))

    assert result.confirmed_id == UUID(int=2)


def test_of_episodes_only_secrets_are_refused() -> None:
    crowded = replace(EMPTY, exact_duplicate_id=UUID(int=5), neighbors=(_near(1.0),))

    episode = _run(crowded, content="ok", type=MemoryType.EPISODE)
    secret = _run(content="ok", type=MemoryType.EPISODE, secrets=(SECRET,))

    assert (episode.outcome, secret.gate) == (GateOutcome.ACCEPTED, Gate.SECRETS)
