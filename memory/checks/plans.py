"""A plan as people and agents write it, as steps: Markdown or plain sentences.

An item of a list is a step with the lines that belong to it, a heading is one, and where there is
no list each paragraph is taken by its sentences. Steps are counted from 1 as they stand, whatever
numbers the plan gives them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

STEPS_MOST: Final = 60  # looked at, ours
TEXT_MOST: Final = 2_000  # characters of a step that are looked at, ours
BEGIN_MOST: Final = 400  # characters of a line in which an item or a heading begins, ours
_ITEM: Final = re.compile(
    r"\s{0,40}(?:[-*+\u2022]|\(?\d{1,4}[.)]|[a-zA-Z][.)]|(?:step|étape)\s+\d{1,4}\s*[:.)-])\s+"
    r"(?:\[[ xX]\]\s+)?(?P<text>\S)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(?P<text>\S)")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_RULE: Final = re.compile(r"\s*(?:[-*_=]\s*){3,}\Z")
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: its place from 1, its line in the plan, its words."""

    number: int
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps that are looked at, and how many are not."""

    steps: tuple[Step, ...]
    left_out: int


@dataclass(slots=True, kw_only=True)
class _Block:
    """What stands together: an item, a heading or a paragraph, with the lines that follow it."""

    line: int
    is_paragraph: bool
    lines: list[str]


def read(*, text: str) -> Plan:
    """Take a plan apart."""
    found = [
        (line, step)
        for block in _blocks(text)
        for line, step in _steps(block)
        if any(sign.isalpha() for sign in step)
    ]
    steps = tuple(
        Step(number=number, line=line, text=step[:TEXT_MOST])
        for number, (line, step) in enumerate(found[:STEPS_MOST], start=1)
    )
    return Plan(steps=steps, left_out=max(0, len(found) - STEPS_MOST))


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    in_fence = False
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            in_fence = not in_fence
            continue
        begun = None if in_fence else _begun(number, line)
        is_gap = not in_fence and (not line.strip() or _RULE.match(line) is not None)
        if block is not None and (is_gap or begun is not None):
            yield block
            block = None
        if begun is None and not is_gap:
            block = _with(block, number, line)
        block = begun or block
    if block is not None:
        yield block


def _with(block: _Block | None, number: int, line: str) -> _Block:
    if block is None:
        return _Block(line=number, is_paragraph=True, lines=[line])
    block.lines.append(line)
    return block


def _begun(number: int, line: str) -> _Block | None:
    """Return what a line begins, None where it goes on with what stands before it."""
    heading = _HEADING.match(line, 0, BEGIN_MOST)
    found = heading or _ITEM.match(line, 0, BEGIN_MOST)
    if found is None or _RULE.match(line):
        return None
    text = line[found.start("text") :]
    text = text.rstrip().rstrip("#") if heading else text
    return _Block(line=number, is_paragraph=False, lines=[text])


def _steps(block: _Block) -> Iterator[tuple[int, str]]:
    text = " ".join(" ".join(block.lines).split())
    if not block.is_paragraph:
        yield block.line, text
        return
    for sentence in _SENTENCES.split(text):
        yield block.line, sentence
