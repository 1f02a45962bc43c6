"""The seventeen signals: what each is worth, what it becomes, how many sessions must show it.

One literal table; a test holds it equal to spec 4.2. The three parts of a value are ours: they give
the value that the specification names. The share of false positives is where learning enters: what
people reject of a signal takes the place of the guess, so a weak signal that they keep rejecting
falls under the floor.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.records.factors import checked_share
from memory.taxonomy import MemoryType

DIAGNOSTIC_WEIGHT: Final = 0.5
CROSS_SESSION_WEIGHT: Final = 0.3
TRUE_WEIGHT: Final = 0.2
LEAST_VALUE: Final = 0.4  # under it a signal is dropped
JUDGED_LEAST: Final = 10  # verdicts of people before their share replaces the guess, ours


class SignalKind(StrEnum):
    """What behavior can show."""

    FILE_ACCESS = "file_access"
    CO_ACCESS = "co_access"
    ERROR_RETRY = "error_retry"
    BACKTRACK = "backtrack"
    READ_ABANDON = "read_abandon"
    REPEATED_GREP = "repeated_grep"
    TOOL_SEQUENCE = "tool_sequence"
    TIME_ANOMALY = "time_anomaly"
    SELF_CORRECTION = "self_correction"
    EXTERNAL_REFERENCE = "external_reference"
    GLOB_IGNORED = "glob_ignored"
    IMPORT_CHASE = "import_chase"
    TEST_ORDER = "test_order"
    CONFIG_TOUCHED = "config_touched"
    STEP_OVERRUN = "step_overrun"
    PARALLEL_CONFLICT = "parallel_conflict"
    CONTEXT_SPIKE = "context_spike"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """One signal; `becomes` is empty where it only strengthens another."""

    number: int
    kind: SignalKind
    diagnostic: float
    cross_session: float
    false_positives: float
    becomes: tuple[MemoryType, ...]
    sessions: int


# fmt: off
_TABLE: Final[tuple[tuple[str, float, float, float, str, int], ...]] = (
    ("file_access", 0.70, 0.70, 0.20, "prefetch_pattern", 3),
    ("co_access", 0.90, 0.90, 0.05, "causal_dependency prefetch_pattern", 3),
    ("error_retry", 0.85, 0.85, 0.15, "error_pattern gotcha", 2),
    ("backtrack", 0.70, 0.70, 0.40, "gotcha", 2),
    ("read_abandon", 0.80, 0.80, 0.25, "gotcha", 3),
    ("repeated_grep", 0.75, 0.75, 0.20, "module_insight gotcha", 2),
    ("tool_sequence", 0.75, 0.75, 0.35, "workflow_recipe", 3),
    ("time_anomaly", 0.40, 0.50, 0.35, "", 3),
    ("self_correction", 0.90, 0.90, 0.20, "gotcha module_insight", 1),
    ("external_reference", 0.60, 0.60, 0.35, "module_insight", 3),
    ("glob_ignored", 0.65, 0.65, 0.40, "gotcha", 2),
    ("import_chase", 0.40, 0.60, 0.30, "causal_dependency", 4),
    ("test_order", 0.75, 0.75, 0.30, "task_calibration", 3),
    ("config_touched", 0.65, 0.65, 0.30, "causal_dependency", 2),
    ("step_overrun", 0.70, 0.70, 0.25, "task_calibration", 3),
    ("parallel_conflict", 0.80, 0.80, 0.10, "gotcha", 1),
    ("context_spike", 0.65, 0.65, 0.45, "context_cost", 3),
)
# fmt: on

SIGNALS: Final = tuple(
    SignalRow(
        number=number,
        kind=SignalKind(kind),
        diagnostic=diagnostic,
        cross_session=cross_session,
        false_positives=false_positives,
        becomes=tuple(MemoryType(type) for type in becomes.split()),
        sessions=sessions,
    )
    for number, (kind, diagnostic, cross_session, false_positives, becomes, sessions) in enumerate(
        _TABLE, 1
    )
)
_ROWS: Final = {row.kind: row for row in SIGNALS}


def row(*, kind: SignalKind) -> SignalRow:
    """Return the row of a signal."""
    return _ROWS[kind]


def value(*, kind: SignalKind, rejected: int = 0, judged: int = 0) -> float:
    """Compute V = 0.5·diagnostic + 0.3·cross-session + 0.2·(1 - false positives), 0..1.

    From ten verdicts of people on, false positives are the share they rejected. Raises ValueError
    when more are rejected than were judged.
    """
    entry = _ROWS[kind]
    wrong = entry.false_positives
    if judged >= JUDGED_LEAST:
        wrong = checked_share(name="rejected of judged", value=rejected / judged)
    return (
        DIAGNOSTIC_WEIGHT * entry.diagnostic
        + CROSS_SESSION_WEIGHT * entry.cross_session
        + TRUE_WEIGHT * (1 - wrong)
    )


def is_worth_it(*, value: float) -> bool:
    """Say whether a signal of this value is kept."""
    return value >= LEAST_VALUE
