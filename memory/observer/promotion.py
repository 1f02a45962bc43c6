"""From what a session showed to what is worth keeping, as decisions.

validation → frequency → trust gate → confidence → words; then, once the caller knows how near each
is to what is stored, novelty and the cap of the session's type. Dead ends, failures of QA, commits
and what
the running product showed come in beside the signals: they need one session. A model may phrase
them better later; nothing waits for it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from memory.intake import integrate
from memory.intake.integrate import NOVELTY_COSINE
from memory.observer import commits, dead_ends, detections, gates, payloads, signal_table, wording
from memory.observer.detections import Evidence, Sighting
from memory.observer.gates import GATES, Progress
from memory.observer.signal_table import SignalKind
from memory.sessions import end_to_end, trust_gate
from memory.sessions.events import Event, Outcome
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.trust_gate import TrustTier
from memory.statistics import quorum
from memory.statistics.quorum import Seen, Witnessed
from memory.taxonomy import MemoryType, Source, source_row

SUPPORT_BASE: Final = 0.9  # with just the sessions needed, ours
SUPPORT_EACH: Final = 0.05  # for each session beyond, ours
SUPPORT_MOST: Final = 4  # sessions beyond that count, ours
CONFIDENCE_MOST: Final = 0.95  # ours, as for trust from use
DEAD_END_VALUE: Final = 0.8  # ours
QA_VALUE: Final = 0.75  # ours
COMMIT_VALUE: Final = 0.7  # ours
_FAILED: Final = frozenset({Outcome.FAILURE, Outcome.ABANDONED})

SeenBefore = Mapping[tuple[SignalKind, str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What may become a memory; `key` tells it apart, `reason` says why it is tainted.

    `confidence` is the base that is stored: what a taint leaves of it is computed on reading.
    """

    key: str
    type: MemoryType
    content: str
    files: tuple[str, ...]
    confidence: float
    source: Source
    tier: TrustTier
    reason: str
    sessions: int
    evidence: tuple[Evidence, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)
    is_unsure: bool = False
    commit: str = ""

    @property
    def needs_review(self) -> bool:
        """Whether a person must look first, however far they trust memory."""
        return bool(self.reason) or self.is_unsure

    @property
    def surety(self) -> float:
        """How sure it is by now, a taint included."""
        return trust_gate.gated(confidence=self.confidence, reason=self.reason).confidence


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
    scratchpads: tuple[Scratchpad, ...],
    seen: tuple[Witnessed, ...],
    seen_before: SeenBefore,
    progress: Progress,
    results: tuple[Event, ...] = (),
) -> tuple[Candidate, ...]:
    """Return what a session offers, surest first; while its gate is shut only what failed.

    The first scratchpad is the session's own, whose type and end decide; others are those of its
    parallel agents. `seen_before` counts earlier sessions that showed the same signal with the same
    key. `results` are those of tools that drive the running product. What failed is what QA
    reported and what the agent gave up, where QA decides; behind another gate nothing passes.
    """
    own = scratchpads[0]
    failures = (
        *(draft for one in scratchpads for draft in _from_dead_ends(one)),
        *(draft for one in scratchpads for draft in _from_reports(one)),
    )
    if gates.is_open(scratchpad=own, progress=progress):
        found = (
            *_from_signals(own, seen, seen_before),
            *failures,
            *(draft for one in scratchpads for draft in _from_commits(one)),
            *_from_the_product(own, results),
        )
    else:
        found = failures if gates.is_of_qa(setting=own.setting) else ()
    allowed = GATES[own.setting.type].types
    fitting = {
        draft.key: _candidate(draft) for draft in found if not allowed or draft.type in allowed
    }
    return tuple(sorted(fitting.values(), key=lambda one: (-one.surety, one.key)))


def choose(
    *,
    scratchpad: Scratchpad,
    proposed: tuple[Candidate, ...],
    nearest: Mapping[str, float],
    novelty_cosine: float = NOVELTY_COSINE,
    before: int = 0,
) -> tuple[Candidate, ...]:
    """Return what is promoted: novel, and no more than the type of session allows.

    `nearest` is the highest cosine with a stored memory by key; a key without one counts as novel,
    and so does one that is not above `novelty_cosine`, the project's. `before` counts what the
    session promoted at earlier ends or piece by piece.
    """
    novel = tuple(
        one
        for one in proposed
        if integrate.is_novel(cosine=nearest.get(one.key, 0.0), novelty_cosine=novelty_cosine)
    )
    return novel[: max(0, GATES[scratchpad.setting.type].most - before)]


def alone(*, scratchpad: Scratchpad, found: tuple[Sighting, ...]) -> tuple[Witnessed, ...]:
    """Return the sightings of a session without parallel agents."""
    return quorum.join(seen=(Seen(agent="", scratchpad=scratchpad, found=found),))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    key: str
    type: MemoryType
    content: str
    files: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    value: float
    source: Source
    reason: str
    sessions: int = 1
    needed: int = 1
    attributes: Mapping[str, object] = field(default_factory=dict)
    is_unsure: bool = False
    commit: str = ""


def _from_signals(
    scratchpad: Scratchpad, seen: tuple[Witnessed, ...], seen_before: SeenBefore
) -> Iterator[_Draft]:
    """Yield what becomes of the signals that enough sessions have shown."""
    if scratchpad.outcome in _FAILED:
        return
    taken_back = _taken_back(seen)
    for witnessed in seen:
        sighting = witnessed.sighting
        type = wording.becomes(sighting=sighting)
        if type is None or _is_of_failed(sighting, taken_back):
            continue
        sessions = seen_before.get((sighting.kind, sighting.key), 0) + 1
        draft = _of_signal(witnessed, type, sessions)
        if sessions >= draft.needed:
            yield draft


