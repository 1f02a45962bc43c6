"""Measures of an ended session: its figures, and what came of each delivered memory.

Figures are taken from the whole scratchpad at the session's end. What nobody reported stays unknown
and is left out, so it counts on no side: an agent whose program reports no tokens has none.

Nobody is asked what came of a memory, so most is unknown. A memory was wrong when it was corrected,
replaced or rejected while the session ran; it was used when the agent cited it, or when a file that
it names was changed afterwards; it was ignored when the work went on and touched none of its files
again. One that names no file and is not cited may have helped or not.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.search.packing import citation_mark
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act
from memory.sessions.turns import RemarkKind

WENT_ON: Final = 5  # deeds after which work has gone on without a memory; default, not measured
QA: Final[Mapping[Outcome | None, int]] = {Outcome.SUCCESS: 1, Outcome.FAILURE: 0}


class Figure(StrEnum):
    """What is counted of a session."""

    TOOLS = "tools"
    REREADS = "rereads"
    QA = "qa"
    CORRECTIONS = "corrections"
    DEAD_ENDS = "dead_ends"
    TOKENS = "tokens"


def session_figures(*, scratchpad: Scratchpad) -> dict[str, int]:
    """Return what is known of a session.

    Calls of tools, reads of a file after the first, whether the first report of QA was good (0 or
    1; without a report, whether the work ended well), corrections by people, tokens.
    """
    calls = len(scratchpad.deeds) + scratchpad.dropped
    first = next((one.outcome for one in scratchpad.reports), scratchpad.outcome)
    corrections = sum(one.kind is RemarkKind.USER_CORRECTION for one in scratchpad.remarks)
    rereads = sum(max(0, use.reads - 1) for use in scratchpad.files.values())
    found = {
        Figure.TOOLS: calls,
        Figure.REREADS: rereads if calls else None,
        Figure.QA: QA.get(first),
        Figure.CORRECTIONS: corrections if scratchpad.prompts else None,
        Figure.TOKENS: sum(scratchpad.steps.values()) or None,
    }
    return {figure.value: number for figure, number in found.items() if number is not None}


class DeliveryOutcome(StrEnum):
    """What came of a delivered memory."""

    USED = "used"
    IGNORED = "ignored"
    WRONG = "wrong"
    UNKNOWN = "unknown"


def delivery_outcome(
    *, files: frozenset[str], later: Sequence[Deed], is_cited: bool, is_wrong: bool, is_whole: bool
) -> DeliveryOutcome:
    """Return what came of a memory that names `files`, of the deeds that were `later`.

    `is_whole` says that no deed of the session was dropped.
    """
    acts = {deed.act for deed in later if _is_about(deed, files)}
    if is_wrong:
        return DeliveryOutcome.WRONG
    if is_cited or Act.EDIT in acts:
        return DeliveryOutcome.USED
    has_gone_on = files and not acts and is_whole and len(later) >= WENT_ON
    return DeliveryOutcome.IGNORED if has_gone_on else DeliveryOutcome.UNKNOWN


def deeds_after(*, scratchpad: Scratchpad, row: int, rows: Mapping[int, int]) -> tuple[Deed, ...]:
    """Return the deeds that were stored behind the row of an id.

    `rows` has by the sequences of events the ids of their rows.
    """
    deeds = scratchpad.deeds.values()
    return tuple(deed for deed in deeds if rows.get(deed.sequence, 0) > row)


def is_cited(*, memory_id: UUID, texts: Iterable[tuple[int, str]], after: int) -> bool:
    """Say whether the agent cites a memory as it was asked to, in a text of a row behind this."""
    mark = citation_mark(id=memory_id)
    return any(mark in text for row, text in texts if row > after)


def _is_about(deed: Deed, files: frozenset[str]) -> bool:
    """Say whether a deed touched one of some files, which may be named from elsewhere."""
    return deed.act in {Act.READ, Act.EDIT} and any(
        deed.target == path or deed.target.endswith(f"/{path}") for path in files
    )
