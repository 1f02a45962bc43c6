"""The signals, what each is worth, and that one was seen in a session.

One table (`tables/values.toml`) says what a signal is worth and how many sessions must show it. The
three parts of a value give the value that the product promises for each signal. The share of false
positives is where learning enters: what people reject of a signal takes the place of the guess, so
a weak signal that they keep rejecting falls under the floor.

The shares in the table are defaults. Few signals become memories; the others are counted, since
their words were seldom true or of use: of 126 sightings in foreign sessions 17 % were true as their
text said. What went for that reason: files that were read and left, globs whose files were not
used, sequences of steps, chains of imports, the order of tests, settings changed beside code.

A sighting is that a signal was seen in a session, by what it is recognized, and on what it rests.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar

from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, each_file
from memory.sessions.tools import Act
from memory.text.text import read_tables

DIAGNOSTIC_WEIGHT: Final = 0.5
CROSS_SESSION_WEIGHT: Final = 0.3
TRUE_WEIGHT: Final = 0.2
WITNESSES_LEAST: Final = 2  # agents of one session that are witnesses of each other
LEAST_VALUE: Final = 0.4  # under it a signal is dropped

# Defaults, not measured.
EVIDENCE_MOST: Final = 12  # events a sighting names, the last ones
SIGHTINGS_MOST: Final = 20  # of one signal in one session, the strongest
FILES_MOST: Final = 8  # of one sighting
KEY_MOST: Final = 300  # characters


class SignalKind(StrEnum):
    """What behavior can show."""

    FILE_ACCESS = "file_access"
    CO_ACCESS = "co_access"
    ERROR_RETRY = "error_retry"
    BACKTRACK = "backtrack"
    REPEATED_GREP = "repeated_grep"
    TIME_ANOMALY = "time_anomaly"
    SELF_CORRECTION = "self_correction"
    EXTERNAL_REFERENCE = "external_reference"
    CONFIG_TOUCHED = "config_touched"  # told while a session runs, found at its end no more
    STEP_OVERRUN = "step_overrun"
    PARALLEL_CONFLICT = "parallel_conflict"
    CONTEXT_SPIKE = "context_spike"


_VALUES: Final = read_tables(file=Path(__file__).with_name("tables") / "values.toml")
SIGNALS: Final[Mapping[SignalKind, tuple[float, float, float, int]]] = {
    # diagnostic, cross-session, false positives, sessions that must show it
    SignalKind(name): (diagnostic, across, wrong, sessions)
    for name, (diagnostic, across, wrong, sessions) in _VALUES.items()
}

# only sessions that saw outside content show these: they are counted, and what comes of it waits
FOR_REVIEW: Final = frozenset({SignalKind.EXTERNAL_REFERENCE})


def sessions_needed(*, kind: SignalKind, agents: int) -> int:
    """Return how many sessions must show a signal: one when at least two agents saw it."""
    return 1 if agents >= WITNESSES_LEAST else SIGNALS[kind][3]


def value(*, kind: SignalKind, rejected: float | None = None) -> float:
    """Compute V = 0.5·diagnostic + 0.3·cross-session + 0.2·(1 - false positives), 0..1.

    `rejected` is the share that people rejected of what became of the signal, None where too few
    looked: it takes the place of the guess.
    """
    diagnostic, cross_session, guessed, _ = SIGNALS[kind]
    wrong = guessed if rejected is None else rejected
    return (
        DIAGNOSTIC_WEIGHT * diagnostic
        + CROSS_SESSION_WEIGHT * cross_session
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
    into words. `agents` are those that saw it, and `reason` says why it is tainted if one of them
    was (else empty).
    """

    kind: SignalKind
    key: str
    files: tuple[str, ...]
    evidence: tuple[SignalEvidence, ...]
    times: int = 1
    details: Mapping[str, str] = field(default_factory=dict)
    agents: tuple[str, ...] = ("",)
    reason: str = ""

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


Key = TypeVar("Key")
Part = TypeVar("Part")


def group(found: Iterable[tuple[Key, Iterable[Part]]], /) -> dict[Key, list[Part]]:
    """Return what was found under each key, in its order."""
    by_key: dict[Key, list[Part]] = {}
    for key, parts in found:
        by_key.setdefault(key, []).extend(parts)
    return by_key


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


def touches(*, scratchpad: Scratchpad) -> tuple[Deed, ...]:
    """Return the reads and edits of files of the repository that did not fail, in order."""
    return tuple(
        deed
        for deed in each_file(deeds=scratchpad.deeds.values())
        if deed.act in {Act.READ, Act.EDIT} and not deed.is_error and is_own(path=deed.target)
    )


def main_module(*, scratchpad: Scratchpad) -> str:
    """Return the module that a session edited most, or else touched most; empty for none."""
    weights: dict[str, tuple[int, int]] = {}
    for path, use in scratchpad.files.items():
        if is_own(path=path):
            module = file_paths.module(path=path)
            edits, reads = weights.get(module, (0, 0))
            weights[module] = (edits + use.edits, reads + use.reads)
    return max(sorted(weights), key=lambda module: weights[module], default="")


def is_own_edit(*, deed: Deed) -> bool:
    """Say whether a deed edited a file of the repository."""
    return deed.is_edit and is_own(path=deed.target)


def is_own(*, path: str) -> bool:
    """Say whether a path is one of the repository."""
    return bool(path) and not file_paths.is_outside(path=path)
