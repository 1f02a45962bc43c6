"""Findings of a check: what stops the work, what calls for caution, what to note.

The idea: a memory is a finding only where its own words, and not merely its subject, meet a part.

- **Stop**: a part is for what a dead end tried, or for what a decision or a requirement is against.
- **Caution**: a part takes away what a decision or requirement is for, or names another value; a
  dead end is met in part; a file changes and what changes with it does not; what would stop the
  work, were it not uncertain, stale or contradicted.
- **Note**: traps and errors of a file that is touched; decisions and requirements that the search
  finds relevant to a step. Notes never change the verdict.

A dead end that says no more than which tests were run when it failed stops nobody: tests are how
one finds out, and no approach.

To be met, enough of a clause's stems (`COVERAGE`) must stand in what a part proposes, two of them
or one that is a name; and the memory must be anchored: found relevant by the calibrated search, or
about a file of the part. Words alone, or a subject alone, are no finding. Thresholds are fitted on
the train half of the labelled checks (`tests/bench/bench_checks.py`). No model is asked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.checks.work import PartLocation, WorkPart
from memory.records import statement_clauses
from memory.sessions import tools
from memory.taxonomy import MemoryType
from memory.text import globs

COVERAGE_LONG: Final = 0.45  # of a clause, where so many stems meet as LONG says; fitted
LONG: Final = 3  # stems
PARTLY: Final = 0.34  # of what a dead end tried, from which it is met in part; fitted
SURE: Final = 0.5  # effective confidence below which nothing is stopped; default
SAME_FRAME: Final = 0.5  # of a part's stems that must be the memory's for values to differ; fitted
PLACES_MOST: Final = 5  # of one finding; default
FINDINGS_MOST: Final = 20  # default
NOTES_MOST: Final = 5  # default


class Level(StrEnum):
    """How much a finding weighs, the heaviest first."""

    STOP = "stop"
    CAUTION = "caution"
    NOTE = "note"


class Verdict(StrEnum):
    """What is to be done about the work as a whole."""

    CLEAR = "clear"
    CAUTION = "caution"
    STOP = "stop"


class FindingReason(StrEnum):
    """How a memory meets a part."""

    TRIED = "tried_before"
    TRIED_IN_PART = "tried_in_part"
    DECIDED_AGAINST = "decided_against"
    TAKES_AWAY = "takes_away"
    OTHER_VALUE = "other_value"
    LEFT_BEHIND = "left_behind"
    USUALLY_TOGETHER = "usually_together"
    OF_THE_FILE = "of_the_file"
    RELEVANT = "relevant"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedMemory:
    """A memory that may be evidence; `approach` is what a dead end tried.

    `is_doubtful`: stale, contradicted, or one side of a contradiction.
    """

    id: UUID
    type: MemoryType
    content: str
    confidence: float
    files: tuple[str, ...] = ()
    approach: str = ""
    is_doubtful: bool = False

    @property
    def may_stop(self) -> bool:
        """Whether it is sure enough to stop work."""
        return not self.is_doubtful and self.confidence >= SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFinding:
    """How one memory meets the work: level, reason, parts, words, files.

    `missing` are files that change with those of the work and are not in it.
    """

    memory_id: UUID
    level: Level
    why: FindingReason
    places: tuple[PartLocation, ...]
    matched: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJudgment:
    """The verdict, its findings, and how many findings are left out."""

    verdict: Verdict
    findings: tuple[MemoryFinding, ...]
    left_out: int


Relevant = Mapping[UUID, frozenset[int]]  # by memory the parts that it is relevant to, from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    level: Level
    why: FindingReason
    score: float
    matched: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadMemory:
    """A memory, taken apart once."""

    memory: CheckedMemory
    rejected: tuple[tuple[frozenset[str], frozenset[str]], ...]
    stems: frozenset[str]
    affirmed: frozenset[str]
    named: frozenset[str]
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)


class _Work:
    """The parts of work, and which of them are about a file: asked once for each of a memory."""

    def __init__(self, *, parts: tuple[WorkPart, ...]) -> None:
        self.parts = parts
        self._parts: dict[str, set[int]] = {}
        self._files: dict[str, list[str]] = {}
        self._numbers: dict[str, frozenset[int]] = {}
        for number, part in enumerate(parts):
            for path in part.files:
                self._parts.setdefault(path, set()).add(number)
        for path in self._parts:
            self._files.setdefault(path.rpartition("/")[2], []).append(path)

    def near(self, *, memory: CheckedMemory) -> frozenset[int]:
        """Return the parts that are about a file of a memory, by their places from 0."""
        return frozenset().union(*(self.about(path=path) for path in memory.files))

    def about(self, *, path: str) -> frozenset[int]:
        """Return the parts that are about a file or a folder."""
        if path not in self._numbers:
            name = path.rpartition("/")[2]
            alike = (*self._files.get(name, ()), *self._files.get("", ())) if name else self._parts
            fitting = (one for one in alike if is_about(one=one, other=path))
            self._numbers[path] = frozenset().union(*(self._parts[one] for one in fitting))
        return self._numbers[path]


_ORDER: Final = {level: place for place, level in enumerate(Level)}
_BINDING: Final = frozenset(
    {MemoryType.DECISION, MemoryType.REQUIREMENT, MemoryType.CORRECTION, MemoryType.PREFERENCE}
)
_WARNING: Final = frozenset({MemoryType.GOTCHA, MemoryType.ERROR_PATTERN, MemoryType.DEAD_END})
CHECKED: Final = (
    MemoryType.DEAD_END, MemoryType.DECISION, MemoryType.REQUIREMENT, MemoryType.CORRECTION,
    MemoryType.PREFERENCE, MemoryType.CAUSAL_DEPENDENCY, MemoryType.GOTCHA,
    MemoryType.ERROR_PATTERN,
)  # fmt: skip


def judge(
    *, parts: tuple[WorkPart, ...], memories: Iterable[CheckedMemory], relevant: Relevant
) -> CheckJudgment:
    """Judge parts of work by the memories about them."""
    work = _Work(parts=parts)
    found = [
        finding
        for one in sorted(memories, key=lambda each: each.id)
        if (finding := _finding(one, work, relevant.get(one.id, frozenset()))) is not None
    ]
    found.sort(key=lambda one: (_ORDER[one.level], -one.score, one.memory_id))
    heavy = [one for one in found if one.level is not Level.NOTE]
    notes = [one for one in found if one.level is Level.NOTE][:NOTES_MOST]
    kept = (*heavy, *notes)[:FINDINGS_MOST]
    verdicts = {Level.STOP: Verdict.STOP, Level.CAUTION: Verdict.CAUTION}
    heaviest = verdicts.get(kept[0].level, Verdict.CLEAR) if kept else Verdict.CLEAR
    return CheckJudgment(verdict=heaviest, findings=kept, left_out=len(found) - len(kept))


def is_about(*, one: str, other: str) -> bool:
    """Say whether two paths are the same file, one of them perhaps named from further in.

    A path that ends with a slash is a folder and about all below it.
    """
    left, right = globs.bare(path=one), globs.bare(path=other)
    if not left or not right:
        return False
    if left.endswith("/") or right.endswith("/"):
        return left.startswith(right) if right.endswith("/") else right.startswith(left)
    return left == right or left.endswith(f"/{right}") or right.endswith(f"/{left}")


def _read(memory: CheckedMemory) -> _ReadMemory:
    said = statement_clauses.read(text=memory.content)
    stems = statement_clauses.stems(text=memory.content)
    if memory.type is MemoryType.DEAD_END:
        tried = memory.approach or statement_clauses.approach(content=memory.content)
        is_telling = not statement_clauses.names_only_a_file(approach=tried)
        tried = tried if is_telling and not tools.names_a_test_run(text=tried) else ""
        rejected: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
            (statement_clauses.stems(text=tried), frozenset()),
        )
    else:
        rejected = tuple(
            (statement_clauses.stems(text=one.what), statement_clauses.stems(text=one.unless))
            for one in said.rejected
        )
    return _ReadMemory(
        memory=memory,
        rejected=tuple(pair for pair in rejected if pair[0]),
        stems=stems,
        affirmed=statement_clauses.stems(text=said.affirmed),
        named=statement_clauses.names(text=memory.content),
        values=statement_clauses.quantities(text=said.affirmed),
    )


def _finding(memory: CheckedMemory, work: _Work, relevant: frozenset[int]) -> MemoryFinding | None:
    """Return how a memory meets the parts that it is anchored to; others are not compared."""
    near = work.near(memory=memory)
    anchored = sorted(near | relevant)
    if not anchored:
        return None
    read = _read(memory)
    met = [
        (found, work.parts[number])
        for number in anchored
        if (found := _match(read, work, number, number in relevant, number in near)) is not None
    ]
    if not met:
        return None
    best, _ = min(met, key=lambda pair: (_ORDER[pair[0].level], -pair[0].score))
    why = best.level, best.why
    where = tuple(dict.fromkeys(part.place for one, part in met if (one.level, one.why) == why))
    is_doubted = best.level is Level.STOP and not memory.may_stop
    return MemoryFinding(
        memory_id=memory.id,
        level=Level.CAUTION if is_doubted else best.level,
        why=best.why,
        places=where[:PLACES_MOST],
        matched=tuple(sorted(best.matched)),
        missing=best.missing,
        score=round(best.score, 4),
    )


def _match(
    read: _ReadMemory, work: _Work, number: int, is_relevant: bool, is_near: bool
) -> _Match | None:
    type, part = read.memory.type, work.parts[number]
    if type is MemoryType.CAUSAL_DEPENDENCY:
        return _left_behind(read, part, work) if is_near else None
    heavy = _heaviest(read, part, is_relevant)
    if heavy is not None:
        return heavy
    shared = part.proposes & read.stems
    if is_near and type in _WARNING:
        why = FindingReason.OF_THE_FILE
    elif is_relevant and not part.is_code and len(shared) > 1:
        why = FindingReason.RELEVANT
    else:
        return None
    return _Match(level=Level.NOTE, why=why, score=len(shared) / 100, matched=shared)


def _heaviest(read: _ReadMemory, part: WorkPart, is_relevant: bool) -> _Match | None:
    """Return how a part is against what binds, or does again what led nowhere."""
    type, heavy = read.memory.type, None
    if type in _BINDING or type is MemoryType.DEAD_END:
        against = (_against(read, what, unless, part) for what, unless in read.rejected)
        heavy = max(filter(None, against), key=lambda one: one.score, default=None)
    if heavy is None and type in _BINDING and is_relevant:
        heavy = _taken(read, part) or _other_value(read, part)
    return heavy


def _against(
    read: _ReadMemory, what: frozenset[str], unless: frozenset[str], part: WorkPart
) -> _Match | None:
    """Return that a part is for what a clause of a memory is against."""
    is_dead_end = read.memory.type is MemoryType.DEAD_END
    done = part.proposes.union(*part.taken) if is_dead_end else part.proposes
    shared = what & done
    if unless & part.proposes:
        return None
    share, is_long = len(shared) / len(what), len(shared) >= LONG
    least = COVERAGE_LONG if is_long else statement_clauses.COVERAGE
    if share >= least and _is_telling(read, part, shared):
        why = FindingReason.TRIED if is_dead_end else FindingReason.DECIDED_AGAINST
        return _Match(level=Level.STOP, why=why, score=share, matched=shared)
    if is_dead_end and is_long and share >= PARTLY:
        return _Match(
            level=Level.CAUTION, why=FindingReason.TRIED_IN_PART, score=share, matched=shared
        )
    return None


def _is_telling(read: _ReadMemory, part: WorkPart, shared: frozenset[str]) -> bool:
    """Say whether stems of a clause tell of it: two, one that is a name, or one in its place."""
    is_in_place = len(part.stems & read.stems) > 1
    return len(shared) > 1 or is_in_place or bool(shared & (part.named | read.named))


def _taken(read: _ReadMemory, part: WorkPart) -> _Match | None:
    """Return that a part takes away what a memory is for."""
    for what in part.taken:
        shared = what & read.affirmed
        share = len(shared) / len(what)
        is_telling = len(shared) > 1 or bool(shared & read.named)
        if is_telling and share >= statement_clauses.COVERAGE:
            return _Match(
                level=Level.CAUTION, why=FindingReason.TAKES_AWAY, score=share, matched=shared
            )
    return None


def _other_value(read: _ReadMemory, part: WorkPart) -> _Match | None:
    """Return that a part has nearly the same text with another number of the same unit."""
    differ = any(
        part.values[unit].isdisjoint(read.values[unit])
        for unit in part.values.keys() & read.values.keys()
    )
    shared = part.proposes & read.stems
    if not differ or len(shared) < LONG - 1 or len(shared) < SAME_FRAME * len(part.proposes):
        return None
    return _Match(level=Level.CAUTION, why=FindingReason.OTHER_VALUE, score=0.5, matched=shared)


def _left_behind(read: _ReadMemory, part: WorkPart, work: _Work) -> _Match | None:
    """Return that a part touches the first of coupled files, and the work none of another."""
    files = read.memory.files
    if not files or not any(is_about(one=file, other=files[0]) for file in part.files):
        return None
    missing = tuple(own for own in files[1:] if not work.about(path=own))
    if not missing:
        return None
    return _Match(level=Level.CAUTION, why=FindingReason.LEFT_BEHIND, score=0.5, missing=missing)
