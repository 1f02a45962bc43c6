"""What came of a memory that was given: what the events tell, and unknown for all else."""

from collections.abc import Mapping
from uuid import UUID

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from memory.experiments import delivery_outcomes
from memory.experiments.delivery_outcomes import Came, Given
from tests.support.stories import Story

ID = UUID(int=1)
FILE = "src/prices.py"


def said(story: Story, **fields: object) -> Came:
    """Say what came of a warning of a file, given at the very beginning."""
    known = {"memory_id": ID, "files": frozenset({FILE}), "after": 0, **fields}
    return came(Given(**known), story)  # type: ignore[arg-type]


def came(given: Given, story: Story, rows: Mapping[int, int] | None = None) -> Came:
    """Say what came of a memory; events were stored in their order unless said otherwise."""
    scratchpad = story.scratchpad()
    stored = {sequence: sequence for sequence in scratchpad.deeds} if rows is None else rows
    return delivery_outcomes.outcome(given=given, scratchpad=scratchpad, rows=stored)


def elsewhere(count: int) -> Story:
    """Return a story that works on other files."""
    story = Story()
    for place in range(count):
        story.read(f"docs/{place}.md")
    return story


def test_a_change_of_its_file_afterwards_is_use() -> None:
    assert said(Story().read(FILE).edit(FILE)) is Came.USED


def test_a_change_before_it_was_told_is_none() -> None:
    assert said(Story().edit(FILE).read(FILE), after=2) is Came.UNKNOWN


def test_what_came_later_is_what_was_stored_later_whatever_its_number() -> None:
    story = Story().edit(FILE).read(FILE)
    deeds = sorted(story.scratchpad().deeds)
    given = Given(memory_id=ID, files=frozenset({FILE}), after=50)

    assert came(given, story, {deeds[0]: 60, deeds[1]: 40}) is Came.USED
    assert came(given, story, {deeds[0]: 40, deeds[1]: 60}) is Came.UNKNOWN
    assert came(given, story, {}) is Came.UNKNOWN


def test_a_file_may_be_named_from_elsewhere() -> None:
    assert said(Story().edit(f"shop/{FILE}")) is Came.USED


def test_work_that_went_on_elsewhere_ignored_it() -> None:
    assert said(elsewhere(delivery_outcomes.WENT_ON)) is Came.IGNORED


@pytest.mark.parametrize("story", [Story(), elsewhere(1), Story().read(FILE)])
def test_too_little_afterwards_is_unknown(story: Story) -> None:
    assert said(story) is Came.UNKNOWN


def test_what_names_no_file_is_unknown_unless_it_is_cited() -> None:
    nothing: frozenset[str] = frozenset()

    assert said(elsewhere(9), files=nothing) is Came.UNKNOWN
    assert said(elsewhere(9), files=nothing, is_cited=True) is Came.USED


def test_what_proved_wrong_is_wrong_whatever_else_happened() -> None:
    assert said(Story().edit(FILE), is_wrong=True, is_cited=True) is Came.WRONG


def test_a_citation_is_the_sign_and_the_words() -> None:
    text = "Cleared it first. [^ Memory: Prices are cached]"

    assert delivery_outcomes.is_cited(citation="Prices are cached", said=(text,))
    assert not delivery_outcomes.is_cited(citation="Carts are cached", said=(text,))
    assert not delivery_outcomes.is_cited(citation="Prices are cached", said=("Prices are cached",))
    assert not delivery_outcomes.is_cited(citation="", said=("Memory: ",))


@examples(
    after=st.integers(0, 20),
    cited=st.booleans(),
    files=st.frozensets(st.sampled_from([FILE, "b", "docs/1.md"])),
)
def test_use_is_never_claimed_without_a_sign(
    after: int, cited: bool, files: frozenset[str]
) -> None:
    came = said(elsewhere(8), after=after, is_cited=cited, files=files)

    assert (came is Came.USED) == cited
