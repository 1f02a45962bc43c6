"""Memories that only many sessions together justify: which are due, and what they say.

Each is done once: its key is in the log before anybody is told of its memories. All of it waits for
review. Templates say what the sums alone justify. A model may draft from the sums of a module,
told as numbered facts between two marks that nobody can have known. A draft is taken only where it
says what the facts that it names say: no file, number or name that they have not, their negations,
and most of their words; a draft of a type with fields has those of such a fact. Everything else is
dropped and counted: nothing is guessed from a broken answer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from memory.extraction.prompts.schemas import SYNTHESIZED
from memory.intake.validation import PAYLOADS
from memory.observer import detections, phrasing
from memory.observer.signals import failures
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
FACTS_MOST: Final = 30  # of a module, the strongest
KIND_MOST: Final = 12  # of files, edges or errors, those of most sessions
CITED_MOST: Final = 4  # facts that a draft rests on
SESSIONS_LEAST: Final = 2  # of what is told as a fact
LONGEST_FACT: Final = 600  # characters of one in a call

OfRow = TypeVar("OfRow", FileRow, EdgeRow, ErrorRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a synthesis is known by in the log; a weekly one names both modules and threshold 0."""

    module: str
    threshold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One memory that the statistics justify, for review."""

    type: MemoryType
    content: str
    files: tuple[str, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)
    confidence: float = CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is known of one module: its row, its files, edges inside of it, errors met in it."""

    module: ModuleRow
    files: tuple[FileRow, ...]
    edges: tuple[EdgeRow, ...]
    errors: tuple[ErrorRow, ...]


def due(*, module: ModuleRow, done: frozenset[Key]) -> Key | None:
    """Return the highest threshold that a module has reached and nobody synthesized; else None.

    A module that reached several at once is synthesized once, for the highest: it holds the others.
    """
    reached = [threshold for threshold in THRESHOLDS if threshold <= module.sessions]
    highest = reached[-1] if reached else 0
    key = Key(module=module.module, threshold=highest)
    return key if highest and key not in done else None


def of_module(*, summary: Summary) -> tuple[Draft, ...]:
    """Return what the statistics of a module justify, at most five, the strongest kinds first."""
    drafts = (
        *_prefetch(summary),
        *_couplings(summary),
        *_errors(summary.errors),
        *_calibration(summary.module),
    )
    return drafts[:DRAFTS_MOST]


def weekly(
    *,
    edges: Iterable[EdgeRow],
    pairs: Iterable[PairRow],
    known: frozenset[tuple[str, str]],
    done: frozenset[Key],
) -> tuple[tuple[Key, Draft], ...]:
    """Return pairs of modules that change together and that no causal dependency names yet.

    `pairs` count the sessions of two modules through whichever files, where any counted them;
    `known` holds the pairs that one names, in alphabetical order.
    """
    sessions = {(one.first, one.second): one.sessions for one in pairs}
    by_pair: dict[tuple[str, str], list[EdgeRow]] = {}
    for edge in edges:
        pair = counters.modules_of(edge=edge)
        if pair[0] != pair[1] and pair not in known:
            by_pair.setdefault(pair, []).append(edge)
    often = {
        pair: max(sessions.get(pair, 0), *(edge.sessions for edge in met))
        for pair, met in by_pair.items()
    }
    found = (
        (Key(module="|".join(pair), threshold=0), _pair(pair, often[pair], met))
        for pair, met in sorted(by_pair.items(), key=lambda item: (-often[item[0]], item[0]))
        if often[pair] >= PAIR_SESSIONS
    )
    return tuple(each for each in found if each[0] not in done)[:PAIRS_MOST]


def is_of(*, module: str, error: ErrorRow, paths: frozenset[str]) -> bool:
    """Say whether an error belongs to a module: it names a file of it, or a change there helped."""
    if any(path in error.message for path in paths):
        return True
    helped = (path for how in error.hows for path in failures.changed(how=how))
    return any(file_paths.module(path=path) == module for path in helped)


def _prefetch(summary: Summary) -> tuple[Draft, ...]:
    module = summary.module
    always = counters.shares(module=module, files=summary.files, above=counters.ALWAYS_ABOVE)
    often = counters.shares(module=module, files=summary.files, above=counters.OFTEN_ABOVE)
    if not always:
        return ()
    attributes = {
        "always_read": always,
        "often_read": tuple(path for path in often if path not in always),
        "trigger_module": module.module or "project",
        "sessions": module.sessions,
    }
    content = f"Work on {_name(module)} reads {', '.join(always)} in nearly every session."
    draft = Draft(
        type=MemoryType.PREFETCH_PATTERN, content=content, files=always, attributes=attributes
    )
    return (draft,)


def _couplings(summary: Summary) -> tuple[Draft, ...]:
    rows = {row.path: row for row in summary.files}
    strong: list[EdgeRow] = []
    for edge in summary.edges:
        first, second = rows.get(edge.first), rows.get(edge.second)
        if first is None or second is None or edge.sessions < STRONG_SESSIONS:
            continue
        if counters.weight(edge=edge, first=first, second=second) >= STRONG_WEIGHT:
            strong.append(edge)
    drafts: list[Draft] = []
    for edge in sorted(strong, key=lambda edge: (-edge.sessions, edge.first, edge.second))[:2]:
        directed = counters.direction(edge=edge)
        one, other = directed or (edge.first, edge.second)
        said = f"{one} and {other} change together"
        if directed:
            said = f"A change of {one} comes with a change of {other}"
        content = f"{said} ({edge.sessions} sessions)."
        drafts.append(Draft(type=MemoryType.CAUSAL_DEPENDENCY, content=content, files=(one, other)))
    return tuple(drafts)


