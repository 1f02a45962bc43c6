"""The panel of intake gates tells every way in which a candidate ends."""

from frontend.presenters import gate_settings
from memory.intake.queries import OUTCOMES


def test_every_outcome_can_be_asked_for_and_has_a_name() -> None:
    named = {outcome for outcome, _gate, _name, _meaning in gate_settings.ENDS}

    assert named == set(OUTCOMES)
    assert "known" in OUTCOMES
