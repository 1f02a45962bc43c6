"""What is worth keeping of texts that nobody said to an agent: commits, results of tools.

Of a posted commit mostly nothing: a breaking change, a revert that says why, and any commit whose
message gives a reason below its subject. Everything else (a feature, a chore, a fix that does not
say why) is in the history of the repository, where whoever needs it finds it. A result of a tool
that drives the running product is one of five kinds or not worth it; whatever is kept waits for
review. Words alone decide, without a model; what stands in a text is data.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from memory.extraction import chatter, extract
from memory.sessions.turns import Speaker, Turn
from memory.taxonomy import MemoryType
from memory.text import passages
from memory.text import text as texts

LONGEST: Final = 500  # characters of what is kept, default
SENTENCES_MOST: Final = 3  # of the body, the ones that give reasons; default
REASON_WORDS: Final = 4  # of substance that a reason has at least, default
_CONVENTIONAL: Final = re.compile(
    r"^(?:(?P<kind>[a-z]{2,12})(?:\((?P<scope>[^()\n]{1,60})\))?(?P<breaks>!)?:\s+)?(?P<says>.*)$"
)
_REVERTED: Final = re.compile(r"^revert(?:ed|s)?:?\s+[\"“](?P<says>.+?)[\"”]", re.IGNORECASE)
_REVERTS: Final = re.compile(r"^this reverts commit\b[^.\n]*\.?\s*", re.IGNORECASE)
_BREAKING: Final = re.compile(r"^BREAKING[ -]CHANGE:\s*(?P<says>\S.*)$", re.IGNORECASE)
_NUMBER: Final = re.compile(  # tried once where white space begins
    r"(?<!\s)(?:\s*\((?:#|gh-|!)\d+\)|\s+(?:#|gh-)\d+\b)", re.IGNORECASE
)

TOOLS: Final = frozenset({  # that drive the running product, as browsers' servers name them
    "take_screenshot", "click_by_text", "fill_input", "get_page_structure", "eval",
    "browser_click", "browser_snapshot", "browser_type", "browser_navigate", "click", "fill",
    "navigate_page", "evaluate_script", "wait_for",
})  # fmt: skip
PRODUCT_CONFIDENCE: Final = 0.75  # default, not measured
NO_NEWS: Final = frozenset({"docs", "style", "chore", "ci", "build", "test"})  # kinds of commits
LOOKED_AT: Final = 400  # characters of a result; default, not measured


class Observation(StrEnum):
    """What a result says of the running product."""

    PRECONDITION = "precondition"
    TIMING = "timing"
    TOOL_GOTCHA = "tool_gotcha"
    TEST_SEQUENCE = "test_sequence"
    UI_BEHAVIOR = "ui_behavior"


_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "evidence.toml")
_OF_COMMITS: Final = texts.compile_patterns(table=_TABLES["commits"])
_OF_THE_PRODUCT: Final = texts.compile_patterns(table=_TABLES["product"])


def of_the_product(
    *, tool: str, result: str
) -> tuple[Observation, str, Mapping[str, object]] | None:
    """Sort what a tool showed of the running product, as kind, content and attributes.

    None for another tool, and for what is not worth it. The first kind whose words are found wins.
    """
    if tool.rpartition("__")[2] not in TOOLS:
        return None
    text = " ".join(result[:LOOKED_AT].split())
    named = next((name for name, cue in _OF_THE_PRODUCT.items() if cue.search(text)), None)
    if named is None:
        return None
    kind = Observation(named)
    fields: dict[str, object] = {Observation.UI_BEHAVIOR.value: text}
    if kind is not Observation.UI_BEHAVIOR:
        fields[kind.value] = (text,) if kind is Observation.TEST_SEQUENCE else text
    return kind, text, fields


def of_commit(*, message: str) -> tuple[MemoryType, str] | None:
    """Return what of a commit's message is worth keeping, as type and content; mostly None."""
    lines = message.strip().splitlines()
    if not lines or chatter.speaks_to_the_machine(text=message):
        return None
    subject = _NUMBER.sub("", lines[0]).strip()
    stripped = map(str.strip, lines[1:])
    body = tuple(
        _REVERTS.sub("", line) for line in stripped if not _OF_COMMITS["trailer"].match(line)
    )
    told = _sentences(body)
    said = next(_CONVENTIONAL.finditer(subject))  # matches every subject, its parts may be None
    reverted = _REVERTED.match(subject) or (said if said["kind"] == "revert" else None)
    if reverted is None:
        return _of_change(said, body, told)
    if not told:
        return None
    return _as_content(MemoryType.DEAD_END, f"Taken back: {reverted['says']}", told)


def _of_change(
    said: re.Match[str], body: tuple[str, ...], told: tuple[str, ...]
) -> tuple[MemoryType, str] | None:
    """Return what a commit that takes nothing back breaks, or changes for a reason."""
    kind, says, reasons = said["kind"], said["says"], _reasons(told)
    breaking = filter(None, map(_BREAKING.match, body))
    breaks = next((found["says"] for found in breaking), "")
    if breaks or said["breaks"]:
        return _as_content(MemoryType.GOTCHA, _placed(breaks or says, said), reasons)
    if not reasons or _OF_COMMITS["trivial"].search(says) or kind in NO_NEWS:
        return None
    is_fix = kind == "fix" or _OF_COMMITS["mended"].match(says) is not None
    type = MemoryType.FIX if is_fix else MemoryType.DECISION
    return _as_content(type, _placed(says, said), reasons)


def _reasons(told: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentences of a commit that give a reason."""
    return tuple(
        one
        for one in told
        if _OF_COMMITS["reason"].search(one)
        or extract.extract(turns=(Turn(sequence=1, speaker=Speaker.ASSISTANT, text=one),))
    )


def _placed(says: str, said: re.Match[str]) -> str:
    """Return what a subject says, with the scope that it names."""
    text = says[:1].upper() + says[1:]
    return f"{said['scope']}: {text}" if said["scope"] else text


def _sentences(body: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentences of a body that say something, without what it breaks."""
    text = "\n".join(line for line in body if not _BREAKING.match(line))
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    said = (one for part in parts for one in passages.split_sentences(text=part))
    return tuple(
        one
        for one in said
        if len(texts.content_words(text=one)) >= REASON_WORDS and not one.endswith("?")
    )


def _as_content(type: MemoryType, says: str, reasons: tuple[str, ...]) -> tuple[MemoryType, str]:
    told = (says, *reasons[:SENTENCES_MOST])
    parts = (one if one.endswith((".", "!")) else f"{one}." for one in told)
    return type, " ".join(parts)[:LONGEST]
