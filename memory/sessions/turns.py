"""Turns of a conversation, and what their speakers say in their own words.

An agent's turn is mostly not what somebody says: fenced code, diffs, logs, the output of tools,
quoted text, blocks between tags (that is how memories and files are put before a model). All of
that is left out here, before anything looks for statements, so what merely passed through a
conversation is never learned from it, whatever it claims. What remains is cut into
sentences that know their line.

Remarks are sentences in which an agent corrects itself or gives something up, or a person corrects
it. A sentence is looked at, not a text, and each expression is bounded, so a scan stays linear;
what follows it mostly says what is true instead, and is kept with it. “Wait” and “actually” alone
are no correction: agents say them while they think.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from memory.text import passages
from memory.text import text as texts

# Defaults, not measured.
LONGEST_READ = 20_000  # characters of a turn that are read for statements
LEAST_LETTERS = 0.6  # share of letters and spaces in a line of prose
SENTENCE_MOST: Final = 300  # characters of a remark kept


class Speaker(StrEnum):
    """Who said a turn; only people and their agents are learned from."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one side said, at which place of its session and when.

    `is_of_program`: the hooks of an agent's program told it, and not a client that calls the API.
    """

    sequence: int
    speaker: Speaker
    text: str
    at: datetime | None = None
    is_of_program: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenSentence:
    """One sentence of somebody's own words; lines are counted from 1, paragraphs too."""

    text: str
    line: int
    paragraph: int


_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_TAG = re.compile(r"^\s*<([A-Za-z][\w:-]{1,40})(?:\s[^<>]{0,300})?>")
_DIFF = re.compile(r"^(?:diff --git |@@ .*@@|--- a/|\+\+\+ b/|Index: )")
_LOG = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|(?:INFO|WARN(?:ING)?|ERROR|DEBUG"
    r"|TRACE|FATAL|PASS|FAIL|FAILED|PASSED)\b[ :\]]|Traceback \(most|File \"[^\"]+\", line \d"
    r"|at [\w.$<>]+ ?\(|npm (?:ERR!|WARN)|E {3}|[$%#>] \S|={4,}|-{4,}|\+{3,}|\[\^ ?Memory:"
    r"|Files: .* \| Type: )"
)
_QUOTE = re.compile(r"^\s{0,3}>")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_ITEM = re.compile(r"^\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+")
_CODE_INDENT = re.compile(r"^(?: {4}|\t)(?!\s*(?:[-*+\u2022]|\d{1,2}[.)])\s)")
_EMPHASIS = re.compile(r"\*\*|__|~~")
_MEMORY_MARK = re.compile(r"\[\^(?: ?Memory:[^\]]{0,80}|[0-9a-f]{6})\]")


def own_words(*, turn: Turn) -> tuple[SpokenSentence, ...]:
    """Return the sentences of a turn that are its speaker's own; none of tools and systems."""
    if turn.speaker not in {Speaker.USER, Speaker.ASSISTANT}:
        return ()
    paragraphs = enumerate(_paragraphs(turn.text[:LONGEST_READ]), 1)
    return tuple(
        SpokenSentence(text=one, line=line, paragraph=number)
        for number, (line, text) in paragraphs
        for one in passages.split_sentences(text=text)
    )


def prose(*, turn: Turn) -> str:
    """Return a speaker's own words as one text, a paragraph a line."""
    return "\n".join(text for _, text in _paragraphs(turn.text[:LONGEST_READ]))


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each paragraph and list item; wrapped lines are joined."""
    lines, held, start = _ProseFilter(), list[str](), 0
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.strip() if lines.is_prose(whole) else ""  # what is left out ends a paragraph
        if held and (not line or _ITEM.match(line)):
            yield start, " ".join(held)
            held = []
        if line:
            start = start if held else number
            plain = _MEMORY_MARK.sub("", _EMPHASIS.sub("", _ITEM.sub("", line)))
            held.append(" ".join(plain.split()))
    if held:
        yield start, " ".join(held)


class _ProseFilter:
    """Follows the lines of a turn in their order: into code, a tagged block, a diff, and out."""

    def __init__(self) -> None:
        self.fence, self.tag, self.in_diff = "", "", False
        self.after_blank = True

    def is_prose(self, line: str) -> bool:
        """Say whether the next line is prose of the speaker."""
        was_blank, self.after_blank = self.after_blank, not line.strip()
        if self._is_in_block(line):
            return False
        if not line.strip():
            self.in_diff = False
            return False
        if _DIFF.match(line):
            self.in_diff = True
        if self.in_diff or (was_blank and _CODE_INDENT.match(line)):
            self.after_blank = True  # what is indented below it is code as well
            return False
        if any(form.match(line) for form in (_LOG, _QUOTE, _TABLE, _HEADING)):
            return False
        bare = line.strip()
        letters = sum(map(str.isalpha, bare)) + sum(map(str.isspace, bare))
        return letters >= LEAST_LETTERS * len(bare)

    def _is_in_block(self, line: str) -> bool:
        if self.fence:
            if line.strip().startswith(self.fence):
                self.fence = ""
            return True
        if self.tag:
            if f"</{self.tag}>" in line:
                self.tag = ""
            return True
        if fence := _FENCE.match(line):
            self.fence = fence.group(1)
            return True
        if tag := _TAG.match(line):
            self.tag = "" if f"</{tag.group(1)}>" in line else tag.group(1)
            return True
        return False


class RemarkKind(StrEnum):
    """What a sentence tells."""

    SELF_CORRECTION = "self_correction"
    DEAD_END = "dead_end"
    USER_CORRECTION = "user_correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A sentence that tells something with the next one, and where it was said.

    `before` is the sentence before it, empty for none.
    """

    sequence: int
    step: int
    kind: RemarkKind
    text: str
    agent: str = ""
    before: str = ""


_QUOTED: Final = re.compile(r"```[\s\S]*?(?:```|\Z)|^[ \t]*>.*$", re.MULTILINE)
_SENTENCES: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
_PATTERNS: Final = texts.compile_patterns(
    table=texts.read_tables(file=Path(__file__).with_name("tables") / "remarks.toml")
)
_KINDS: Final = {
    Speaker.ASSISTANT: (RemarkKind.SELF_CORRECTION, RemarkKind.DEAD_END),
    Speaker.USER: (RemarkKind.USER_CORRECTION,),
}


def find_remarks(
    *, speaker: Speaker, sequence: int, step: int, text: str, agent: str = ""
) -> tuple[Remark, ...]:
    """Find where an agent corrects itself or gives up, or a person corrects it.

    Code and quoted lines are nobody's own words.
    """
    own = _QUOTED.sub(" ", text) if "```" in text or ">" in text else text
    parts = [part.strip() for part in _SENTENCES.split(own) if part and part.strip()]
    found = []
    for place, sentence in enumerate(parts):
        plain = texts.straighten_apostrophes(text=sentence[:SENTENCE_MOST])
        with_next = " ".join(parts[place : place + 2])[:SENTENCE_MOST]
        before = parts[place - 1][:SENTENCE_MOST] if place else ""
        found += [
            Remark(
                sequence=sequence, step=step, kind=kind, text=with_next, agent=agent, before=before
            )
            for kind in _KINDS[speaker]
            if _PATTERNS[kind].search(plain)
        ]
    return tuple(found)
