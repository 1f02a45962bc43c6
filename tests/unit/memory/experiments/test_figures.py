"""Measures of a session: its figures, and what came of each delivered memory."""

from collections.abc import Mapping
from typing import Any

from memory.experiments import figures
from memory.experiments.figures import DeliveryOutcome
from tests.support.stories import Story

FILE = "src/prices.py"


def of(story: Story) -> dict[str, int]:
    """Return the figures of a story."""
    return figures.session_figures(scratchpad=story.scratchpad())


def test_calls_rereads_and_tokens_are_counted_and_of_what_is_not_told_nothing_is_said() -> None:
    found = of(Story().read("a.py").read("a.py").edit("a.py").read("a.py").read("b.py"))
    bare = of(Story().call("Read", {"file_path": "a.py"}, tokens=0))

    assert (found["tools"], found["rereads"], found["tokens"]) == (5, 2, 5_000)
    assert bare == {"tools": 1, "rereads": 0}
    assert of(Story()) == {"tools": 0}


def test_the_first_report_of_qa_decides_and_without_one_the_end_of_the_work() -> None:
    late = Story().event("qa_report", outcome="failure").event("qa_report", outcome="success")
    good = Story().event("session_complete", outcome="success", steps=1)
    left = Story().event("session_complete", outcome="abandoned", steps=1)

    assert of(late)["qa"] == 0
    assert of(good)["qa"] == 1
    assert "qa" not in of(left)


def test_corrections_by_people_count_and_those_by_the_agent_do_not() -> None:
    story = Story().event("prompt", text="Change the price.")
    story.event("prompt", text="No, that is wrong. Undo that.")
    story.event("reasoning", text="I was wrong about the cache.")

    assert of(story)["corrections"] >= 1
    assert of(Story().event("prompt", text="Go."))["corrections"] == 0


def outcome(
    story: Story, rows: Mapping[int, int] | None = None, after: int = 0, **fields: object
) -> DeliveryOutcome:
    """Say what came of a warning of a file, given before all that was done."""
    scratchpad = story.scratchpad()
    stored = {sequence: sequence for sequence in scratchpad.deeds} if rows is None else rows
    later = figures.deeds_after(scratchpad=scratchpad, row=after, rows=stored)
    known = {"files": frozenset({FILE}), "is_cited": False, "is_wrong": False, **fields}
    return figures.delivery_outcome(later=later, is_whole=True, **known)  # type: ignore[arg-type]


def elsewhere(count: int) -> Story:
    """Return a story that works on other files."""
    story = Story()
    for place in range(count):
        story.read(f"docs/{place}.md")
    return story


CAME: tuple[tuple[Story, dict[str, Any], DeliveryOutcome], ...] = (
    (Story().read(FILE).edit(FILE), {}, DeliveryOutcome.USED),
    (Story().edit(f"shop/{FILE}"), {}, DeliveryOutcome.USED),  # named from elsewhere
    (Story().edit(FILE).read(FILE), {"after": 2}, DeliveryOutcome.UNKNOWN),  # changed before
    (elsewhere(figures.WENT_ON), {}, DeliveryOutcome.IGNORED),
    (Story(), {}, DeliveryOutcome.UNKNOWN),
    (elsewhere(1), {}, DeliveryOutcome.UNKNOWN),
    (Story().read(FILE), {}, DeliveryOutcome.UNKNOWN),
    (elsewhere(9), {"files": frozenset()}, DeliveryOutcome.UNKNOWN),
    (elsewhere(9), {"files": frozenset(), "is_cited": True}, DeliveryOutcome.USED),
    (Story().edit(FILE), {"is_wrong": True, "is_cited": True}, DeliveryOutcome.WRONG),
)


def test_what_came_of_a_memory_follows_from_what_was_done_later() -> None:
    for story, fields, came in CAME:
        assert outcome(story, **fields) is came, fields


def test_what_came_later_is_what_was_stored_later_whatever_its_number() -> None:
    story = Story().edit(FILE).read(FILE)
    edit, read = sorted(story.scratchpad().deeds)

    assert outcome(story, {edit: 60, read: 40}, after=50) is DeliveryOutcome.USED
    assert outcome(story, {edit: 40, read: 60}, after=50) is DeliveryOutcome.UNKNOWN
    assert outcome(story, {}, after=50) is DeliveryOutcome.UNKNOWN


def test_a_citation_is_the_sign_and_the_words() -> None:
    def is_cited(citation: str, text: str, after: int = 0) -> bool:
        return figures.is_cited(citation=citation, texts=((1, text),), after=after)

    text = "Cleared it first. [^ Memory: Prices are cached]"
    assert is_cited("Prices are cached", text)
    assert not is_cited("Prices are cached", text, after=1)
    assert not is_cited("Carts are cached", text)
    assert not is_cited("Prices are cached", "Prices are cached")
    assert not is_cited("", "Memory: ")
