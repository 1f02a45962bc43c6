"""What a methodology remembers of a unit of work that ended: templates, with its figures."""

from dataclasses import replace

import pytest

from memory.customization.phases import OnComplete
from memory.observer.unit_completion_rules import drafts
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import FileUse, Scratchpad, Setting, Taint

BOTH = tuple(OnComplete)
UNIT = {"label": "Login form", "methodology": "kanban"}
EDITED = FileUse(reads=1, edits=2, first_step=1, last_step=6, last_sequence=9)


@pytest.fixture
def ended() -> Scratchpad:
    """A session that took twelve steps where ten were planned, and ended well."""
    begun = Scratchpad(setting=Setting(planned_steps=10))
    return replace(begun, steps_done=12, outcome=Outcome.SUCCESS, files={"auth/form.py": EDITED})


def test_the_outcome_and_the_calibration_hold_the_figures(ended: Scratchpad) -> None:
    outcome, calibration = drafts(acts=BOTH, **UNIT, scratchpad=ended)

    assert outcome.content == (
        "Login form ended well: steps 12 of 10 planned, files edited 1, test runs 0, errors 0."
    )
    assert outcome.attributes == {"succeeded": True, "steps": 12}
    assert calibration.attributes["ratio"] == 1.2
    assert (calibration.attributes["planned"], calibration.attributes["actual"]) == (10, 12)
    assert calibration.attributes["methodology"] == "kanban"


def test_nothing_is_said_of_work_that_nobody_ended_named_or_planned(ended: Scratchpad) -> None:
    for outcome in (Outcome.ABANDONED, Outcome.UNKNOWN, None):
        going = replace(ended, outcome=outcome)
        assert drafts(acts=BOTH, **UNIT, scratchpad=going) == ()
    unplanned = replace(ended, setting=Setting())

    assert drafts(acts=BOTH, **{**UNIT, "label": ""}, scratchpad=ended) == ()
    assert drafts(acts=(), **UNIT, scratchpad=ended) == ()
    assert drafts(acts=(OnComplete.CALIBRATE,), **UNIT, scratchpad=unplanned) == ()


def test_what_came_after_outside_content_is_tainted(ended: Scratchpad) -> None:
    tainted = replace(ended, taint=Taint(sequence=3, step=1, reason="web_fetch"))

    (found,) = drafts(acts=(OnComplete.RECORD_OUTCOME,), **UNIT, scratchpad=tainted)

    assert found.reason == "web_fetch"


def test_most_of_the_work_was_where_most_was_edited_and_not_in_the_file_edited_most(
    ended: Scratchpad,
) -> None:
    files = {f"cart/{name}.py": EDITED for name in ("add", "drop", "merge")}
    files["auth/form.py"] = replace(EDITED, edits=3)

    (found,) = drafts(acts=(OnComplete.CALIBRATE,), **UNIT, scratchpad=replace(ended, files=files))

    assert found.attributes["module"] == "cart"
    assert found.content.endswith("most of them in cart.")
