"""The numbers of a session: what is known is counted, and what nobody told is left out."""

from memory.experiments import figures
from tests.support.stories import Story


def of(story: Story) -> dict[str, int]:
    """Return the figures of a story."""
    return figures.of_session(scratchpad=story.scratchpad())


def test_calls_rereads_and_tokens_are_counted() -> None:
    story = Story().read("a.py").read("a.py").edit("a.py").read("a.py").read("b.py")

    found = of(story)

    assert (found["tools"], found["rereads"], found["tokens"]) == (5, 2, 5_000)


def test_a_session_without_reports_prompts_or_tokens_says_nothing_of_them() -> None:
    found = of(Story().call("Read", {"file_path": "a.py"}, tokens=0))

    assert found == {"tools": 1, "rereads": 0}


def test_nothing_done_has_no_rereads() -> None:
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
