"""Findings of a check: what stops the work, what calls for caution, what to note.

The idea: what is near in meaning touches a part, and is noted; it warns only where its own words,
and not merely its subject, show that the part goes against it. Vectors do not tell which side of a
memory a part is on: closeness to what a memory is against, alone or less the closeness to what it
is for, told violations from right steps in 57 of 100 pairs of steps (all-minilm-l6-v2), a coin 50.

- **Stop**: a part is for what a dead end tried, or for what a decision or a requirement is against.
- **Caution**: a part takes away what a decision or requirement is for, or names another value; a
  dead end is met in part; a file changes and what changes with it does not; what would stop the
  work, were it not uncertain, stale or contradicted.
- **Note**: traps and errors of a file that is touched, which come first; what the search finds
  relevant to a step. Notes never change the verdict.

Tests are how one finds out, and no approach: a dead end that says no more than which tests failed
stops nobody, and no dead end stops running them.

To be met, enough of a clause's stems (`COVERAGE`) must stand in what a part proposes, two of them
or one that is a name, and not all of them in what the same sentence is for; and the memory must be
anchored: found relevant by the calibrated search, or about a file of the part. A name of code that
only the rejected side has is enough where half of its clause meets (`NAMED`). Words alone, a
subject alone, or a name alone are no finding: of a clause that says more than names of code, a part
must share some of what it says besides. A word in capitals (SQL, API) is such a name only where the
memory writes it as code or the clause says no more.

What takes something away is against, or repeats, only what is about taking that away: “Replacing
moment with dayjs” is met by what replaces moment. Thresholds are fitted on the train half of the
labelled checks (`tests/bench/bench_checks.py`). No model is asked.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.checks.work import PartLocation, WorkPart
from memory.extraction import extract
from memory.records import statement_clauses
from memory.sessions import tools
from memory.taxonomy import MemoryType
from memory.text import globs

COVERAGE_LONG: Final = 0.45  # of a clause, where so many stems meet as LONG says; fitted
LONG: Final = 3  # stems
PARTLY: Final = 0.34  # of what a dead end tried, from which it is met in part; fitted
NAMED: Final = 0.5  # of a clause, where a name of code meets that only the clause has; fitted
SURE: Final = 0.5  # effective confidence below which nothing is stopped; default
SAME_FRAME: Final = 0.5  # of a part's stems that must be the memory's for values to differ; fitted
CLAUSES_MOST: Final = 30  # that a memory is against; default
PLACES_MOST: Final = 5  # of one finding; default
FINDINGS_MOST: Final = 20  # default
NOTES_MOST: Final = 10  # default


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """How the search found a memory for a part: its relevance, 0..1, and whether that is enough."""

    relevance: float
    is_relevant: bool


Near = Mapping[UUID, Mapping[int, Nearness]]  # by memory the parts that it was found for, from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    level: Level
    why: FindingReason
    score: float
    matched: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rejected:
    """What a memory is against, in stems; `affirmed` are those of what its sentence is for.

    `names` of code are only what it is against; `beside_names` is what it says besides its names;
    `taken` is what it is against taking away.
    """

    what: frozenset[str]
    unless: frozenset[str]
    names: frozenset[str]
    beside_names: frozenset[str]
    affirmed: frozenset[str]
    taken: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadMemory:
    """A memory, taken apart once."""

    memory: CheckedMemory
    rejected: tuple[_Rejected, ...]
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


_WHOLE_WORD: Final = re.compile(r"\w+")
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
    *, parts: tuple[WorkPart, ...], memories: Iterable[CheckedMemory], near: Near
) -> CheckJudgment:
    """Judge parts of work by the memories about them."""
    work = _Work(parts=parts)
    found = [
        finding
        for one in sorted(memories, key=lambda each: each.id)
        if (finding := _finding(one, work, near.get(one.id, {}))) is not None
    ]
    vague = FindingReason.RELEVANT  # behind what is known of a touched file
    found.sort(key=lambda one: (_ORDER[one.level], one.why is vague, -one.score, one.memory_id))
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
    clauses: tuple[statement_clauses.Rejected, ...] = said.rejected
    if memory.type is MemoryType.DEAD_END:
        tried = memory.approach or statement_clauses.approach(content=memory.content)
        is_telling = not statement_clauses.names_only_a_file(approach=tried)
        tried = tried if is_telling and not tools.names_a_test_run(text=tried) else ""
        clauses = (statement_clauses.rejected(clause=tried),)
    return _ReadMemory(
        memory=memory,
        rejected=tuple(
            found for one in clauses[:CLAUSES_MOST] if (found := _rejected(one, memory)).what
        ),
        stems=statement_clauses.stems(text=memory.content),
        affirmed=statement_clauses.stems(text=said.affirmed),
        named=statement_clauses.names(text=memory.content),
        values=statement_clauses.quantities(text=said.affirmed),
    )


def _rejected(clause: statement_clauses.Rejected, memory: CheckedMemory) -> _Rejected:
    """Read a clause; a name that its sentence affirms too does not tell which side is meant.

    A file does not say what was tried, only where.
    """
    if memory.type is MemoryType.DEAD_END:
        beside = " ".join((*memory.files, *extract.files_in(text=clause.what)))
    else:
        beside = statement_clauses.affirmed_beside(text=memory.content, clause=clause.what)
    what = statement_clauses.stems(text=clause.what)
    named = statement_clauses.code_names(clause=clause.what)
    others = statement_clauses.identifiers(text=beside)
    others |= statement_clauses.identifiers(text=clause.taken)
    return _Rejected(
        what=what,
        unless=statement_clauses.stems(text=clause.unless),
        names=frozenset(
            name for name in named if not statement_clauses.holds_name(named=others, name=name)
        ),
        beside_names=statement_clauses.beside_names(clause=clause.what),
        affirmed=statement_clauses.stems(text=beside),
        taken=what & statement_clauses.stems(text=clause.taken),
    )


def _finding(
    memory: CheckedMemory, work: _Work, found: Mapping[int, Nearness]
) -> MemoryFinding | None:
    """Return how a memory meets the parts that it is anchored to; others are not compared."""
    of_files = work.near(memory=memory)
    anchored = sorted(of_files | _relevant_parts(found))
    if not anchored:
        return None
    read = _read(memory)
    met = [
        (match, work.parts[number])
        for number in anchored
        if (match := _match(read, work, number, found.get(number), number in of_files)) is not None
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


def _relevant_parts(found: Mapping[int, Nearness]) -> frozenset[int]:
    """Return the parts that a memory is relevant to; a search finds also what is merely nearest."""
    return frozenset(number for number, one in found.items() if one.is_relevant)


def _match(
    read: _ReadMemory, work: _Work, number: int, found: Nearness | None, is_near: bool
) -> _Match | None:
    type, part = read.memory.type, work.parts[number]
    if type is MemoryType.CAUSAL_DEPENDENCY:
        return _left_behind(read, part, work) if is_near else None
    is_relevant = found is not None and found.is_relevant
    heavy = _heaviest(read, part, is_relevant)
    if heavy is not None:
        return heavy
    shared = part.proposes & read.stems
    if is_near and type in _WARNING:
        return _Match(
            level=Level.NOTE, why=FindingReason.OF_THE_FILE, score=len(shared) / 100, matched=shared
        )
    if found is None or not is_relevant or part.is_code:
        return None
    return _Match(
        level=Level.NOTE, why=FindingReason.RELEVANT, score=found.relevance, matched=shared
    )


def _heaviest(read: _ReadMemory, part: WorkPart, is_relevant: bool) -> _Match | None:
    """Return how a part is against what binds, or does again what led nowhere."""
    type, heavy = read.memory.type, None
    if type in _BINDING or type is MemoryType.DEAD_END:
        against = (_against(read, one, part) for one in read.rejected)
        heavy = max(filter(None, against), key=lambda one: one.score, default=None)
    if heavy is None and type in _BINDING and is_relevant:
        heavy = _taken(read, part) or _other_value(read, part)
    return heavy


def _against(read: _ReadMemory, against: _Rejected, part: WorkPart) -> _Match | None:
    """Return that a part is for what a clause of a memory is against.

    Tests are how one finds out: to run them repeats no dead end.
    """
    is_dead_end = read.memory.type is MemoryType.DEAD_END
    if against.unless & part.proposes or (is_dead_end and part.runs_tests):
        return None
    shared = _shared(against, part, is_dead_end)
    share = len(shared) / len(against.what)
    is_met = _is_met(read, against, part, shared) or _is_named(against, part, share)
    if is_met and _is_beyond_names(against, part, shared):
        why = FindingReason.TRIED if is_dead_end else FindingReason.DECIDED_AGAINST
        return _Match(level=Level.STOP, why=why, score=share, matched=shared)
    return _in_part(shared, share) if is_dead_end else None


def _shared(against: _Rejected, part: WorkPart, is_dead_end: bool) -> frozenset[str]:
    """Return the stems of a clause that a part is for.

    What is against taking something away is met by what takes it away, and by nothing else. Work
    that repeats such a dead end may also say of it what the dead end did with something else.
    """
    away = frozenset().union(*part.taken)
    taken = against.taken & away
    if is_dead_end and taken:
        return against.what & (part.proposes | away)
    return taken | ((against.what - against.taken) & part.proposes)


def _in_part(shared: frozenset[str], share: float) -> _Match | None:
    """Return that a part repeats much of what a dead end tried."""
    if len(shared) < LONG or share < PARTLY:
        return None
    return _Match(level=Level.CAUTION, why=FindingReason.TRIED_IN_PART, score=share, matched=shared)


def _is_met(read: _ReadMemory, against: _Rejected, part: WorkPart, shared: frozenset[str]) -> bool:
    """Say whether stems that a part shares with a clause are enough of it, and of no other side."""
    is_side = read.memory.type is MemoryType.DEAD_END or bool(shared - against.affirmed)
    least = COVERAGE_LONG if len(shared) >= LONG else statement_clauses.COVERAGE
    is_enough = len(shared) >= least * len(against.what)
    return is_side and is_enough and _is_telling(read, part, shared)


def _is_named(against: _Rejected, part: WorkPart, share: float) -> bool:
    """Say whether a part is for a name of code that only the rejected side of a memory has."""
    held = (statement_clauses.holds_name(named=part.identifiers, name=one) for one in against.names)
    return share >= NAMED and any(held)


def _is_beyond_names(against: _Rejected, part: WorkPart, shared: frozenset[str]) -> bool:
    """Say whether a part shares more of a clause than names of code, where the clause has more.

    “Never mutate state.items” is not against whatever else is done with them. Where a clause is one
    word of code, a part must have that word whole: `KEYS` is not in `cache_keys`.
    """
    if against.beside_names:
        return bool(shared & against.beside_names)
    named = part.identifiers | frozenset(_WHOLE_WORD.findall(part.text.lower()))
    words = [name for name in against.names if "_" not in name and "." not in name]
    held = (statement_clauses.holds_name(named=named, name=name) for name in words)
    return not words or any(held)


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
