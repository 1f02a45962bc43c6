"""What an agent says of its own work, and people of it: corrections and dead ends.

A sentence is looked at, not a text, and each expression is bounded, so a scan stays linear; what
follows it mostly says what is true instead, and is kept with it. “Wait”
and “actually” alone are no correction: agents say them while they think.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.text import text as texts

SENTENCE_MOST: Final = 300  # characters of a sentence kept; default, not measured


class RemarkKind(StrEnum):
    """What a sentence tells."""

    SELF_CORRECTION = "self_correction"
    DEAD_END = "dead_end"
    USER_CORRECTION = "user_correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A sentence that tells something, and where it was said."""

    sequence: int
    step: int
    kind: RemarkKind
    text: str
    agent: str = ""


_SELF_CORRECTION: Final = re.compile(  # seed 001
    r"\bI was wrong (?:about|that|to)\b|\bI was mistaken\b|\bI made a mistake\b"
    r"|\blet me (?:reconsider|correct (?:that|this|myself))\b"
    r"|\bI (?:initially|first|previously|wrongly|incorrectly) (?:thought|assumed|believed)\b"
    r".{1,200}\b(?:but|however|actually|in fact)\b"
    r"|\bmy (?:earlier|previous|initial) (?:assumption|guess|reading|claim) (?:was|is) "
    r"(?:wrong|incorrect|false)\b"
    r"|\A\W*Correction: "
    r"|\b[Aa]ctually,? .{1,120}\b(?:instead of|rather than|is not|isn't|are not|aren't|"
    r"does not|doesn't)\b"
    r"|\A\W*Wait[,.—-]+ ?.{0,120}\b(?:wrong|not (?:right|true|what|where|how)|"
    r"isn't|doesn't|incorrect)\b",
    re.IGNORECASE,
)
_DEAD_END: Final = re.compile(  # seed 001
    r"\bthis (?:approach|path|way|route) (?:won't|will not|can't|cannot|can not|does not|doesn't)"
    r" work\b|\b(?:I need to|I have to|I'll|let's|we should) abandon (?:this|that|it)\b"
    r"|\blet me try (?:a |an )?(?:completely |entirely )?(?:different|another) "
    r"(?:approach|way|strategy|route)\b"
    r"|\b(?:unavailable in (?:test|ci|production|this (?:environment|sandbox)))\b"
    r"|\bnot available in this (?:environment|sandbox)\b"
    r"|\bthat(?:'s| is) a dead end\b",
    re.IGNORECASE,
)
_USER_CORRECTION: Final = re.compile(
    r"\A\W*no[,.!—-]+ |\bthat(?:'s| is) (?:wrong|not (?:right|what I))|\bI (?:said|told you)\b"
    r"|\bstop (?:doing|using)\b|\A\W*(?:don't|do not|never) \w|\bundo (?:that|this)\b"
    r"|\bnon,? (?:ce n'est pas|c'est faux)\b|\bce n'est pas ce que\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"```[\s\S]*?(?:```|\Z)|^[ \t]*>.*$", re.MULTILINE)
_SENTENCES: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
_BY_AGENT: Final = (
    (RemarkKind.SELF_CORRECTION, _SELF_CORRECTION),
    (RemarkKind.DEAD_END, _DEAD_END),
)
_BY_USER: Final = ((RemarkKind.USER_CORRECTION, _USER_CORRECTION),)


def of_agent(*, sequence: int, step: int, text: str, agent: str = "") -> tuple[Remark, ...]:
    """Find what an agent says of its own work; code and quoted lines are not its words."""
    return tuple(
        Remark(sequence=sequence, step=step, kind=kind, text=text, agent=agent)
        for kind, text in _find_sentences(text, _BY_AGENT)
    )


def of_user(*, sequence: int, step: int, text: str) -> tuple[Remark, ...]:
    """Find where a person corrects the agent."""
    return tuple(
        Remark(sequence=sequence, step=step, kind=kind, text=text)
        for kind, text in _find_sentences(text, _BY_USER)
    )


def _find_sentences(
    text: str, patterns: tuple[tuple[RemarkKind, re.Pattern[str]], ...]
) -> Iterator[tuple[RemarkKind, str]]:
    """Yield the sentences that match, each with the one behind it."""
    own = _QUOTED.sub(" ", text) if "```" in text or ">" in text else text
    parts = [part.strip() for part in _SENTENCES.split(own) if part and part.strip()]
    for place, sentence in enumerate(parts):
        plain = texts.straighten_apostrophes(text=sentence[:SENTENCE_MOST])
        for kind, pattern in patterns:
            if pattern.search(plain):
                yield kind, " ".join(parts[place : place + 2])[:SENTENCE_MOST]
