"""Types of a methodology's own: what is one, and the tag that marks its memories."""

import pytest

from accounts.errors import InvalidInput
from memory.customization import custom_type_rules
from memory.customization.custom_type_rules import OwnType
from memory.taxonomy import MemoryType

STORY = OwnType(name="user-story", base=MemoryType.REQUIREMENT, says="What a user needs.")


def test_a_mark_is_read_back_and_shown_to_nobody() -> None:
    tags = custom_type_rules.marked(tags=("cart", "own_type:epic"), name="user-story")

    assert custom_type_rules.named(tags=tags) == "user-story"
    assert custom_type_rules.plain(tags=tags) == ("cart",)
    assert custom_type_rules.marked(tags=tags, name="") == ("cart",)


def test_of_many_marks_the_first_is_kept_beside_a_bound_of_other_tags() -> None:
    tags = (*(f"own_type:t{number}" for number in range(90)), "cart", "till")

    assert custom_type_rules.once(tags=tags) == ("cart", "till", "own_type:t0")
    assert custom_type_rules.once(tags=tags, most=1) == ("cart", "own_type:t0")
    assert custom_type_rules.once(tags=("cart",), most=1) == ("cart",)


def test_other_tags_mark_nothing_and_what_could_be_a_name_is_none_of_ours() -> None:
    for tag in ("own_type:fact", "own_type:", "own_type:Two Words", "own_type", "type:story"):
        assert custom_type_rules.named(tags=(tag,)) == ""
        assert custom_type_rules.plain(tags=(tag,)) == (tag,)
    assert custom_type_rules.is_own(name="user-story")
    assert not any(custom_type_rules.is_own(name=name) for name in ("fact", "A"))


@pytest.mark.parametrize(
    ("types", "pointer"),
    [
        ((STORY, STORY), "/types/1/name"),
        ((OwnType(name="fact", base=MemoryType.FACT, says="Ours."),), "/types/0/name"),
        ((OwnType(name="Story!", base=MemoryType.FACT, says="No name."),), "/types/0/name"),
        ((OwnType(name="x" * 41, base=MemoryType.FACT, says="Too long."),), "/types/0/name"),
        ((OwnType(name="turn", base=MemoryType.EPISODE, says="A turn."),), "/types/0/base"),
        ((OwnType(name="story", base=MemoryType.FACT, says=" "),), "/types/0/says"),
        ((OwnType(name="story", base=MemoryType.FACT, says="x" * 201),), "/types/0/says"),
        ((OwnType(name="story", base=MemoryType.FACT, says="a\x00b"),), "/types/0/says"),
        (
            tuple(OwnType(name=f"t{n}", base=MemoryType.FACT, says="One.") for n in range(13)),
            "/types",
        ),
    ],
)
def test_what_is_no_type_is_refused(types: tuple[OwnType, ...], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        custom_type_rules.checked(types=types)

    assert refused.value.errors[0].pointer == pointer
