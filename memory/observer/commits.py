"""What of a posted commit is worth keeping: mostly nothing.

A breaking change, a fix that says what was wrong, what was taken back, and any commit whose message
gives a reason. Everything else (a feature, a chore, a typo) is in the history of the repository,
where whoever needs it finds it. Words of the message alone decide; what stands in it is data.
"""

import re
from dataclasses import dataclass
from typing import Final

from memory.extraction import chatter, extract
from memory.sessions.turns import Speaker, Turn
from memory.taxonomy import MemoryType
from memory.text import content_words, sentences

LONGEST: Final = 500  # characters of what is kept, ours
SENTENCES_MOST: Final = 3  # of the body, the ones that give reasons; ours
FIX_WORDS: Final = 5  # of substance that a fix without a reason has at least, ours
REASON_WORDS: Final = 4  # of substance that a reason has at least, ours
_CONVENTIONAL: Final = re.compile(
    r"^(?P<kind>[a-z]{2,12})(?:\((?P<scope>[^()\n]{1,60})\))?(?P<breaks>!)?:\s+(?P<says>\S.*)$"
)
_REVERTED: Final = re.compile(r"^revert(?:ed|s)?:?\s+[\"“](?P<says>.+?)[\"”]", re.IGNORECASE)
_REVERTS: Final = re.compile(r"^this reverts commit\b[^.\n]*\.?\s*", re.IGNORECASE)
_BREAKING: Final = re.compile(r"^BREAKING[ -]CHANGE:\s*(?P<says>\S.*)$", re.IGNORECASE)
_TRAILER: Final = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|reported-by|change-id"
    r"|fixes|closes|refs?|see|issue|link|cherry[- ]picked? from)\b[:\s]|^\(cherry picked",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\s*\((?:#|gh-|!)\d+\)|\s+(?:#|gh-)\d+\b", re.IGNORECASE)
_TRIVIAL: Final = re.compile(
    r"\b(?:typos?|lint(?:er|ing)?|format(?:ting)?|whitespace|indent\w*|spelling|wording|grammar"
    r"|comments?|readme|docs?|docstrings?|changelog|imports? order|review (?:comments?|feedback)"
    r"|merge conflicts?|bump\w*|ci|build|broken links?|snapshots?|warnings?|flaky|nits?)\b",
    re.IGNORECASE,
)
_REASON: Final = re.compile(
    r"\b(?:because|so that|instead of|rather than|otherwise|to avoid|in order to|due to|caused by"
    r"|root cause|turn(?:s|ed) out|since (?:it|the|this|we|they)|which (?:made|caused|broke|meant)"
    r"|as (?:it|the|this) (?:would|could|can|breaks?|broke)|no longer|must not|must be"
    r"|parce que|afin que|au lieu de|sinon|pour éviter)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept of a commit."""

    type: MemoryType
    content: str


def worth(*, message: str) -> Kept | None:
    """Return what of a message is worth keeping; None for most of them."""
    lines = message.strip().splitlines()
    if not lines or chatter.speaks_to_the_machine(text=message):
        return None
    subject = _NUMBER.sub("", lines[0]).strip()
    body = _body(lines[1:])
    told = _sentences(body)
    reasons = _reasons(told)
    said = _CONVENTIONAL.match(subject)
    reverted = _REVERTED.match(subject) or (said if said and said["kind"] == "revert" else None)
    if reverted is not None:
        return _kept(MemoryType.DEAD_END, f"Taken back: {reverted['says']}", told)
    breaks = next((found["says"] for line in body if (found := _BREAKING.match(line))), "")
    if breaks or (said is not None and said["breaks"]):
        says = breaks or (said["says"] if said is not None else subject)
        return _kept(MemoryType.GOTCHA, _placed(says, said), reasons)
    return _of_kind(subject, said, reasons)


def _of_kind(subject: str, said: re.Match[str] | None, reasons: tuple[str, ...]) -> Kept | None:
    """Return what is kept of a commit that neither breaks nor takes back anything."""
    kind = "" if said is None else said["kind"]
    says = subject if said is None else said["says"]
    if _TRIVIAL.search(says) or kind in {"docs", "style", "chore", "ci", "build", "test"}:
        return None
    if kind == "fix" and (reasons or _substance(says) >= FIX_WORDS):
        return _kept(MemoryType.FIX, _placed(says, said), reasons)
    if reasons or (_REASON.search(says) and _substance(says) >= FIX_WORDS):
        type = MemoryType.FIX if _is_mended(says) else MemoryType.DECISION
        return _kept(type, _placed(says, said), reasons)
    return None


def _is_mended(says: str) -> bool:
    return re.match(r"(?:fix(?:e[sd])?|correct|repair|mend|prevent|stop)\b", says, re.I) is not None


def _placed(says: str, said: re.Match[str] | None) -> str:
    """Return what a subject says, with the scope that it names."""
    scope = "" if said is None else (said["scope"] or "")
    text = says[:1].upper() + says[1:]
    return f"{scope}: {text}" if scope else text


def _body(lines: list[str]) -> tuple[str, ...]:
    """Return the lines of a body without trailers."""
    kept = (line.strip() for line in lines)
    return tuple(_REVERTS.sub("", line) for line in kept if not _TRAILER.match(line))


def _sentences(body: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentences of a body that say something, without what it breaks."""
    text = "\n".join(line for line in body if not _BREAKING.match(line))
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    said = (one for part in parts for one in sentences.split(text=part))
    return tuple(one for one in said if _substance(one) >= REASON_WORDS and not one.endswith("?"))


def _reasons(said: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentences that say why, or what else is worth keeping of any conversation."""
    turns = (Turn(sequence=1, speaker=Speaker.ASSISTANT, text=one) for one in said)
    return tuple(
        turn.text for turn in turns if _REASON.search(turn.text) or extract.extract(turns=(turn,))
    )


def _kept(type: MemoryType, says: str, reasons: tuple[str, ...]) -> Kept:
    told = (says, *reasons[:SENTENCES_MOST])
    parts = (one if one.endswith((".", "!")) else f"{one}." for one in told)
    return Kept(type=type, content=" ".join(parts)[:LONGEST])


def _substance(text: str) -> int:
    return len(content_words.content_words(text=text))
