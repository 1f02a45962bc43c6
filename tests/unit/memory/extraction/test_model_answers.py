"""Whatever a model writes, what is taken of it holds, and the rest is counted."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.extraction import model_answers
from memory.sessions.turns import Speaker, Turn

SAID = "We decided to keep invoices for 10 years, never less."
TURNS = (
    Turn(sequence=1, speaker=Speaker.USER, text=SAID),
    Turn(sequence=2, speaker=Speaker.TOOL, text=SAID),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
ENTRIES = st.fixed_dictionaries(
    {
        "turn": st.sampled_from([0, 1, 2, "1", None]) | JSON,
        "text": st.sampled_from([SAID, SAID.replace("10", "3")]) | JSON,
        "type": st.sampled_from(["decision", "episode", "x"]) | JSON,
    },
    optional={
        "importance": JSON,
        "files": JSON,
        "event_time": JSON,
    },
)


@given(st.lists(ENTRIES | JSON, max_size=50))
def test_any_answer_is_read_and_every_candidate_is_accounted_for(entries: list[Any]) -> None:
    candidates, dropped = model_answers.read(data={"memories": entries}, turns=TURNS)

    assert len(candidates) + sum(dropped.values()) == len(entries)
    assert {one.content for one in candidates} <= {SAID}


def test_what_is_beside_a_candidate_is_bounded() -> None:
    entry = {
        "turn": 1, "text": SAID, "type": "decision", "importance": 7,
        "files": ["a.py", "a.py", "", 7, "x" * 300, *(f"{n}.py" for n in range(20))],
        "event_time": "2026-11-02",
    }  # fmt: skip

    (found,), _ = model_answers.read(data={"memories": [entry]}, turns=TURNS)

    assert (found.importance, len(found.files)) == (1.0, model_answers.MOST_FILES)
    assert found.files[0] == "a.py"
    assert found.event_at is not None
    assert found.event_at.tzinfo is not None