def _errors(errors: Iterable[ErrorRow]) -> tuple[Draft, ...]:
    again = [row for row in errors if row.sessions >= ERROR_SESSIONS and row.hows]
    ordered = sorted(again, key=lambda row: (-row.sessions, row.fingerprint))
    return tuple(
        Draft(
            type=MemoryType.ERROR_PATTERN,
            content=f"“{row.message}” comes up again and again ({row.sessions} sessions); "
            f"it went through {row.usual_way}.",
            files=failures.changed(how=row.usual_way),
        )
        for row in ordered[:2]
    )


def _calibration(module: ModuleRow) -> tuple[Draft, ...]:
    ratio = module.actual / module.planned if module.planned else 1.0
    if module.samples < CALIBRATION_SAMPLES or abs(ratio - 1) < CALIBRATION_OFF:
        return ()
    attributes = {
        "module": module.module or "project",
        "planned": module.planned,
        "actual": module.actual,
        "ratio": round(ratio, 2),
        "samples": module.samples,
    }
    content = f"Work on {_name(module)} takes {ratio:.1f} times the steps planned."
    draft = Draft(
        type=MemoryType.TASK_CALIBRATION, content=content, files=(), attributes=attributes
    )
    return (draft,)


def _name(module: ModuleRow) -> str:
    return module.module or "the project"


def _pair(pair: tuple[str, str], sessions: int, met: list[EdgeRow]) -> Draft:
    strongest = max(met, key=lambda edge: (edge.sessions, edge.first, edge.second))
    one, other = (module or "the top folder" for module in pair)
    return Draft(
        type=MemoryType.CAUSAL_DEPENDENCY,
        content=f"Work on {one} and on {other} goes together ({sessions} sessions): "
        f"{strongest.first} and {strongest.second}.",
        files=(strongest.first, strongest.second),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What the sums say in a sentence; `type` and `attributes` where it is a memory by itself."""

    says: str
    files: tuple[str, ...]
    type: MemoryType | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


def facts(*, summary: Summary) -> tuple[Fact, ...]:
    """Return what is told of a module: what templates say of it first, then what was counted."""
    found = [
        Fact(says=one.content, files=one.files, type=one.type, attributes=one.attributes)
        for one in of_module(summary=summary)
    ]
    for error in _strongest(summary.errors):
        way = error.usual_way
        helped = f"; it went through {way}" if way else f"; {error.resolved} times it went through"
        says = f"“{error.message}” came up in {error.sessions} sessions{helped}."
        found.append(Fact(says=says, files=failures.changed(how=way)))
    for edge in _strongest(summary.edges):
        says = (
            f"{edge.first} and {edge.second} were worked on together in {edge.sessions} sessions."
        )
        found.append(Fact(says=says, files=(edge.first, edge.second)))
    for row in _strongest(summary.files):
        changed = f" and changed {row.edits} times" if row.edits else ""
        total = summary.module.sessions
        says = f"{row.path} was touched in {row.sessions} of {total} sessions{changed}."
        found.append(Fact(says=says, files=(row.path,)))
    return tuple(found[:FACTS_MOST])


def written_facts(*, module: str, told: tuple[Fact, ...], nonce: str) -> str:
    """Return the facts between their marks, without secrets."""
    head = phrasing.written_json({"module": module or "the project"}, nonce)
    lines: list[str] = []
    for number, fact in enumerate(told, 1):
        type = {} if fact.type is None else {"type": fact.type.value}
        body = phrasing.written_json({**type, "files": fact.files, "says": fact.says}, nonce)
        lines.append(f"[fact {number}]\n{body[:LONGEST_FACT]}")
    return "\n".join((f"<<<{nonce}", head[:LONGEST_FACT], *lines, f"{nonce}>>>"))


def read_drafts(
    *, data: Mapping[str, Any], told: tuple[Fact, ...]
) -> tuple[tuple[Draft, ...], Counter[str]]:
    """Return the drafts that hold, at most five, and how many were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[str, Draft] = {}
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


def _strongest(rows: tuple[OfRow, ...]) -> tuple[OfRow, ...]:
    often = [one for one in rows if one.sessions >= SESSIONS_LEAST]
    return tuple(sorted(often, key=lambda one: (-one.sessions, str(one)))[:KIND_MOST])


def _checked(entry: Any, told: tuple[Fact, ...]) -> Draft | str:
    """Return a draft, or why it is dropped."""
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        return "draft_shape"
    cited = _cited(entry.get("facts"), told)
    if not cited:
        return "draft_facts"
    if entry.get("type") not in SYNTHESIZED:
        return "draft_type"
    type, text = MemoryType(entry["type"]), " ".join(entry["text"].split())
    payload = next((one.attributes for one in cited if one.type is type), {})
    if type in PAYLOADS and not payload:
        return "draft_type"
    files = tuple(dict.fromkeys(path for one in cited for path in one.files))
    said = " ".join((*(one.says for one in cited), *files))
    content = Draft(
        type=type, content=text, files=files[: detections.FILES_MOST], attributes=payload
    )
    return phrasing.fault(text=text, said=said) or content


def _cited(numbers: Any, told: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return the facts of an answer's numbers; none where one of them is no fact's."""
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= CITED_MOST:
        return ()
    known = range(1, len(told) + 1)
    is_right = all(type(one) is int and one in known for one in numbers)
    return tuple(told[one - 1] for one in dict.fromkeys(numbers)) if is_right else ()
