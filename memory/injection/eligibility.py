"""Whether a memory may be given unasked, and why not: decided here alone.

What a person taught, confirmed or verified is given until it is contradicted, stale, archived or
taken back. What was inferred has to be as sure as its reader trusts memory. Age puts memories in
their order and sends them to verification, and hides nothing within its first half-life: with the
decay inside of the threshold, a memory taught by a person was gone after thirteen hours.

What waits for review reaches nobody but its own author, and of it only what needs no belief: an
error with the fix that a session showed, and a rule that the author stated in so many words. It is
marked as unreviewed. Nothing of that is given from a session that read external content, nor what
an alarm holds.
"""

from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.experiments.points import OF_A_FILE
from memory.intake import echoes_and_alarms
from memory.records import formulas
from memory.records.queries.views import MemoryView
from memory.taxonomy import (
    FIX,
    LEARNED,
    PERSON,
    STATED_BY,
    MemoryType,
    Source,
    Status,
    Verification,
)
from teams import trust

RULES: Final = frozenset(
    {MemoryType.REQUIREMENT, MemoryType.PREFERENCE, MemoryType.DECISION, MemoryType.CORRECTION}
)
ERRORS: Final = frozenset({MemoryType.ERROR_PATTERN, MemoryType.FIX})
_DOUBTED: Final = frozenset({Verification.STALE, Verification.CONTRADICTED})
WARNING_CONFIDENCE: Final = 0.65  # from which a touched file is warned of
_HALF: Final = 2.0  # retention at the first half-life, upside down


class Bar(StrEnum):
    """Why a memory is not given unasked."""

    INACTIVE = "inactive"
    TAINTED = "tainted"
    OTHER_PROJECT = "other_project"
    IN_REVIEW = "in_review"
    ALARM = "alarm"
    DOUBTED = "doubted"
    UNSURE = "unsure"
    UNSURE_AT_FILES = "unsure_at_files"  # given for a task, and not as a warning of its files


def bar_of(
    *, view: MemoryView, reader: UUID | None, project_id: UUID | None, least: float
) -> Bar | None:
    """Return why a memory is not given to a reader's agent in a project; None where it may be.

    `least` is the least confidence of what was inferred, 0..1. A burst is not seen in one memory:
    who gives out what waits for review asks the alarms as well.
    """
    if view.status != Status.ACTIVE:
        return Bar.INACTIVE
    if view.taint_reason:
        return Bar.TAINTED
    if view.project_id not in {None, project_id}:
        return Bar.OTHER_PROJECT
    if view.needs_review:
        return _bar_of_unreviewed(view, reader)
    if is_vouched(view=view) or trust.is_sure(confidence=confidence(view=view), least=least):
        return None
    return Bar.DOUBTED if _is_doubted(view) else Bar.UNSURE


def bar_at_any_point(
    *, view: MemoryView, reader: UUID | None, project_id: UUID | None, least: float
) -> Bar | None:
    """Return why a memory is not given at some point; None where it is given at each.

    As a warning of a file that was just touched it must be surer than for a task.
    """
    bar = bar_of(view=view, reader=reader, project_id=project_id, least=least)
    if bar is not None or not view.related_files or view.type not in OF_A_FILE:
        return bar
    at_files = max(least, WARNING_CONFIDENCE)
    is_barred = bar_of(view=view, reader=reader, project_id=project_id, least=at_files) is not None
    return Bar.UNSURE_AT_FILES if is_barred else None


def confidence(*, view: MemoryView) -> float:
    """Compute min(c · f, 2 · c · f · r): how sure a memory is, not counting its first half-life.

    c is the stored confidence, f the factor of its verification, r its retention by now, 0..1.
    """
    factor = formulas.VERIFICATION_FACTORS[Verification(view.verification)]
    return min(view.confidence * factor, _HALF * view.effective_confidence)


def floor_of(*, view: MemoryView, least: float) -> float | None:
    """Return the effective confidence below which age alone would hide a memory; None for never.

    Half of what is asked for, since the first half-life hides nothing.
    """
    return None if view.needs_review or is_vouched(view=view) else least / _HALF


def is_vouched(*, view: MemoryView) -> bool:
    """Say whether a person taught, confirmed or verified a memory, and nothing denies it since."""
    is_taught = view.source == Source.USER_TAUGHT and not view.author_agent
    is_verified = view.user_verified or view.verification == Verification.VERIFIED
    return (is_taught or is_verified) and not _is_doubted(view)


def _is_doubted(view: MemoryView) -> bool:
    return view.verification in _DOUBTED or view.stale_at is not None


def _bar_of_unreviewed(view: MemoryView, reader: UUID | None) -> Bar | None:
    """Return why what waits for review is not given to its author; nobody else is given it.

    The words of an error come from a tool, so that any alarm is one too many; a rule of a person
    may well be an order.
    """
    is_own = reader is not None and view.author_user == reader
    is_stated = is_stated_rule(view=view)
    if not is_own or _is_doubted(view) or not (is_stated or is_seen_fix(view=view)):
        return Bar.IN_REVIEW
    alarms = len(echoes_and_alarms.of_content(content=view.content))
    most = echoes_and_alarms.HELD_FROM if is_stated else 1
    return Bar.ALARM if alarms >= most else None


def is_seen_fix(*, view: MemoryView) -> bool:
    """Say whether a session showed what a memory says: an error and its fix, or by its events."""
    is_pair = view.type in ERRORS and view.source in LEARNED and bool(view.attributes.get(FIX))
    return is_pair or view.verification == Verification.EVIDENCED


def is_stated_rule(*, view: MemoryView) -> bool:
    """Say whether a memory is a rule that a person stated in a session."""
    is_stated = view.attributes.get(STATED_BY) == PERSON
    return view.type in RULES and view.source in LEARNED and is_stated
