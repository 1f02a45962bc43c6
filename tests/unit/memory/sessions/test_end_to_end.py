"""Results of tools that drive the product are sorted, and most are not worth it."""

import pytest

from memory.intake.attributes import check_attributes
from memory.sessions import end_to_end
from memory.sessions.end_to_end import Observation
from memory.taxonomy import MemoryType


@pytest.mark.parametrize(
    ("tool", "result", "observation"),
    [
        ("take_screenshot", "You must be signed in before the cart shows", "precondition"),
        ("mcp__browser__browser_click", "The spinner is still loading", "timing"),
        ("click_by_text", "element not found: Save", "tool_gotcha"),
        ("eval", "First fill the form, then confirm twice", "test_sequence"),
        ("fill_input", "The button stays disabled", "ui_behavior"),
    ],
)
def test_a_result_is_sorted_with_a_payload_that_fits(
    tool: str, result: str, observation: str
) -> None:
    observed = end_to_end.sort(tool=tool, result=result)

    assert observed is not None
    assert observed.observation is Observation(observation)
    assert check_attributes(type=MemoryType.E2E_OBSERVATION, attributes=observed.attributes) == ()


@pytest.mark.parametrize(
    ("tool", "result"),
    [("Read", "The button stays disabled"), ("take_screenshot", "ok"), ("eval", "")],
)
def test_the_rest_is_not_worth_it(tool: str, result: str) -> None:
    assert end_to_end.sort(tool=tool, result=result) is None
