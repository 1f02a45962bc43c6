"""Whether a sentence of a talk can be read alone, and what completes one that cannot.

Who reads a memory has not heard the talk. A sentence that points back (“it”, “that one”, “the
model” where several could be meant) or answers a question is completed from what was said just
before it where only one thing can be meant: by the subject that a correction shares with what it
corrects, by the one name of a kind, by the question itself. Else it is left out.
"""

import re
from dataclasses import dataclass
from typing import Final

from memory.entities.rules import EntityKind, find_entities
from memory.extraction import chatter
from memory.text import passages
from memory.text.text import content_words

LONGEST_QUESTION: Final = 200  # characters of one that is put before its answer; not measured
LONGEST_SUBJECT: Final = 60  # characters that are taken over from another sentence; not measured

_PATTERNS: Final = chatter.PATTERNS
_SUBJECT: Final = re.compile(  # up to the verb; a name, a piece of code or words after an article
    rf"(?P<subject>(?:the|our|every|each|all|[A-Z`/@])[^,;:.!?]{{1,{LONGEST_SUBJECT}}}?)"
    r" (?=(?:is|are|was|were|has|have|does|do|can|must|should|will|needs?|isn't|aren't|doesn't"
    r"|don't|\w{3,}s)\b)",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(r"\A(?:it|they)(?:(?='s\b|'re\b)| )", re.IGNORECASE)
APOSTROPHE: Final = "'"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidBefore:
    """What was said before a sentence: in its turn, and by the other side in the turn before it."""

    own: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """The question that the other side ended with, if it can be read alone; else empty."""
        last = self.other[-1] if self.other else ""
        is_whole = (
            last.endswith("?") and len(last) <= LONGEST_QUESTION and not points_back(text=last)
        )
        return last if is_whole and chatter.has_substance(text=last) else ""


def points_back(*, text: str) -> bool:
    """Say whether a text means something that it does not name."""
    if passages.is_continuation(text=text) or _PATTERNS["pointing"].search(text):
        return True
    has_subject = _PATTERNS["subject"].match(text) is not None
    return any(
        not (one["own"] and has_subject) and not _PATTERNS["clause"].search(text, 0, one.start())
        for one in _PATTERNS["pronoun"].finditer(text)
    )


def complete(*, text: str, before: SaidBefore, tells_cause: bool = False) -> str:
    """Return a statement with what it lacks, taken from what was said before; else empty.

    A text that can be read alone comes back as it is. Where it `tells_cause`, how a thing failed
    says which one it is.
    """
    whole = _PATTERNS["then"].sub("", text)
    if _PATTERNS["choice"].match(whole) or _PATTERNS["fragment"].match(whole):
        return f"{before.question} {whole}" if before.question else ""
    kind = None if tells_cause else _PATTERNS["bare_kind"].match(whole)
    if kind:
        return whole if _names_code(whole) else _with_name(whole, kind, before)
    if not points_back(text=whole):
        return whole
    named = _with_subject(whole, before)
    return named if named and not points_back(text=named) else ""


def _names_code(text: str) -> bool:
    """Say whether a text names a piece of code or a file, which tells where it holds."""
    kinds = {EntityKind.CODE, EntityKind.PATH}
    return not points_back(text=text) and any(one.kind in kinds for one in find_entities(text=text))


def _with_name(text: str, kind: re.Match[str], before: SaidBefore) -> str:
    """Name what “the model” is where just one model was named before; else empty."""
    name = re.compile(
        rf"\b(?:the|our|an?|\w+'s) (`[^`\s]+`|[a-z][\w-]+|[A-Z]\w+) {re.escape(kind['kind'])}\b",
        re.IGNORECASE,
    )
    said = " ".join((*before.other, *before.own))
    found = {one for one in name.findall(said) if not _PATTERNS["no_name"].fullmatch(one)}
    if len(found) != 1 or points_back(text=text) or _PATTERNS["no_kind"].fullmatch(kind["kind"]):
        return ""
    start = kind.start("kind")
    return f"{text[:start]}{found.pop()} {text[start:]}"


def _with_subject(text: str, before: SaidBefore) -> str:
    """Put the subject of the one statement of the other side that is about the same for “it”."""
    pronoun = _PRONOUN.match(text)
    if pronoun is None:
        return ""
    words = content_words(text=text)
    near = [one for one in before.other if words & content_words(text=one)]
    subject = _SUBJECT.match(near[0]) if len(near) == 1 else None
    if subject is None:
        return ""
    is_many = subject["subject"].lower().startswith("all ")
    if is_many is not text.lower().startswith("they"):
        return ""
    rest = text[pronoun.end() :]
    return f"{subject['subject']}{'' if rest.startswith(APOSTROPHE) else ' '}{rest}"