def _taken_back(seen: tuple[Witnessed, ...]) -> Mapping[str, int]:
    """Return the files whose changes were taken back, with the call that did so last."""
    backtracks = (one.sighting for one in seen if one.sighting.kind is SignalKind.BACKTRACK)
    return {path: sighting.last_sequence for sighting in backtracks for path in sighting.files}


def _is_of_failed(sighting: Sighting, taken_back: Mapping[str, int]) -> bool:
    """Say whether a signal rests only on work that was taken back afterwards."""
    is_about_it = sighting.kind in {SignalKind.BACKTRACK, SignalKind.SELF_CORRECTION}
    if is_about_it or not sighting.files or not taken_back.keys() >= set(sighting.files):
        return False
    return sighting.last_sequence <= max(taken_back[path] for path in sighting.files)


def _of_signal(witnessed: Witnessed, type: MemoryType, sessions: int) -> _Draft:
    sighting = witnessed.sighting
    usual = signal_table.row(kind=sighting.kind).sessions
    return _Draft(
        key=f"{sighting.kind.value}:{sighting.key}",
        type=type,
        content=wording.content(sighting=sighting),
        files=sighting.files,
        evidence=sighting.evidence,
        value=signal_table.value(kind=sighting.kind),
        source=Source.OBSERVER_INFERRED,
        reason=witnessed.reason,
        sessions=sessions,
        needed=quorum.sessions_needed(usual=usual, agents=len(witnessed.agents)),
        attributes=payloads.of_sighting(sighting=sighting, type=type, sessions=sessions),
    )


def _from_dead_ends(scratchpad: Scratchpad) -> Iterator[_Draft]:
    for found in dead_ends.find(scratchpad=scratchpad):
        content = wording.dead_end(found=found)
        yield _Draft(
            key=f"dead_end:{content}",
            type=MemoryType.DEAD_END,
            content=content,
            files=found.files,
            evidence=found.evidence,
            value=DEAD_END_VALUE,
            source=Source.OBSERVER_INFERRED,
            reason=_taint(found.evidence, scratchpad),
            attributes=payloads.of_dead_end(found=found),
        )


def _from_reports(scratchpad: Scratchpad) -> Iterator[_Draft]:
    """Yield the failures that QA reported."""
    for report in scratchpad.reports:
        if report.outcome is Outcome.FAILURE and report.text.strip():
            evidence = (Evidence(sequence=report.sequence, step=0),)
            yield _Draft(
                key=f"qa_report:{report.text}",
                type=MemoryType.ERROR_PATTERN,
                content=f"QA found: {report.text.strip()}",
                files=report.files[: detections.FILES_MOST],
                evidence=evidence,
                value=QA_VALUE,
                source=Source.QA_AUTO,
                reason=_taint(evidence, scratchpad),
            )


def _from_commits(scratchpad: Scratchpad) -> Iterator[_Draft]:
    """Yield what of the posted commits is worth keeping, of work that did not fail."""
    if scratchpad.outcome in _FAILED:
        return
    for commit in scratchpad.commits:
        kept = commits.worth(message=commit.message)
        if kept is not None:
            evidence = (Evidence(sequence=commit.sequence, step=0),)
            yield _Draft(
                key=f"commit:{kept.content}",
                type=kept.type,
                content=kept.content,
                files=commit.files[: detections.FILES_MOST],
                evidence=evidence,
                value=COMMIT_VALUE,
                source=Source.COMMIT_AUTO,
                reason=_taint(evidence, scratchpad),
                commit=commit.sha,
            )


def _from_the_product(scratchpad: Scratchpad, results: tuple[Event, ...]) -> Iterator[_Draft]:
    """Yield what tools that drive the running product showed; a person looks at all of it (4.4)."""
    for result in results:
        observed = end_to_end.sort(tool=result.name, result=result.text)
        if observed is not None:
            evidence = (Evidence(sequence=result.sequence, step=result.step),)
            yield _Draft(
                key=f"end_to_end:{observed.observation.value}:{observed.content}",
                type=MemoryType.E2E_OBSERVATION,
                content=observed.content,
                files=(),
                evidence=evidence,
                value=observed.confidence,
                source=Source.TOOL_AUTO,
                reason=_taint(evidence, scratchpad),
                attributes=observed.attributes,
                is_unsure=True,
            )


def _taint(evidence: tuple[Evidence, ...], scratchpad: Scratchpad) -> str:
    last = max((each.sequence for each in evidence), default=0)
    return trust_gate.taint_of(last_sequence=last, scratchpad=scratchpad)


def _candidate(draft: _Draft) -> Candidate:
    """Give a draft its confidence, and let the trust gate have its say."""
    sure = confidence(
        value=draft.value,
        sessions=draft.sessions,
        needed=draft.needed,
        trust=source_row(source=draft.source).trust_multiplier,
    )
    judged = trust_gate.gated(confidence=sure, reason=draft.reason)
    return Candidate(
        key=draft.key,
        type=draft.type,
        content=draft.content,
        files=draft.files,
        confidence=sure,
        source=draft.source,
        tier=judged.tier,
        reason=judged.reason,
        sessions=draft.sessions,
        evidence=draft.evidence,
        attributes=draft.attributes,
        is_unsure=draft.is_unsure,
        commit=draft.commit,
    )
