"""The parts of work ahead as they are judged: the steps of a plan, the changed places of a diff.

A part knows where it stands, what it is for, what it takes away and which files it is about; where
a plan says it in words, a diff says it in lines that come and go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from memory.checks.diffs import ChangedFile, Hunk
from memory.checks.plans import Step
from memory.extraction import standalone
from memory.records import statement_clauses, statement_stems
from memory.sessions import file_paths

LINE_MOST: Final = 1_000  # characters of a line that are looked at, ours
ADDED_MOST: Final = 8_000  # characters of a place that are looked at, ours
QUERY_MOST: Final = 60  # words of a place that are searched for, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a part stands: a step and its line in the plan, or lines of a file."""

    step: int = 0
    file: str = ""
    first_line: int = 0
    last_line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part: its place, its words, and what they come to.

    `stems` are those of all of it, `proposes` those of what it is for, `named` the names among
    them, `taken` the stems of each thing that it takes away, `values` its numbers by their unit,
    `files` the paths it is about. `is_code` parts are lines of a file, rarely sentences.
    """

    place: Place
    text: str
    stems: frozenset[str]
    proposes: frozenset[str]
    named: frozenset[str]
    taken: tuple[frozenset[str], ...] = ()
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    is_code: bool = False


def of_step(*, step: Step) -> Part:
    """Return a step as a part."""
    said = statement_clauses.read(text=step.text)
    files = (
        file_paths.relative(path=path, root="") for path in standalone.files_in(text=step.text)
    )
    return Part(
        place=Place(step=step.number, first_line=step.line, last_line=step.line),
        text=step.text,
        stems=statement_stems.stems(text=step.text),
        proposes=statement_stems.stems(text=said.affirmed),
        named=statement_stems.names(text=said.affirmed),
        taken=tuple(found for one in said.taken if (found := statement_stems.stems(text=one))),
        values=statement_stems.quantities(text=said.affirmed),
        files=tuple(dict.fromkeys(files)),
    )


def of_file(*, file: ChangedFile) -> tuple[Part, ...]:
    """Return the changed places of a file; one without a line where none of it is text.

    Its lines are without secrets: here they are cut, and half of one is not known for what it is.
    """
    found = tuple(_of_hunk(file, hunk) for hunk in file.hunks)
    return found or (_bare(file),)


def question(*, files: tuple[str, ...], text: str) -> str:
    """Return what to search for, for a changed file: its paths and the words of its code."""
    return " ".join((*files, *statement_stems.compounds(text=text)[:QUERY_MOST]))


def _of_hunk(file: ChangedFile, hunk: Hunk) -> Part:
    added, removed = _looked_at(hunk.added), _looked_at(hunk.removed)
    before, after = statement_stems.stems(text=removed), statement_stems.stems(text=added)
    gone = statement_stems.names(text=removed) - after
    return Part(
        place=Place(file=file.path, first_line=hunk.first, last_line=hunk.last),
        text=added,
        stems=before | after | statement_stems.stems(text=file.path),
        proposes=after - before,
        named=statement_stems.names(text=added) - before,
        taken=(gone,) if gone else (),
        files=_paths(file),
        is_code=True,
    )


def _looked_at(lines: tuple[str, ...]) -> str:
    return "\n".join(line[:LINE_MOST] for line in lines)[:ADDED_MOST]


def _bare(file: ChangedFile) -> Part:
    return Part(
        place=Place(file=file.path),
        text="",
        stems=statement_stems.stems(text=file.path),
        proposes=frozenset(),
        named=frozenset(),
        files=_paths(file),
        is_code=True,
    )


def _paths(file: ChangedFile) -> tuple[str, ...]:
    """Return the paths that a file has and had."""
    return tuple(path for path in dict.fromkeys((file.path, file.before)) if path)
