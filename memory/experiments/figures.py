"""The few numbers of a session by which groups of sessions are compared.

They are taken from the whole scratchpad at the session's end; whether it entered a dead end that
was known before is put beside them by `memory.experiments.actions.session_metrics`. What nobody
told stays unknown and is left out, so it counts on no side: an agent whose program reports no
tokens has none.
"""

from enum import StrEnum

from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.self_reports import RemarkKind


class Figure(StrEnum):
    """What is counted of a session."""

    TOOLS = "tools"
    REREADS = "rereads"
    QA = "qa"
    CORRECTIONS = "corrections"
    DEAD_ENDS = "dead_ends"
    TOKENS = "tokens"


def of_session(*, scratchpad: Scratchpad) -> dict[str, int]:
    """Return what is known of a session: calls of tools, reads of a file after the first, whether
    the first report of QA was good (0 or 1), corrections by people, tokens.
    """
    found = {
        Figure.TOOLS: _tools(scratchpad),
        Figure.REREADS: _rereads(scratchpad),
        Figure.QA: _qa(scratchpad),
        Figure.CORRECTIONS: _corrections(scratchpad),
        Figure.TOKENS: sum(step.tokens for step in scratchpad.steps.values()) or None,
    }
    return {figure.value: number for figure, number in found.items() if number is not None}


def _tools(scratchpad: Scratchpad) -> int:
    return len(scratchpad.deeds) + scratchpad.dropped


def _rereads(scratchpad: Scratchpad) -> int | None:
    """Return the reads of files that were read before; None where nothing was done."""
    if not _tools(scratchpad):
        return None
    return sum(max(0, use.reads - 1) for use in scratchpad.files.values())


def _qa(scratchpad: Scratchpad) -> int | None:
    """Return whether QA passed at first; without a report, whether the work ended well."""
    first = next((one.outcome for one in scratchpad.reports), scratchpad.outcome)
    return int(first is Outcome.SUCCESS) if first in {Outcome.SUCCESS, Outcome.FAILURE} else None


def _corrections(scratchpad: Scratchpad) -> int | None:
    if not scratchpad.prompts:
        return None
    return sum(one.kind is RemarkKind.USER_CORRECTION for one in scratchpad.remarks)
