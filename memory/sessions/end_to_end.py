"""What tools that drive the running product showed, sorted without a model.

A result of such a tool is one of five kinds or not worth it; whatever is kept waits for review. The
first kind whose words are found wins.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

TOOLS: Final = frozenset({  # seed 001, and the names that browsers' servers use
    "take_screenshot", "click_by_text", "fill_input", "get_page_structure", "eval",
    "browser_click", "browser_snapshot", "browser_type", "browser_navigate", "click", "fill",
    "navigate_page", "evaluate_script", "wait_for",
})  # fmt: skip
CONFIDENCE: Final = 0.75  # seed 001
LOOKED_AT: Final = 400  # characters of a result, seed 001


class Observation(StrEnum):
    """What a result says of the running product."""

    PRECONDITION = "precondition"
    TIMING = "timing"
    TOOL_GOTCHA = "tool_gotcha"
    TEST_SEQUENCE = "test_sequence"
    UI_BEHAVIOR = "ui_behavior"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A result worth keeping, for review."""

    observation: Observation
    content: str
    attributes: Mapping[str, object]
    confidence: float = CONFIDENCE


_CUES: Final = (
    (
        Observation.PRECONDITION,
        r"\b(?:must|need(?:s|ed)? to|have to|has to|required to|only (?:after|when|if|once))\b"
        r".{0,80}\b(?:log(?:ged)? in|sign(?:ed)? in|first|before|enabled|seeded|running)\b"
        r"|\b(?:not logged in|login required|please sign in|unauthorized)\b",
    ),
    (
        Observation.TIMING,
        r"\b(?:timed? ?out|timeout|takes? \d+|after \d+ ?(?:ms|s|sec|seconds|milliseconds)"
        r"|still loading|spinner|not yet (?:visible|loaded|rendered)|debounced?|race)\b",
    ),
    (
        Observation.TOOL_GOTCHA,
        r"\b(?:element not found|no element|selector|stale element|detached|not clickable"
        r"|multiple elements|intercepts pointer|iframe|shadow root)\b",
    ),
    (
        Observation.TEST_SEQUENCE,
        r"\b(?:step \d+|first .{3,60}\bthen\b|in (?:this|that) order|sequence)\b",
    ),
    (
        Observation.UI_BEHAVIOR,
        r"\b(?:shows?|showed|appears?|appeared|disappears?|disabled|redirects?|redirected|opens?"
        r"|closes?|modal|toast|dialog|validation|error message|stays? (?:open|empty|disabled))\b",
    ),
)
_PATTERNS: Final = tuple((kind, re.compile(cue, re.IGNORECASE | re.DOTALL)) for kind, cue in _CUES)


def sort(*, tool: str, result: str) -> Observed | None:
    """Sort a tool's result; None for another tool, and for what is not worth it."""
    if tool.rpartition("__")[2] not in TOOLS:
        return None
    text = " ".join(result[:LOOKED_AT].split())
    kind = next((kind for kind, pattern in _PATTERNS if pattern.search(text)), None)
    if kind is None:
        return None
    fields: dict[str, object] = {Observation.UI_BEHAVIOR.value: text}
    if kind is Observation.TEST_SEQUENCE:
        fields[kind.value] = (text,)
    elif kind is not Observation.UI_BEHAVIOR:
        fields[kind.value] = text
    return Observed(observation=kind, content=text, attributes=fields)
