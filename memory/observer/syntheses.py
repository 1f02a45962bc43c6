"""Memories that only many sessions together justify: which are due, and what they say.

Each is done once: its key is in the log before anybody is told of its memories. All of it waits for
review. Templates say what the sums alone justify. A model may draft from the sums of a module,
told as numbered facts between two marks that nobody can have known. A draft is taken only where it
says what the facts that it names say: no file, number or name that they have not, their negations,
and most of their words; a draft of a type with fields has those of such a fact. Everything else is
dropped and counted: nothing is guessed from a broken answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, TypeVar

from memory.extraction import model_answers
from memory.intake.validation import PAYLOADS
from memory.observer import detections
from memory.sessions import counters, file_paths
from memory.sessions.counters import EdgeRow, ErrorRow, FileRow, ModuleRow, PairRow
from memory.taxonomy import MemoryType

THRESHOLDS: Final = (5, 10, 20, 50, 100)  # sessions of a module
DRAFTS_MOST: Final = 5  # a synthesis
STRONG_SESSIONS: Final = 3  # of an edge
ERROR_SESSIONS: Final = 2
CALIBRATION_SAMPLES: Final = 3

# Defaults, not measured.
STRONG_WEIGHT: Final = 0.5  # of an edge
CALIBRATION_OFF: Final = 0.2  # from 1, below which a plan was good enough
PAIR_SESSIONS: Final = 5  # of two modules
PAIRS_MOST: Final = 10  # of one week
CONFIDENCE: Final = 0.6  # before a person has looked
_QUOTED: Final = re.compile(r"`[^`]*`")
FACTS_MOST: Final = 30  # of a module, the strongest
KIND_MOST: Final = 12  # of files, edges or errors, those of most sessions
CITED_MOST: Final = 4  # facts that a draft rests on
SESSIONS_LEAST: Final = 2  # of what is told as a fact
LONGEST_FACT: Final = 600  # characters of one in a call

OfRow = TypeVar("OfRow", FileRow, EdgeRow, ErrorRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class SumStatement:
    """What sums justify, in a sentence; a mere count (`FACT`) is no memory by itself."""

    content: str
    files: tuple[str, ...]
    type: MemoryType = MemoryType.FACT
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is known of one module: its row, its files, edges inside of it, errors met in it."""

    module: ModuleRow
    files: tuple[FileRow, ...]
    edges: tuple[EdgeRow, ...]
    errors: tuple[ErrorRow, ...]


def due(*, module: ModuleRow, done: frozenset[str]) -> str:
    """Return the key of the highest threshold that a module has reached and nobody synthesized.

    Empty where there is none. A module that reached several at once is synthesized once, for the
    highest: it holds the others.
    """
    highest = max((one for one in THRESHOLDS if one <= module.sessions), default=0)
    key = counters.key_of(text=f"{highest}:{module.module}")
    return key if highest and key not in done else ""


def of_module(*, summary: Summary) -> tuple[SumStatement, ...]:
    """Return what the statistics of a module justify, at most five, the strongest kinds first."""
    drafts = (
        *_prefetch(summary),
        *_couplings(summary),
        *_errors(summary),
        *_calibration(summary.module),
    )
    return drafts[:DRAFTS_MOST]


def weekly(
    *,
    edges: Iterable[EdgeRow],
    pairs: Iterable[PairRow],
    known: frozenset[tuple[str, str]],
    done: frozenset[str],
) -> tuple[tuple[str, SumStatement], ...]:
    """Return pairs of modules that change together and that no causal dependency names yet.

    `pairs` count the sessions of two modules through whichever files, where any counted them;
    `known` holds the pairs that one names, in alphabetical order. A pair has threshold 0.
    """
    sessions = {(one.first, one.second): one.sessions for one in pairs}
    by_pair = detections.group((counters.modules_of(edge=edge), (edge,)) for edge in edges)
    often = {
        pair: max(sessions.get(pair, 0), *(edge.sessions for edge in met))
        for pair, met in by_pair.items()
        if pair[0] != pair[1] and pair not in known
    }
    found: list[tuple[str, SumStatement]] = []
    for pair, count in sorted(often.items(), key=lambda item: (-item[1], item[0])):
        key = counters.key_of(text=f"0:{'|'.join(pair)}")
        if count >= PAIR_SESSIONS and key not in done:
            found.append((key, _pair_statement(pair, count, by_pair[pair])))
    return tuple(found[:PAIRS_MOST])


