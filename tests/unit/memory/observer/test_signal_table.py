"""The table of signals is as documented, and what people reject lowers a signal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.observer import detections
from memory.observer.detections import SIGNALS, SignalKind

TABLE = (  # number, name, value, becomes, sessions
    (1, "file_access", 0.72, "prefetch_pattern", 3),
    (2, "co_access", 0.91, "causal_dependency prefetch_pattern", 3),
    (3, "error_retry", 0.85, "error_pattern gotcha", 2),
    (4, "backtrack", 0.68, "gotcha", 2),
    (5, "read_abandon", 0.79, "gotcha", 3),
    (6, "repeated_grep", 0.76, "module_insight gotcha", 2),
    (7, "tool_sequence", 0.73, "workflow_recipe", 3),
    (8, "time_anomaly", 0.48, "", 3),
    (9, "self_correction", 0.88, "gotcha module_insight", 1),
    (10, "external_reference", 0.61, "module_insight", 3),
    (11, "glob_ignored", 0.64, "gotcha", 2),
    (12, "import_chase", 0.52, "causal_dependency", 4),
    (13, "test_order", 0.74, "task_calibration", 3),
    (14, "config_touched", 0.66, "causal_dependency", 2),
    (15, "step_overrun", 0.71, "task_calibration", 3),
    (16, "parallel_conflict", 0.82, "gotcha", 1),
    (17, "context_spike", 0.63, "context_cost", 3),
)


def test_a_signal_keeps_its_number_value_types_and_sessions() -> None:
    rows = tuple(
        (
            row.number,
            row.kind.value,
            round(detections.value(kind=row.kind), 4),
            " ".join(type.value for type in row.becomes),
            row.sessions,
        )
        for row in SIGNALS
    )

    assert rows == TABLE


@given(st.sampled_from(list(SignalKind)), st.integers(10, 200), st.data())
def test_more_rejections_never_raise_a_value(
    kind: SignalKind, judged: int, data: st.DataObject
) -> None:
    rejected = data.draw(st.integers(0, judged - 1))

    less = detections.value(kind=kind, rejected=rejected, judged=judged)
    more = detections.value(kind=kind, rejected=rejected + 1, judged=judged)

    assert more < less


def test_a_weak_signal_that_people_keep_rejecting_is_dropped() -> None:
    kept = detections.value(kind=SignalKind.TIME_ANOMALY, rejected=9, judged=9)
    dropped = detections.value(kind=SignalKind.TIME_ANOMALY, rejected=30, judged=30)

    assert kept >= detections.LEAST_VALUE
    assert dropped < detections.LEAST_VALUE


def test_more_rejected_than_judged_is_refused() -> None:
    with pytest.raises(ValueError, match="rejected of judged"):
        detections.value(kind=SignalKind.BACKTRACK, rejected=11, judged=10)
