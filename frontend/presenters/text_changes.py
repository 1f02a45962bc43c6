"""What changed between two texts, word by word, for histories and the correction dialog.

Pure. The pieces joined without the removed ones give the new text, without the added ones the old.
"""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

WORD = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST_COMPARED = 4_000  # words of one text; beyond, the whole text counts as replaced


class Change(StrEnum):
    """What happened to a piece of text."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some neighboring words that share a fate."""

    change: Change
    text: str


def words(*, old: str, new: str) -> tuple[Piece, ...]:
    """Compare two texts (Ratcliff and Obershelp 1988, as difflib computes it)."""
    before, after = WORD.findall(old), WORD.findall(new)
    if max(len(before), len(after)) > LONGEST_COMPARED:
        return _pieces((Change.REMOVED, old), (Change.ADDED, new))
    found: list[Piece] = []
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        old_text, new_text = "".join(before[start:end]), "".join(after[new_start:new_end])
        if tag == "equal":
            found.extend(_pieces((Change.SAME, old_text)))
        else:
            found.extend(_pieces((Change.REMOVED, old_text), (Change.ADDED, new_text)))
    return tuple(found)


def _pieces(*pairs: tuple[Change, str]) -> tuple[Piece, ...]:
    return tuple(Piece(change=change, text=text) for change, text in pairs if text)
