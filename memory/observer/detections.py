"""The seventeen signals, what each is worth, and that one was seen in a session.

One literal table says what a signal is worth, what it becomes and how many sessions must show it.
The three parts of a value give the value that the product promises for each signal. The share of
false positives is where learning enters: what people reject of a signal takes the place of the
guess, so a weak signal that they keep rejecting falls under the floor.

A sighting is that a signal was seen in a session, by what it is recognized, and on what it rests.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, ParamSpec, TypeVar

from memory.records.formulas import checked_share
from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, each_file
from memory.sessions.tools import Act
from memory.taxonomy import MemoryType

DIAGNOSTIC_WEIGHT: Final = 0.5
CROSS_SESSION_WEIGHT: Final = 0.3
TRUE_WEIGHT: Final = 0.2
WITNESSES_LEAST: Final = 2  # agents of one session that are witnesses of each other
LEAST_VALUE: Final = 0.4  # under it a signal is dropped
JUDGED_LEAST: Final = (
    10  # verdicts of people before their share replaces the guess; default, not measured
)

# Defaults, not measured.
EVIDENCE_MOST: Final = 12  # events a sighting names, the last ones
SIGHTINGS_MOST: Final = 20  # of one signal in one session, the strongest
FILES_MOST: Final = 8  # of one sighting
KEY_MOST: Final = 300  # characters

Key = TypeVar("Key")
Item = TypeVar("Item")
Given = ParamSpec("Given")


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


def sessions_needed(*, kind: SignalKind, agents: int) -> int:
    """Return how many sessions must show a signal: one when at least two agents saw it."""
    return 1 if agents >= WITNESSES_LEAST else _ROWS[kind].sessions


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalEvidence:
    """One event a sighting rests on, and the place in the code where it names one."""

    sequence: int
    step: int
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One signal seen; `key` is the same when another session shows the same thing.

    `times` is how often the session showed it, `details` are the named values that a template puts
    into words.
    """

    kind: SignalKind
    key: str
    files: tuple[str, ...]
    evidence: tuple[SignalEvidence, ...]
    times: int = 1
    details: Mapping[str, str] = field(default_factory=dict)

    @property
    def last_sequence(self) -> int:
        """The last event it rests on."""
        return max((each.sequence for each in self.evidence), default=0)


def made(
    kind: SignalKind,
    key: str,
    deeds: Iterable[Deed],
    /,
    *,
    files: Iterable[str] = (),
    times: int = 1,
    **details: str,
) -> Sighting:
    """Return a sighting that rests on some deeds, within the bounds of one."""
    return Sighting(
        kind=kind,
        key=key[:KEY_MOST],
        files=tuple(dict.fromkeys(files))[:FILES_MOST],
        evidence=evidence(deeds=deeds),
        times=times,
        details=details,
    )


def evidence(*, deeds: Iterable[Deed]) -> tuple[SignalEvidence, ...]:
    """Return some deeds as evidence, the last ones in their order."""
    told = {(deed.sequence, deed.target): deed for deed in deeds}
    rests = sorted(told.values(), key=lambda one: one.sequence)
    return tuple(
        SignalEvidence(
            sequence=deed.sequence,
            step=deed.step,
            file=deed.target if deed.act in {Act.READ, Act.EDIT} else "",
            line=deed.line,
        )
        for deed in rests[-EVIDENCE_MOST:]
    )


def strongest(find: Callable[Given, Iterable[Sighting]]) -> Callable[Given, tuple[Sighting, ...]]:
    """Let a finder return the sightings shown most often, at most twenty."""

    @functools.wraps(find)
    def find_strongest(*args: Given.args, **kwargs: Given.kwargs) -> tuple[Sighting, ...]:
        ordered = sorted(find(*args, **kwargs), key=lambda one: (-one.times, one.key))
        return tuple(ordered[:SIGHTINGS_MOST])

    return find_strongest


def fullest(
    *, groups: Mapping[Key, list[Item]], most: int = SIGHTINGS_MOST
) -> tuple[tuple[Key, list[Item]], ...]:
    """Return the groups with the most entries, at most twenty, before anything is made of them."""
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), str(group[0])))
    return tuple(ordered[:most])


def touches(*, scratchpad: Scratchpad) -> tuple[Deed, ...]:
    """Return the reads and edits of files of the repository that did not fail, in order."""
    return tuple(
        deed
        for deed in each_file(deeds=scratchpad.deeds.values())
        if deed.act in {Act.READ, Act.EDIT} and not deed.is_error and _is_own(deed.target)
    )


def main_module(*, scratchpad: Scratchpad) -> str:
    """Return the module that a session edited most, or else touched most; empty for none."""
    weights: dict[str, tuple[int, int]] = {}
    for path, use in scratchpad.files.items():
        if _is_own(path):
            module = file_paths.module(path=path)
            edits, reads = weights.get(module, (0, 0))
            weights[module] = (edits + use.edits, reads + use.reads)
    return max(sorted(weights), key=lambda module: weights[module], default="")


def is_own_edit(*, deed: Deed) -> bool:
    """Say whether a deed edited a file of the repository."""
    return deed.act is Act.EDIT and not deed.is_error and _is_own(deed.target)


def _is_own(path: str) -> bool:
    return bool(path) and not file_paths.is_outside(path=path)
