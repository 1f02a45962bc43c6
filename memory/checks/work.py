"""Work to check as parts: the steps of a plan, the changed places of a diff.

A plan is Markdown or plain sentences. An item of a list is a step with the lines that belong to it,
a heading is one, and where there is no list each paragraph is taken by its sentences. Steps are
counted from 1, whatever numbers the plan gives them.

A part knows its location, what it is for, what it takes away and which files it is about; a plan
has that in words, a diff in lines that are added and removed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from memory.checks.diffs import ChangedFile, Hunk
from memory.extraction import extract
from memory.records import statement_clauses
from memory.sessions import file_paths

STEPS_MOST: Final = 60  # that are checked; this and what follows: defaults, not measured
STEP_MOST: Final = 2_000  # characters of a step that are checked
BEGIN_MOST: Final = 400  # characters of a line in which an item or a heading begins
LINE_MOST: Final = 1_000  # characters of a line that are checked
PLACE_MOST: Final = 8_000  # characters of a changed place that are checked
QUESTION_MOST: Final = 60  # words of code that are searched for
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
class PartLocation:
    """A step and its line in the plan, or lines of a file."""

    step: int = 0
    file: str = ""
    first_line: int = 0
    last_line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPart:
    """One part: its location, its text, and what the text comes to.

    `stems` are those of all of it, `proposes` those of what it is for, `named` the names among
    them, `taken` the stems of each thing that it takes away, `values` its numbers by their unit,
    `files` the paths it is about. `is_code` parts are lines of a file, rarely sentences.
    """

    place: PartLocation
    text: str
    stems: frozenset[str]
    proposes: frozenset[str]
    named: frozenset[str]
    taken: tuple[frozenset[str], ...] = ()
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    is_code: bool = False


@dataclass(slots=True, kw_only=True)
class _Block:
    """An item, a heading or a paragraph, with the lines that belong to it."""

    line: int
    is_paragraph: bool
    lines: list[str]


def read_plan(*, text: str) -> tuple[tuple[WorkPart, ...], int]:
    """Return the steps of a plan that are checked, as parts, and how many are not."""
    found = []
    for block in _blocks(text):
        whole = " ".join(" ".join(block.lines).split())
        sentences = _SENTENCES.split(whole) if block.is_paragraph else [whole]
        found += [(block.line, one) for one in sentences if any(map(str.isalpha, one))]
    steps = tuple(
        _of_step(number, line, step[:STEP_MOST])
        for number, (line, step) in enumerate(found[:STEPS_MOST], start=1)
    )
    return steps, max(0, len(found) - STEPS_MOST)


def of_file(*, file: ChangedFile) -> tuple[WorkPart, ...]:
    """Return the changed places of a file; one without a line where none of it is text.

    Its lines are without secrets: here they are cut, and half a secret is not recognized.
    """
    found = tuple(_of_hunk(file, hunk) for hunk in file.hunks)
    if found:
        return found
    part = WorkPart(
        place=PartLocation(file=file.path),
        text="",
        stems=statement_clauses.stems(text=file.path),
        proposes=frozenset(),
        named=frozenset(),
        files=_paths(file),
        is_code=True,
    )
    return (part,)


def question(*, files: tuple[str, ...], text: str) -> str:
    """Return what to search for, for a changed file: its paths and the words of its code."""
    return " ".join((*files, *statement_clauses.compounds(text=text)[:QUESTION_MOST]))


def _of_step(number: int, line: int, text: str) -> WorkPart:
    said = statement_clauses.read(text=text)
    files = (file_paths.relative(path=path, root="") for path in extract.files_in(text=text))
    return WorkPart(
        place=PartLocation(step=number, first_line=line, last_line=line),
        text=text,
        stems=statement_clauses.stems(text=text),
        proposes=statement_clauses.stems(text=said.affirmed),
        named=statement_clauses.names(text=said.affirmed),
        taken=tuple(found for one in said.taken if (found := statement_clauses.stems(text=one))),
        values=statement_clauses.quantities(text=said.affirmed),
        files=tuple(dict.fromkeys(files)),
    )


def _blocks(text: str) -> Iterator[_Block]:
    block: _Block | None = None
    in_fence = False
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            in_fence = not in_fence
            continue
        begun = None if in_fence else _begin(number, line)
        is_gap = not in_fence and (not line.strip() or _RULE.match(line) is not None)
        if block is not None and (is_gap or begun is not None):
            yield block
            block = None
        if begun is not None:
            block = begun
        elif block is not None:
            block.lines.append(line)
        elif not is_gap:
            block = _Block(line=number, is_paragraph=True, lines=[line])
    if block is not None:
        yield block


def _begin(number: int, line: str) -> _Block | None:
    """Return the block that a line begins, None where it continues another."""
    heading = _HEADING.match(line, 0, BEGIN_MOST)
    found = heading or _ITEM.match(line, 0, BEGIN_MOST)
    if found is None or _RULE.match(line):
        return None
    text = line[found.start("text") :]
    text = text.rstrip().rstrip("#") if heading else text
    return _Block(line=number, is_paragraph=False, lines=[text])


def _of_hunk(file: ChangedFile, hunk: Hunk) -> WorkPart:
    added, removed = (
        "\n".join(line[:LINE_MOST] for line in lines)[:PLACE_MOST]
        for lines in (hunk.added, hunk.removed)
    )
    before, after = statement_clauses.stems(text=removed), statement_clauses.stems(text=added)
    gone = statement_clauses.names(text=removed) - after
    return WorkPart(
        place=PartLocation(file=file.path, first_line=hunk.first, last_line=hunk.last),
        text=added,
        stems=before | after | statement_clauses.stems(text=file.path),
        proposes=after - before,
        named=statement_clauses.names(text=added) - before,
        taken=(gone,) if gone else (),
        files=_paths(file),
        is_code=True,
    )


def _paths(file: ChangedFile) -> tuple[str, ...]:
    """Return the paths that a file has and had."""
    return tuple(path for path in dict.fromkeys((file.path, file.before)) if path)