def _pair_statement(pair: tuple[str, str], count: int, edges: list[EdgeRow]) -> SumStatement:
    strongest = max(edges, key=lambda edge: (edge.sessions, edge.first, edge.second))
    one, other = (module or "the top folder" for module in pair)
    return SumStatement(
        type=MemoryType.CAUSAL_DEPENDENCY,
        content=f"Work on {one} and on {other} goes together ({count} sessions): "
        f"{strongest.first} and {strongest.second}.",
        files=(strongest.first, strongest.second),
    )


def summarize(
    *,
    module: ModuleRow,
    files: Iterable[FileRow],
    edges: Iterable[EdgeRow],
    errors: Iterable[ErrorRow],
) -> Summary:
    """Return what is known of one module; an error without a message was forgotten."""
    name = module.module
    own = tuple(one for one in files if file_paths.module(path=one.path) == name)
    paths = frozenset(one.path for one in own)
    return Summary(
        module=module,
        files=own,
        edges=tuple(one for one in edges if {one.first, one.second} <= paths),
        errors=tuple(one for one in errors if one.message and _is_of(name, one, paths)),
    )


def _is_of(module: str, error: ErrorRow, paths: frozenset[str]) -> bool:
    """Say whether an error belongs to a module: it names a file of it, or a change there helped."""
    if any(path in error.message for path in paths):
        return True
    helped = (path for how in error.hows for path in _changed(how))
    return any(file_paths.module(path=path) == module for path in helped)


def _prefetch(summary: Summary) -> Iterator[SumStatement]:
    module = summary.module
    always = counters.shares(module=module, files=summary.files, above=counters.ALWAYS_ABOVE)
    often = counters.shares(module=module, files=summary.files, above=counters.OFTEN_ABOVE)
    if always and len(summary.files) > 1:  # a module of one file reads it
        yield SumStatement(
            type=MemoryType.PREFETCH_PATTERN,
            content=f"Work on {module.module or 'the project'} reads {', '.join(always)} "
            "in nearly every session.",
            files=always,
            attributes={
                "always_read": always,
                "often_read": tuple(path for path in often if path not in always),
                "trigger_module": module.module or "project",
                "sessions": module.sessions,
            },
        )


def _couplings(summary: Summary) -> Iterator[SumStatement]:
    rows = {row.path: row for row in summary.files}
    strong = [
        edge
        for edge in summary.edges
        if edge.first in rows
        and edge.second in rows
        and edge.sessions >= STRONG_SESSIONS
        and counters.weight(edge=edge, first=rows[edge.first], second=rows[edge.second])
        >= STRONG_WEIGHT
    ]
    for edge in sorted(strong, key=lambda edge: (-edge.sessions, edge.first, edge.second))[:2]:
        directed = counters.direction(edge=edge)
        one, other = directed or (edge.first, edge.second)
        said = f"{one} and {other} change together"
        if directed:
            said = f"A change of {one} comes with a change of {other}"
        yield SumStatement(
            type=MemoryType.CAUSAL_DEPENDENCY,
            content=f"{said} ({edge.sessions} sessions).",
            files=(one, other),
        )


def _errors(summary: Summary) -> Iterator[SumStatement]:
    again = [row for row in summary.errors if row.sessions >= ERROR_SESSIONS and row.hows]
    for row in sorted(again, key=lambda row: (-row.sessions, row.fingerprint))[:2]:
        yield SumStatement(
            type=MemoryType.ERROR_PATTERN,
            content=f"“{row.message}” comes up again and again ({row.sessions} sessions): "
            f"{row.usual_way}.",
            files=_changed(row.usual_way),
        )


def _calibration(module: ModuleRow) -> Iterator[SumStatement]:
    ratio = module.actual / module.planned if module.planned else 1.0
    if module.samples >= CALIBRATION_SAMPLES and abs(ratio - 1) >= CALIBRATION_OFF:
        yield SumStatement(
            type=MemoryType.TASK_CALIBRATION,
            content=f"Work on {module.module or 'the project'} takes {ratio:.1f} times the steps "
            "planned.",
            files=(),
            attributes={
                "module": module.module or "project",
                "planned": module.planned,
                "actual": module.actual,
                "ratio": round(ratio, 2),
                "samples": module.samples,
            },
        )


