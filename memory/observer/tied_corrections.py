"""What a person corrects right after a command that the agent ran, tied to that command.

“No, use pnpm” says nothing by itself: what it is about is what the agent did just before. So a
correction is kept with the command, and only where both are about one thing: it shares a telling
word with the command, or says what to use. What stands alone is read from the turns
(`memory.extraction`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory.observer import detections, error_fixes
from memory.records import statement_clauses
from memory.sessions.scratchpad import Deed, Scratchpad, in_order
from memory.sessions.turns import Remark, RemarkKind
from memory.text import passages

CALLS_APART: Final = 3  # at most, from the command to the correction; default, not measured
_OPENING: Final = re.compile(r"\A\W*(?:no|nope|non)\b[\s,.!:\u2014-]*", re.IGNORECASE)
_INSTEAD: Final = re.compile(
    r"\A(?:please |just )?(?:use|run|utilise[rz]?|lance[rz]?) \S", re.IGNORECASE
)
_OF_THE_MOMENT: Final = re.compile(
    r"\?|\b(?:yet|now|not done|still|again|first|this time|encore|maintenant)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TiedCorrection:
    """What a person said, after which command, and the events on which both rest."""

    says: str
    command: str
    evidence: tuple[detections.SignalEvidence, ...]


def find_corrections(*, scratchpad: Scratchpad) -> Iterator[TiedCorrection]:
    """Yield the corrections that are about the command before them, in their order."""
    own = tuple(deed for deed in in_order(scratchpad=scratchpad) if not deed.agent)
    for remark in scratchpad.remarks:
        if remark.kind is RemarkKind.USER_CORRECTION and _OPENING.match(remark.text):
            before = [deed for deed in own if deed.sequence < remark.sequence][-CALLS_APART:]
            yield from _tied(remark, before)


def _tied(remark: Remark, before: list[Deed]) -> Iterator[TiedCorrection]:
    """Yield a correction with the last command that it is about, if there is one."""
    said = _OPENING.sub("", passages.split_sentences(text=remark.text)[0]).strip()
    if _OF_THE_MOMENT.search(said):
        return
    told = [(deed, command) for deed in reversed(before) if (command := _command(deed, said))]
    for deed, command in told[:1]:
        evidence = detections.SignalEvidence(sequence=remark.sequence, step=remark.step)
        yield TiedCorrection(
            says=f"{said[:1].upper()}{said[1:]}".rstrip(".!"),
            command=command,
            evidence=(*detections.evidence(deeds=(deed,)), evidence),
        )


def _command(deed: Deed, said: str) -> str:
    """Return what a call ran, where a correction is about it; else empty."""
    commands = error_fixes.find_commands(deed) if deed.act in error_fixes.COMMANDS else ()
    named = [error_fixes.subject(one) for one in commands]
    about = statement_clauses.stems(text=said)
    met = [one for one in named if about & statement_clauses.stems(text=one.replace("-", " "))]
    return next(iter(met if met or not _INSTEAD.match(said) else named), "")
