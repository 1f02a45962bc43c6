"""What a methodology remembers of a unit of work that ended: templates, with its figures."""

from dataclasses import replace

import pytest

from memory.observer.actions.unit_completion import completion_texts
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import FileUse, Scratchpad, Setting

UNIT = {"label": "Login form", "methodology": "kanban"}
EDITED = FileUse(reads=1, edits=2, last_sequence=9)


@pytest.fixture
def ended() -> Scratchpad:
    """A session that took twelve steps where ten were planned, and ended well."""
    begun = Scratchpad(setting=Setting(planned_steps=10))
    return replace(begun, steps_done=12, outcome=Outcome.SUCCESS, files={"auth/form.py": EDITED})


def test_the_outcome_and_the_calibration_hold_the_figures(ended: Scratchpad) -> None:
    (_, _, content, attributes), (_, _, _, calibration) = completion_texts(**UNIT, scratchpad=ended)

    told = "Login form ended well: steps 12 of 10 planned, files edited 1, test runs 0, errors 0."
    assert content == told
    assert attributes == {"succeeded": True, "steps": 12}
    assert calibration["ratio"] == 1.2
    assert (calibration["planned"], calibration["actual"]) == (10, 12)
    assert calibration["methodology"] == "kanban"


def test_nothing_is_said_of_work_that_nobody_ended_or_planned(ended: Scratchpad) -> None:
    for outcome in (Outcome.ABANDONED, Outcome.UNKNOWN, None):
        assert list(completion_texts(**UNIT, scratchpad=replace(ended, outcome=outcome))) == []
    assert len(list(completion_texts(**UNIT, scratchpad=replace(ended, setting=Setting())))) == 1


def test_most_of_the_work_was_where_most_was_edited_and_not_in_the_file_edited_most(
    ended: Scratchpad,
) -> None:
    files = {f"cart/{name}.py": EDITED for name in ("add", "drop", "merge")}
    files["auth/form.py"] = replace(EDITED, edits=3)

    *_, (_, _, content, attributes) = completion_texts(
        **UNIT, scratchpad=replace(ended, files=files)
    )

    assert attributes["module"] == "cart"
    assert content.endswith("most of them in cart.")
