"""From what a session showed to what is worth keeping, as decisions.

validation → frequency → trust gate → confidence → words; novelty and the cap of the session's type
come behind, in `actions.offers`. Dead ends, failures of QA, commits and what the running product
showed come in beside the signals: they need one session.

A table by type of session says what must have happened before anything is promoted, and how much of
it may be. A long build is promoted piece by piece: once it has more than five subtasks, after each
that was validated.

What a session showed, and what became of each signal, is described at the end for people.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from memory.observer import dead_ends, detections, evidence_texts, tied_corrections
from memory.observer.detections import Sighting, SignalEvidence, SignalKind
from memory.records.formulas import TAINTED_FACTOR
from memory.sessions.events import Event, Outcome
from memory.sessions.scratchpad import Scratchpad, SessionType, Setting, taint_of
from memory.taxonomy import FIX, MemoryType, Source, source_row
from memory.text import text as texts

# The words of a signal come from templates: the same sighting always gives the same words, so that
# what two sessions show is recognized as one. A model may phrase it better later.

CONTENT_MOST: Final = 700  # characters; default, not measured
PART_MOST: Final = 240  # characters of one value in a sentence; default, not measured
SIGNALS: Final = Path(__file__).with_name("tables") / "signals.toml"
_SAID: Final = {
    SignalKind(kind): (MemoryType(type), template)
    for kind, (type, template) in texts.read_tables(file=SIGNALS).items()
}


def of_sighting(*, sighting: Sighting) -> tuple[MemoryType, str] | None:
    """Return what a sighting becomes, as type and content; None when it only counts.

    An error becomes nothing where nobody saw how it was overcome.
    """
    details, files = sighting.details, ", ".join(sighting.files)
    is_open = sighting.kind is SignalKind.ERROR_RETRY and not details.get("how")
    if sighting.kind not in _SAID or is_open:
        return None
    type, template = _SAID[sighting.kind]
    named = {name: _part(text) for name, text in details.items()}
    values = {
        **named,
        "how": details.get("how", ""),
        "files": files,
        "where": files or "the repository",
        "module": named.get("module") or "the project",
    }
    return type, template.format_map(values)[:CONTENT_MOST]


def _part(text: str) -> str:
    return " ".join(text.split())[:PART_MOST].rstrip(". ")


def _sentence(text: str) -> str:
    kept = " ".join(text.split())[:PART_MOST]
    return kept if not kept or kept.endswith((".", "!", "?")) else f"{kept}."


def _attributes(sighting: Sighting, type: MemoryType, sessions: int) -> Mapping[str, object]:
    """Return the fields of a calibration, of steps against the plan, and of an error its fix.

    An error has its fix, so that its author may be told before a review; other types have none.
    """
    if type is MemoryType.ERROR_PATTERN:
        return {FIX: _part(sighting.details["how"])}
    if type is not MemoryType.TASK_CALIBRATION:
        return {}
    planned, actual = int(sighting.details["planned"]), int(sighting.details["actual"])
    return {
        "module": sighting.details["module"] or "project",
        "planned": planned,
        "actual": actual,
        "ratio": round(actual / planned, 2),
        "samples": sessions,
    }


PIECEWISE_ABOVE: Final = 5  # subtasks of a build

# Defaults, not measured.
SUPPORT_BASE: Final = 0.9  # with just the sessions needed
SUPPORT_EACH: Final = 0.05  # for each session beyond
SUPPORT_MOST: Final = 4  # sessions beyond that count
CONFIDENCE_MOST: Final = 0.95  # as for trust from use
TASK_MOST: Final = 199  # characters of a task that says what a dead end was for, as it was not cut
DEAD_END_VALUE: Final = 0.8
QA_VALUE: Final = 0.75
CORRECTION_VALUE: Final = 0.75
COMMIT_VALUE: Final = 0.7
FAILED: Final = frozenset({Outcome.FAILURE, Outcome.ABANDONED})

SeenBefore = Mapping[tuple[SignalKind, str], int]


class Gate(StrEnum):
    """What must have happened."""

    QA_PASSED = "qa_passed"
    END = "end"
    SUCCESS = "success"  # a spec was accepted, a review is done
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """What a type of session waits for, and how many memories of which types (none: any) it may."""

    gate: Gate
    most: int
    types: frozenset[MemoryType] = frozenset()


_OF_ROADMAPS: Final = frozenset({MemoryType.DECISION, MemoryType.REQUIREMENT})
GATES: Final = {
    SessionType.BUILD: GateRow(gate=Gate.QA_PASSED, most=20),
    SessionType.INSIGHTS: GateRow(gate=Gate.END, most=5),
    SessionType.ROADMAP: GateRow(gate=Gate.END, most=3, types=_OF_ROADMAPS),
    SessionType.TERMINAL: GateRow(gate=Gate.END, most=5),
    SessionType.CHANGELOG: GateRow(gate=Gate.NEVER, most=0),
    SessionType.SPEC: GateRow(gate=Gate.SUCCESS, most=3),
    SessionType.PR_REVIEW: GateRow(gate=Gate.SUCCESS, most=8),
}


def of_turns(*, setting: Setting) -> GateRow | None:
    """Return the row that also holds for what a session's turns teach; None where none does.

    It is that of a roadmap: decisions and requirements are said, and no signal shows them.
    """
    row = GATES[setting.type]
    return row if row.types else None


def is_gate_open(*, scratchpad: Scratchpad, is_piece: bool = False) -> bool:
    """Say whether candidates of a session may be promoted now.

    What ended well was accepted. `is_piece`: a subtask of a long build was validated.
    """
    gate = GATES[scratchpad.setting.type].gate
    if gate is Gate.QA_PASSED:
        return is_piece or validated(scratchpad=scratchpad) > 0
    if gate is Gate.END:
        return scratchpad.outcome is not None
    return gate is Gate.SUCCESS and scratchpad.outcome is Outcome.SUCCESS


def is_of_qa(*, setting: Setting) -> bool:
    """Say whether QA decides; what failed is worth keeping there also where it never passed."""
    return GATES[setting.type].gate is Gate.QA_PASSED


def is_piecewise(*, setting: Setting) -> bool:
    """Say whether a session is a build of so many subtasks that it is promoted piece by piece."""
    return is_of_qa(setting=setting) and setting.planned_steps > PIECEWISE_ABOVE


def validated(*, scratchpad: Scratchpad) -> int:
    """Return the sequence of the report of QA that validated the last subtask; 0 where none did.

    The last report stands for all before it.
    """
    last = scratchpad.reports[-1] if scratchpad.reports else None
    return last.sequence if last and last.outcome is Outcome.SUCCESS else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCandidate:
    """What may become a memory; `key` tells it apart, `reason` says why it is tainted.

    `is_for_author`: fewer sessions have shown it than others need, and its author needs one.

    `confidence` is the base that is stored: what a taint leaves of it is computed on reading.
    """

    key: str
    type: MemoryType
    content: str
    confidence: float
    source: Source
    evidence: tuple[SignalEvidence, ...]
    reason: str = ""
    sessions: int = 1
    files: tuple[str, ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    is_unsure: bool = False
    is_for_author: bool = False
    commit: str = ""

    @property
    def needs_review(self) -> bool:
        """Whether a person must look first, however far they trust memory."""
        return bool(self.reason) or self.is_unsure

    @property
    def surety(self) -> float:
        """How sure it is by now, a taint included."""
        return self.confidence * TAINTED_FACTOR if self.reason else self.confidence


def confidence(*, value: float, sessions: int, needed: int, trust: float) -> float:
    """Compute C = min(0.95, V · T · (0.9 + 0.05 · min(sessions - needed, 4))), 0..1.

    V is the signal's value, T its source's trust. Raises ValueError for fewer sessions than needed.
    """
    beyond = sessions - needed
    if beyond < 0:
        raise ValueError(f"{sessions} sessions where {needed} are needed")
    support = SUPPORT_BASE + SUPPORT_EACH * min(beyond, SUPPORT_MOST)
    return min(CONFIDENCE_MOST, value * trust * support)


def propose(
    *,
    scratchpad: Scratchpad,
    seen: tuple[Sighting, ...],
    seen_before: SeenBefore,
    is_piece: bool = False,
    results: tuple[Event, ...] = (),
) -> tuple[ObservedCandidate, ...]:
    """Return what a session offers, surest first; while its gate is shut only what failed.

    `seen_before` counts earlier sessions that showed the same signal with the same key. `results`
    are those of tools that drive the running product. What failed is what QA reported and what the
    agent gave up, where QA decides; behind another gate nothing passes.
    """
    failures = (*_from_dead_ends(scratchpad), *_from_reports(scratchpad))
    found: tuple[ObservedCandidate, ...] = failures if is_of_qa(setting=scratchpad.setting) else ()
    if is_gate_open(scratchpad=scratchpad, is_piece=is_piece):
        found = (
            *_from_signals(scratchpad, seen, seen_before),
            *failures,
            *_from_corrections(scratchpad),
            *_from_commits(scratchpad),
            *_from_the_product(scratchpad, results),
        )
    allowed = GATES[scratchpad.setting.type].types
    fitting = {one.key: one for one in found if not allowed or one.type in allowed}
    return tuple(sorted(fitting.values(), key=lambda one: (-one.surety, one.key)))


def _shown_once(
    scratchpad: Scratchpad,
    source: Source,
    value: float,
    *evidence: SignalEvidence,
    files: tuple[str, ...] = (),
    **fields: Any,
) -> ObservedCandidate:
    """Return what one session by itself shows; `value` is what its kind is worth."""
    last = max((each.sequence for each in evidence), default=0)
    trust = source_row(source=source).trust_multiplier
    return ObservedCandidate(
        source=source,
        evidence=evidence,
        files=files[: detections.FILES_MOST],
        confidence=confidence(value=value, sessions=1, needed=1, trust=trust),
        reason=taint_of(last_sequence=last, scratchpad=scratchpad),
        **fields,
    )


def _from_signals(
    scratchpad: Scratchpad, seen: tuple[Sighting, ...], seen_before: SeenBefore
) -> Iterator[ObservedCandidate]:
    """Yield what becomes of the signals that enough sessions have shown."""
    if scratchpad.outcome in FAILED:
        return
    taken_back = _taken_back(seen)
    for sighting in seen:
        becomes = of_sighting(sighting=sighting)
        sessions = seen_before.get((sighting.kind, sighting.key), 0) + 1
        of_others = detections.sessions_needed(kind=sighting.kind, agents=len(sighting.agents))
        needed = min(sessions, of_others) if sighting.details.get("how") else of_others
        if becomes is None or sessions < needed or _is_of_failed(sighting, taken_back):
            continue
        type, content = becomes
        value = detections.value(kind=sighting.kind)
        trust = source_row(source=Source.OBSERVER_INFERRED).trust_multiplier
        yield ObservedCandidate(
            key=f"{sighting.kind.value}:{sighting.key}",
            type=type,
            content=content,
            files=sighting.files,
            confidence=confidence(value=value, sessions=sessions, needed=needed, trust=trust),
            source=Source.OBSERVER_INFERRED,
            reason=sighting.reason,
            sessions=sessions,
            evidence=sighting.evidence,
            attributes=_attributes(sighting, type, sessions),
            is_unsure=sighting.kind in detections.FOR_REVIEW,
            is_for_author=sessions < of_others,
        )


def _taken_back(seen: tuple[Sighting, ...]) -> dict[str, int]:
    """Return the files whose changes were taken back, with the last event of that."""
    backtracks = (one for one in seen if one.kind is SignalKind.BACKTRACK)
    return {path: one.last_sequence for one in backtracks for path in one.files}


def _is_of_failed(sighting: Sighting, taken_back: Mapping[str, int]) -> bool:
    """Say whether a signal rests only on work that was taken back afterwards."""
    if not sighting.files or not taken_back.keys() >= set(sighting.files):
        return False
    return sighting.last_sequence <= max(taken_back[path] for path in sighting.files)


def _from_dead_ends(scratchpad: Scratchpad) -> Iterator[ObservedCandidate]:
    """Yield what the agent gave up."""
    for found in dead_ends.find_dead_ends(scratchpad=scratchpad):
        tried, instead = _part(found.approach), _part(found.alternative)
        is_telling = len(found.task) <= TASK_MOST and not found.task.endswith(":")
        place = f"For “{_part(found.task)}”, " if found.task and is_telling else ""
        parts = (
            f"{place}{tried} did not work."
            if place
            else f"{tried[:1].upper()}{tried[1:]} did not work.",
            _sentence(f"{found.why_it_failed[:1].upper()}{found.why_it_failed[1:]}"),
            f"What came instead: {instead}." if instead else "",
        )
        content = " ".join(filter(None, parts))[:CONTENT_MOST]
        fields = {
            "approach": found.approach,
            "why_it_failed": found.why_it_failed,
            "alternative": found.alternative,
            "context": found.task,
        }
        yield _shown_once(
            scratchpad,
            Source.OBSERVER_INFERRED,
            DEAD_END_VALUE,
            *found.evidence,
            key=f"dead_end:{content}",
            type=MemoryType.DEAD_END,
            content=content,
            files=found.files,
            attributes={name: text for name, text in fields.items() if text.strip()},
        )


def _from_reports(scratchpad: Scratchpad) -> Iterator[ObservedCandidate]:
    """Yield the failures that QA reported."""
    for report in scratchpad.reports:
        if report.outcome is Outcome.FAILURE and report.text.strip():
            yield _shown_once(
                scratchpad,
                Source.QA_AUTO,
                QA_VALUE,
                SignalEvidence(sequence=report.sequence, step=0),
                key=f"qa_report:{report.text}",
                type=MemoryType.ERROR_PATTERN,
                content=f"QA found: {report.text.strip()}",
                files=report.files,
            )


def _from_corrections(scratchpad: Scratchpad) -> Iterator[ObservedCandidate]:
    """Yield what a person corrected of a command that the agent had just run."""
    for found in tied_corrections.find_corrections(scratchpad=scratchpad):
        content = f"{_part(found.says)} (said after the agent ran `{_part(found.command)}`)."
        yield _shown_once(
            scratchpad,
            Source.OBSERVER_INFERRED,
            CORRECTION_VALUE,
            *found.evidence,
            key=f"correction:{content}",
            type=MemoryType.CORRECTION,
            content=content,
            is_unsure=True,
        )


def _from_commits(scratchpad: Scratchpad) -> Iterator[ObservedCandidate]:
    """Yield what of the posted commits is worth keeping, of work that did not fail."""
    for commit in () if scratchpad.outcome in FAILED else scratchpad.commits:
        kept = evidence_texts.of_commit(message=commit.text)
        if kept is not None:
            type, content = kept
            yield _shown_once(
                scratchpad,
                Source.COMMIT_AUTO,
                COMMIT_VALUE,
                SignalEvidence(sequence=commit.sequence, step=0),
                key=f"commit:{content}",
                type=type,
                content=content,
                files=commit.files,
                is_unsure=True,  # right in two of three cases on foreign histories
                commit=commit.commit,
            )


def _from_the_product(
    scratchpad: Scratchpad, results: tuple[Event, ...]
) -> Iterator[ObservedCandidate]:
    """Yield what tools that drive the running product showed; a person looks at all of it."""
    for result in results:
        observed = evidence_texts.of_the_product(tool=result.name, result=result.text)
        if observed is not None:
            kind, content, attributes = observed
            yield _shown_once(
                scratchpad,
                Source.TOOL_AUTO,
                evidence_texts.PRODUCT_CONFIDENCE,
                SignalEvidence(sequence=result.sequence, step=result.step),
                key=f"end_to_end:{kind.value}:{content}",
                type=MemoryType.E2E_OBSERVATION,
                content=content,
                attributes=attributes,
                is_unsure=True,
            )


# What a session showed, in bounded JSON that a person can look through: which signals were seen, on
# what each rests, and of each that became nothing, why.

SEEN_MOST: Final = 60  # signals that are told one by one, the most valuable; default, not measured
TOLD_EVENTS: Final = 5  # events of each; default, not measured
_TOO_MANY: Final = frozenset({SignalKind.FILE_ACCESS.value, SignalKind.CO_ACCESS.value})
COUNTED: Final = ("applied", "unknown", "missing", "late", "orphans", "dropped")


class Why(StrEnum):
    """Why a signal became nothing."""

    GATE_SHUT = "gate_shut"
    STRENGTHENS = "only_strengthens"
    TOO_FEW = "too_few_sessions"
    TAKEN_BACK = "taken_back"
    OTHER_TYPES = "not_of_this_session_type"


def describe_session(*, scratchpad: Scratchpad) -> dict[str, Any]:
    """Return what is known of the session as a whole."""
    return {
        "counts": {name: getattr(scratchpad, name) for name in COUNTED},
        "steps": scratchpad.steps_taken,
        "tools": len(scratchpad.deeds),
        "outcome": scratchpad.outcome.value if scratchpad.outcome else "",
        "tainted_by": scratchpad.taint_reason,
        "task": scratchpad.task,
    }


def describe_signals(
    *,
    seen: tuple[Sighting, ...],
    before: SeenBefore,
    proposed: tuple[ObservedCandidate, ...],
    is_open: bool,
) -> dict[str, Any]:
    """Return signals by kind, the first one by one, and why others became nothing.

    Which files were used, and which together, is counted alone: there are too many of them.
    """
    offered = {candidate.key for candidate in proposed}
    taken_back = _taken_back(seen)
    told = tuple(
        _signal_row(one, before, _why(one, before, offered, taken_back, is_open=is_open))
        for one in seen
    )
    return {
        "signals": dict(Counter(one["kind"] for one in told)),
        "seen": [one for one in told if one["kind"] not in _TOO_MANY][:SEEN_MOST],
        "dropped": dict(Counter(one["why"] for one in told if one["why"])),
    }


def _last_events(rests: tuple[SignalEvidence, ...]) -> list[dict[str, Any]]:
    """Return the last events that something rests on."""
    return [asdict(one) for one in rests[-TOLD_EVENTS:]]


def _why(
    one: Sighting,
    before: SeenBefore,
    offered: set[str],
    taken_back: Mapping[str, int],
    *,
    is_open: bool,
) -> str:
    """Return why a signal became nothing; empty for one that was offered."""
    if f"{one.kind.value}:{one.key}" in offered:
        return ""
    if not is_open:
        return Why.GATE_SHUT
    if of_sighting(sighting=one) is None:
        return Why.STRENGTHENS
    needed = detections.sessions_needed(kind=one.kind, agents=len(one.agents))
    if before.get((one.kind, one.key), 0) + 1 < needed and not one.details.get("how"):
        return Why.TOO_FEW
    return Why.TAKEN_BACK if _is_of_failed(one, taken_back) else Why.OTHER_TYPES


def _signal_row(one: Sighting, before: SeenBefore, why: str) -> dict[str, Any]:
    becomes = of_sighting(sighting=one)
    return {
        "kind": one.kind.value,
        "key": one.key,
        "says": "" if becomes is None else becomes[1],
        "files": list(one.files),
        "times": one.times,
        "sessions": before.get((one.kind, one.key), 0) + 1,
        "tainted_by": one.reason,
        "why": str(why),
        "evidence": _last_events(one.evidence),
    }


def describe_promoted(
    *, candidate: ObservedCandidate, memory_id: str, outcome: str
) -> dict[str, Any]:
    """Return what became of a candidate, and on what it rests."""
    return {
        "key": candidate.key,
        "type": candidate.type.value,
        "memory_id": memory_id,
        "outcome": outcome,
        "confidence": round(candidate.confidence, 4),
        "sessions": candidate.sessions,
        "tier": "agent_after_external" if candidate.reason else "agent",
        "tainted_by": candidate.reason,
        "evidence": _last_events(candidate.evidence),
    }
