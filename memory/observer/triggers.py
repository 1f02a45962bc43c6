"""What is worth proposing before a session ends (early triggers).

Four conditions, each of which fires once for what it is about. They make early candidates for the
scratchpad only; nothing is stored as a memory while the session runs.
"""

from dataclasses import dataclass
from typing import Final

from memory.observer.signal_table import SignalKind
from memory.observer.signals import repeated_grep, self_correction
from memory.sessions import file_paths
from memory.sessions.scratchpad import Scratchpad, edited
from memory.sessions.self_reports import RemarkKind

SELF_CORRECTION: Final = 0.9  # priority
REPEATED_GREP: Final = 0.8  # priority
TWO_ERRORS: Final = 0.75  # priority
CONFIG_TOUCHED: Final = 0.7  # priority
ERRORS_LEAST: Final = 2  # distinct fingerprints
EDITED_LEAST: Final = 2  # files


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """What fired: the signal, how urgent (0..1), and what it is about."""

    kind: SignalKind
    priority: float
    about: str


def fired(*, scratchpad: Scratchpad, already: frozenset[Early]) -> tuple[Early, ...]:
    """Return what fires now and has not before, most urgent first."""
    now = (
        *_corrections(scratchpad),
        *_greps(scratchpad),
        *_errors(scratchpad),
        *_configs(scratchpad),
    )
    fresh = (early for early in dict.fromkeys(now) if early not in already)
    return tuple(sorted(fresh, key=lambda early: (-early.priority, early.about)))


def _corrections(scratchpad: Scratchpad) -> tuple[Early, ...]:
    if not any(remark.kind is RemarkKind.SELF_CORRECTION for remark in scratchpad.remarks):
        return ()
    return tuple(
        Early(kind=SignalKind.SELF_CORRECTION, priority=SELF_CORRECTION, about=each.key)
        for each in self_correction.find(scratchpad=scratchpad)
    )


def _greps(scratchpad: Scratchpad) -> tuple[Early, ...]:
    return tuple(
        Early(kind=SignalKind.REPEATED_GREP, priority=REPEATED_GREP, about=each.key)
        for each in repeated_grep.find(scratchpad=scratchpad)
    )


def _errors(scratchpad: Scratchpad) -> tuple[Early, ...]:
    """Fire at the second distinct error, and for each further one."""
    distinct = tuple(
        dict.fromkeys(deed.fingerprint for deed in scratchpad.deeds.values() if deed.fingerprint)
    )
    return tuple(
        Early(kind=SignalKind.ERROR_RETRY, priority=TWO_ERRORS, about=fingerprint)
        for fingerprint in distinct[ERRORS_LEAST - 1 :]
    )


def _configs(scratchpad: Scratchpad) -> tuple[Early, ...]:
    if len(edited(scratchpad=scratchpad)) < EDITED_LEAST:
        return ()
    return tuple(
        Early(kind=SignalKind.CONFIG_TOUCHED, priority=CONFIG_TOUCHED, about=path)
        for path in sorted(scratchpad.files)
        if file_paths.is_config(path=path)
    )