def facts(*, summary: Summary) -> tuple[SumStatement, ...]:
    """Return what is told of a module: what templates say of it first, then what was counted."""
    found = [*of_module(summary=summary)]
    for error in _strongest(summary.errors):
        way = error.usual_way
        helped = f": {way}" if way else f"; {error.resolved} times it went through"
        says = f"“{error.message}” came up in {error.sessions} sessions{helped}."
        found.append(SumStatement(content=says, files=_changed(way)))
    for edge in _strongest(summary.edges):
        both = f"{edge.first} and {edge.second}"
        says = f"{both} were worked on together in {edge.sessions} sessions."
        found.append(SumStatement(content=says, files=(edge.first, edge.second)))
    total = summary.module.sessions
    for row in _strongest(summary.files):
        changed = f" and changed {row.edits} times" if row.edits else ""
        says = f"{row.path} was touched in {row.sessions} of {total} sessions{changed}."
        found.append(SumStatement(content=says, files=(row.path,)))
    return tuple(found[:FACTS_MOST])


def _changed(way: str) -> tuple[str, ...]:
    """Return the files that a way out of an error changed: those it names outside of commands."""
    words = (word.strip(",;:") for word in _QUOTED.sub("", way).split())
    return tuple(word for word in words if "/" in word or "." in word)


def _strongest(rows: tuple[OfRow, ...]) -> tuple[OfRow, ...]:
    often = [one for one in rows if one.sessions >= SESSIONS_LEAST]
    return tuple(sorted(often, key=lambda one: (-one.sessions, str(one)))[:KIND_MOST])


def written_facts(*, module: str, told: tuple[SumStatement, ...], nonce: str) -> str:
    """Return the facts between their marks, without secrets."""
    return model_answers.write_entries(
        name="fact",
        entries=(
            {
                **({} if one.type is MemoryType.FACT else {"type": one.type.value}),
                "files": one.files,
                "says": one.content,
            }
            for one in told
        ),
        nonce=nonce,
        longest=LONGEST_FACT,
        head={"module": module or "the project"},
    )


def read_drafts(
    *, data: Mapping[str, Any], told: tuple[SumStatement, ...]
) -> tuple[tuple[SumStatement, ...], Counter[str]]:
    """Return the drafts that hold, at most five, and how many were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[str, SumStatement] = {}
    for entry in data["syntheses"]:
        checked = _checked(entry, told)
        if isinstance(checked, str):
            dropped[checked] += 1
        elif checked.content in found:
            dropped["draft_twice"] += 1
        elif len(found) == DRAFTS_MOST:
            dropped["over_bound"] += 1
        else:
            found[checked.content] = checked
    return tuple(found.values()), dropped


def _shape_fault(entry: Any, told: int) -> str:
    """Return what is wrong with the fields of a draft from so many facts, empty for nothing."""
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        return "draft_shape"
    numbers = entry.get("facts")
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= CITED_MOST:
        return "draft_facts"
    if not all(type(one) is int and 1 <= one <= told for one in numbers):
        return "draft_facts"
    return "" if entry.get("type") in model_answers.SYNTHESIZED else "draft_type"


def _checked(entry: Any, told: tuple[SumStatement, ...]) -> SumStatement | str:
    """Return a draft, or why it is dropped."""
    if fault := _shape_fault(entry, len(told)):
        return fault
    cited = tuple(told[one - 1] for one in dict.fromkeys(entry["facts"]))
    kind, text = MemoryType(entry["type"]), " ".join(entry["text"].split())
    payload: Mapping[str, object] = next((one.attributes for one in cited if one.type is kind), {})
    if kind in PAYLOADS and not payload:
        return "draft_type"
    files = tuple(dict.fromkeys(chain.from_iterable(one.files for one in cited)))
    said = " ".join((*(one.content for one in cited), *files))
    return model_answers.phrase_fault(text=text, said=said) or SumStatement(
        type=kind, content=text, files=files[: detections.FILES_MOST], attributes=payload
    )
