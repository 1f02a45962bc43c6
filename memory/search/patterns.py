"""A pattern as people write it for grep, made ready for the database.

Postgres matches without backtracking, unless a pattern refers back to a group: those are refused
here, and so is what would switch its dialect. Word boundaries are written differently there. Like
ripgrep, a pattern in small letters alone matches large ones too.
"""

import re
from dataclasses import dataclass
from typing import Final

from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message
from memory.text.text import check_text

LONGEST: Final = 200  # characters, ours
AROUND: Final = 60  # characters shown at each side of a match, ours
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_BACK: Final = re.compile(r"[1-9]")
_UNSURE: Final = re.compile(r"\(\?[a-z]|\[[:.=]")  # switches of the dialect, named classes
_PIECE: Final = re.compile(
    r"(?P<any>\[\^?\]?(?:\\.|[^\]\\])*\]|\\\w|[.^$+])"  # any of several signs, or a place
    r"|(?P<maybe>[*?]|\{[^}]*\})"  # what stands before may be missing
    r"|(?P<open>\()|(?P<close>\))|(?P<either>\|)|\\?(?P<sign>.)",
    re.DOTALL,
)
_BOUNDARIES: Final = {"b": r"\y", "B": r"\Y"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A regular expression of Postgres, and a text that every match of it holds, empty for none.

    Where case is ignored, that text is in small letters.
    """

    text: str
    literal: str
    ignores_case: bool

    @property
    def flags(self) -> str:
        """The flags: a point matches no line break, and lines have beginnings and ends."""
        return "ni" if self.ignores_case else "n"


def read(*, text: str) -> Pattern:
    """Return a pattern for the database. Raises InvalidInput for one that is not taken."""
    if not 1 <= len(text) <= LONGEST:
        raise refusal(
            why=message(
                "it has {length} characters; 1 to {most} are taken",
                length=len(text),
                most=LONGEST,
            )
        )
    if check_text(text=text):
        raise refusal(why=message("it holds a sign that no text can have"))
    if text.startswith("***"):
        raise refusal(why=message("it begins with ***"))
    if any(_BACK.match(sign) for sign in _ESCAPE.findall(text)):
        raise refusal(why=message("it refers back to a group, which can take forever"))
    plain = _ESCAPE.sub("", text)
    is_small = plain == plain.lower()
    return Pattern(
        text=_ESCAPE.sub(_translated, text), literal=_literal(text), ignores_case=is_small
    )


def refusal(*, why: str) -> InvalidInput:
    """Return the refusal of a pattern."""
    return wrong_field(
        pointer="/query",
        detail=message("This pattern cannot be used: {why}.", why=why),
        hint="Write a regular expression as for grep -E; put a backslash before . * + ? ( ) [ {.",
        code="broken_pattern",
    )


def too_slow() -> InvalidInput:
    """Return the refusal of a pattern whose time was over."""
    return wrong_field(
        pointer="/query",
        detail="This pattern takes too long over so many memories.",
        hint="Narrow it by project, types, files or time, or ask with mode “keyword”.",
        code="slow_pattern",
    )


def excerpt(*, content: str, start: int, end: int) -> str:
    """Return the place of a match with some text around it, on one line."""
    first, last = max(0, start - AROUND), min(len(content), max(end, start) + AROUND)
    shown = " ".join(content[first:last].split())
    return f"{'…' if first else ''}{shown}{'…' if last < len(content) else ''}"


def _literal(text: str) -> str:
    """Return the longest run of signs that every match holds; empty when there is none.

    What stands in groups, or may be missing, is not among them.
    """
    if _UNSURE.search(text):
        return ""
    runs, depth = [""], 0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        depth += {"open": 1, "close": -1}.get(kind or "", 0)
        if kind == "either" and not depth:
            return ""
        runs = _longer(runs, kind, piece["sign"] or "") if not depth else [*runs, ""]
    return max(runs, key=len)


def _longer(runs: list[str], kind: str | None, sign: str) -> list[str]:
    """Add a piece outside of groups; a letter beyond ASCII has forms that bytes do not show."""
    if kind == "maybe":
        return [*runs[:-1], runs[-1][:-1], ""]
    if kind == "sign" and sign.isascii():
        return [*runs[:-1], runs[-1] + sign]
    return [*runs, ""]


def _translated(found: re.Match[str]) -> str:
    return _BOUNDARIES.get(found[1], found[0])
