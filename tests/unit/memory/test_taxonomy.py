"""Governance is chosen in the specified order; protection holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import taxonomy
from memory.taxonomy import Governance, MemoryType

TAGS = st.lists(st.sampled_from(sorted(taxonomy.PROTECTED_TAGS | {"auth", "db"}))).map(tuple)


def test_codes_are_the_order_of_the_rows() -> None:
    assert [row.code for row in taxonomy.TYPES] == list(range(1, len(MemoryType) + 1))
    assert [row.type for row in taxonomy.TYPES] == list(MemoryType)


@pytest.mark.parametrize(
    ("type", "tags", "pinned", "layer"),
    [
        (MemoryType.GOTCHA, (), False, 3),
        (MemoryType.GOTCHA, ("auth", "decision"), False, 2),
        (MemoryType.GOTCHA, ("decision", "identity"), False, 1),
        (MemoryType.EPISODE, (), True, 2),
        (MemoryType.IDENTITY, (), True, 1),
        (MemoryType.DECISION, ("person",), False, 2),
        (None, (), False, 3),
        (None, (), True, 2),
    ],
)
def test_governance_is_chosen_by_tags_then_type_then_pin(
    type: MemoryType | None, tags: tuple[str, ...], pinned: bool, layer: int
) -> None:
    assert taxonomy.governance_of(type=type, tags=tags, pinned=pinned) == layer


@given(type=st.sampled_from(MemoryType), tags=TAGS)
def test_a_pin_never_loosens_governance(type: MemoryType, tags: tuple[str, ...]) -> None:
    loose = taxonomy.governance_of(type=type, tags=tags, pinned=False)
    pinned = taxonomy.governance_of(type=type, tags=tags, pinned=True)

    assert pinned <= min(loose, Governance.LEGISLATIVE)


def test_an_agent_forgets_only_in_the_two_lower_layers_and_nothing_protected() -> None:
    for tag in taxonomy.PROTECTED_TAGS:
        assert taxonomy.is_protected(tags=("auth", tag))
        assert not taxonomy.may_be_forgotten_by_agent(governance=Governance.EPHEMERAL, tags=(tag,))
    for layer in Governance:
        allowed = taxonomy.may_be_forgotten_by_agent(governance=layer, tags=("auth",))
        assert allowed == (layer >= Governance.FACTUAL)


def test_protected_memories_have_a_floor_of_at_least_zero_and_others_that_of_their_layer() -> None:
    floors = [
        taxonomy.activation_floor(governance=layer, protected_or_pinned=True)
        for layer in Governance
    ]
    other = taxonomy.activation_floor(governance=Governance.EPHEMERAL, protected_or_pinned=False)

    assert floors == [5.0, 2.0, 0.0, 0.0]
    assert other == -2.0
