"""Gates that refuse or confirm a candidate, then what it does to what is known. Pure.

The gates run in order; the first that refuses or confirms ends the run. Episodes are verbatim, so
length and duplicates do not apply to them. A near duplicate is confirmed only where it says the
same in the same words (`records.restatements`): no list of differences that matter is whole, so a
text is never thrown away for one that is only near. It goes on to a decision; where nothing else is
decided it is stored, and linked with what it is similar to.

Nothing is overwritten and nothing deleted by any decision. The candidate is stored, perhaps with an
edge to a known memory. It supersedes what it brings up to date or takes back; a contradiction opens
a conflict, and both stay.

Over-eager contradiction handling retired 41 % of one graph's facts, so the check is lazy. Words say
what changed between two that are near by meaning (`records.changes`), and only a change that they
announce of what is known, or a higher authority, replaces anything. In doubt both stay, and so they
do where the candidate may not replace: what is protected, of a higher authority, for others to see,
or true since later, and when the run has replaced its share already. A person decides then.
A model is asked about what is nearer and shares a topic, entity or file.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from accounts.messages import join_messages, message
from memory.records import assertions, changes, restatements, statement_words
from memory.secrets import findings
from memory.taxonomy import PROPOSALS, Authority, ConflictCause, LinkKind, MemoryType
from memory.text import text

CONFLICT_COSINE = 0.6  # at least, to look for a change; eight of ten have it, by bench_changes
JUDGED_COSINE = 0.75  # at least, to ask a model; default, not measured
SAME_TEXT_COSINE = 0.95  # exceeded: nearly the same text is about the same thing
LARGEST_SHARE = 0.05  # of a project that one run replaces without a person
LEAST_SHARE = 3  # memories that it may replace in any case; default, not measured
NOVELTY_COSINE = 0.88  # exceeded: a promoted candidate may be known; its words are compared
SUPERSEDED_CONFIDENCE = 0.3  # of the replaced memory
NEUTRAL = 0.5  # surprise where no topic is known
MINIMUM_LENGTH = 20  # characters
MAXIMUM_LENGTH = 20_000  # characters
NEAR_DUPLICATE_COSINE = 0.95  # exceeded
NEAR_DUPLICATE_WINDOW = 100  # newest intake entries that are compared


class Relation(StrEnum):
    """What a model judged the candidate to be to a known memory."""

    NEW = "new"
    SAME = "same"
    UPDATE = "update"
    CONTRADICT = "contradict"
    RETRACT = "retract"
    EXTEND = "extend"
    DERIVE = "derive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a model judged a candidate to be to a stored memory, as it was at that version."""

    known_id: UUID
    version: int | None
    relation: Relation
    certainty: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateStatement:
    """A candidate as integration sees it; `subjects` are its topics, entities, files and tags.

    `since`: from when on it is true. `may_replace_protected`: it comes from somebody who may.
    `is_reviewed`: it waits for nobody. `has_share`: the run has not replaced its share yet.
    `trusts_judgments`: what a model judged replaces even where no word says so.
    """

    content: str
    authority: Authority
    subjects: frozenset[str]
    since: datetime | None = None
    may_replace_protected: bool = False
    is_reviewed: bool = True
    has_share: bool = True
    trusts_judgments: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStatement:
    """A stored memory near the candidate; `judged` is a model's relation, None without one.

    `certainty` is that of the judgment. `is_protected`: its layer, a tag or a pin keeps agents from
    it. `is_verified`: a person did. `is_elsewhere`: others see it. `is_passing`: it is true of its
    time alone. `is_doubtful`: it waits for a person, is tainted or stale. `version`: the one that
    was read.
    """

    id: UUID
    content: str
    authority: Authority
    subjects: frozenset[str]
    cosine: float
    judged: Relation | None = None
    certainty: float = 1.0
    since: datetime | None = None
    is_protected: bool = False
    is_verified: bool = False
    is_elsewhere: bool = False
    is_passing: bool = False
    is_doubtful: bool = False
    audience: UUID | None = None
    version: int | None = None

    @property
    def is_sound(self) -> bool:
        """Whether it is of the candidate's place, and nobody has to look at it."""
        return not (self.is_elsewhere or self.is_doubtful)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The memory a candidate concerns, the edge to it, and why; a superseded one is replaced.

    Of a conflict `wanted` is what it would have done, and `cause` why it did not.
    `target_version` is the version of that memory that was compared. `certainty`: of its edge.
    `difference` says what words found to differ.
    """

    reason: str
    target_id: UUID | None = None
    link: LinkKind | None = None
    wanted: Relation | None = None
    cause: ConflictCause | None = None
    cosine: float | None = None
    target_version: int | None = None
    certainty: float = 1.0
    difference: str = ""

    @property
    def explanation(self) -> str:
        """The reason and what differs; not of a pair of which fewer people see one."""
        if self.cause is ConflictCause.ELSEWHERE:
            return self.reason
        return join_messages(self.reason, self.difference)

    @property
    def is_proposal(self) -> bool:
        """Whether an agent would replace what only people change."""
        return self.wanted in _REPLACES and self.cause in PROPOSALS


_OUTCOMES: dict[Relation, tuple[LinkKind | None, str]] = {
    Relation.SAME: (None, message("It restates what is known.")),
    Relation.UPDATE: (LinkKind.SUPERSEDES, message("It replaces what was true.")),
    Relation.RETRACT: (LinkKind.SUPERSEDES, message("It takes back what was true.")),
    Relation.CONTRADICT: (LinkKind.CONTRADICTS, message("It contradicts what is known.")),
    Relation.EXTEND: (LinkKind.EXTEND, message("It adds to what is known.")),
    Relation.DERIVE: (LinkKind.DERIVE, message("It follows from what is known.")),
}
_SIMILAR = message("Nearly the same is known, but not in all its words.")
_REPLACES = frozenset({Relation.UPDATE, Relation.RETRACT})


def is_worth_judging(
    *,
    candidate: CandidateStatement,
    known: StoredStatement,
    conflict_cosine: float = CONFLICT_COSINE,
) -> bool:
    """Say whether two are surely near: a high cosine and a shared topic, entity or file.

    What is nearly the same text shares its subject whatever it names.
    """
    is_near = known.cosine >= max(conflict_cosine, JUDGED_COSINE)
    is_same_text = known.cosine > SAME_TEXT_COSINE
    return is_near and (is_same_text or not candidate.subjects.isdisjoint(known.subjects))


def share(*, memories: int) -> int:
    """Return how many of a project's memories one run may replace without a person."""
    return max(LEAST_SHARE, int(memories * LARGEST_SHARE))


def decide(
    *,
    candidate: CandidateStatement,
    known: tuple[StoredStatement, ...],
    conflict_cosine: float = CONFLICT_COSINE,
) -> Decision:
    """Decide about a candidate from its neighbors; the closest that speaks to it decides.

    Ties are broken by id, so the order of `known` does not matter.
    """
    closest_first = sorted(known, key=lambda memory: (-memory.cosine, memory.id))
    says = statement_words.read(text=candidate.content)
    for memory in closest_first:
        if memory.cosine < conflict_cosine:
            break
        change = changes.compare(old=statement_words.read(text=memory.content), new=says)
        decision = _decide_about(candidate, memory, change)
        if decision is not None:
            return decision
    return _stored_beside(closest_first)


def _decide_about(
    candidate: CandidateStatement, memory: StoredStatement, change: changes.Change | None
) -> Decision | None:
    """Decide about a candidate and one memory near it, None where it says nothing to it."""
    guess = _guess(candidate, memory, change)
    relation = guess if memory.judged is None else memory.judged
    if memory.is_elsewhere and relation not in _REPLACES | {Relation.CONTRADICT}:
        return None  # others' memories are neither restated nor extended
    if relation is Relation.NEW:
        return None
    cause = _cause(relation, candidate, memory, change)
    link, reason = _OUTCOMES[relation if cause is None else Relation.CONTRADICT]
    return Decision(
        target_id=memory.id,
        link=link,
        reason=reason,
        wanted=relation if cause is not None else None,
        cause=cause,
        cosine=memory.cosine,
        target_version=memory.version,
        certainty=1.0 if memory.judged is None else memory.certainty,
        difference="" if change is None else change.description,
    )


def _stored_beside(closest_first: list[StoredStatement]) -> Decision:
    """Return how a candidate is stored that does nothing to what is known.

    What a model judged to be about something else is not called similar.
    """
    near = (
        one
        for one in closest_first
        if one.cosine > SAME_TEXT_COSINE and not one.is_elsewhere and one.judged is None
    )
    similar = next(near, None)
    if similar is None:
        return Decision(reason=message("Nothing known speaks about the same thing."))
    return Decision(
        target_id=similar.id,
        link=LinkKind.SIMILAR,
        reason=_SIMILAR,
        cosine=similar.cosine,
        target_version=similar.version,
        certainty=min(1.0, similar.cosine),
    )


def with_judgments(
    *, known: tuple[StoredStatement, ...], judged: tuple[Judged, ...]
) -> tuple[StoredStatement, ...]:
    """Return what is known with what was judged of it; what has changed since is left to words."""
    by_id = {(one.known_id, one.version): one for one in judged}
    return tuple(
        replace(one, judged=found.relation, certainty=found.certainty)
        if (found := by_id.get((one.id, one.version))) is not None
        else one
        for one in known
    )


def _guess(
    candidate: CandidateStatement, known: StoredStatement, change: changes.Change | None
) -> Relation:
    """Return what words say: who is above corrects, an announced change updates or takes back.

    Who is above announces nothing, so the two must be nearer, and share what they are about.
    """
    if change is None:
        return Relation.NEW
    if not change.is_announced:
        is_above = candidate.authority < known.authority
        corrects = is_above and is_worth_judging(candidate=candidate, known=known)
        return Relation.UPDATE if corrects else Relation.CONTRADICT
    is_taken = assertions.marks_retraction(text=candidate.content)
    return Relation.RETRACT if is_taken else Relation.UPDATE


def _cause(
    relation: Relation,
    candidate: CandidateStatement,
    known: StoredStatement,
    change: changes.Change | None,
) -> ConflictCause | None:
    """Return why a person decides, None where nothing contradicts or the candidate replaces."""
    if relation is Relation.CONTRADICT:
        return ConflictCause.ELSEWHERE if known.is_elsewhere else ConflictCause.EQUAL
    if relation not in _REPLACES:
        return None
    hindrances = (
        (ConflictCause.ELSEWHERE, known.is_elsewhere),
        (ConflictCause.OUTRANKED, candidate.authority > known.authority),
        (ConflictCause.PROTECTED, known.is_protected and not candidate.may_replace_protected),
        (ConflictCause.PROTECTED, known.is_verified and candidate.authority is not Authority.HUMAN),
        (ConflictCause.UNREVIEWED, not candidate.is_reviewed),
        (ConflictCause.JUDGED, _is_judged_alone(candidate, known, change)),
        (ConflictCause.UNSURE, _is_unsure(known, change)),
        (
            ConflictCause.OLDER,
            bool(candidate.since and known.since and candidate.since < known.since),
        ),
        (ConflictCause.SHARE, not candidate.has_share),
    )
    return next((cause for cause, holds in hindrances if holds), None)


def _is_judged_alone(
    candidate: CandidateStatement, known: StoredStatement, change: changes.Change | None
) -> bool:
    """Say whether a model alone says that the candidate replaces, and no word of it does."""
    is_judged = known.judged is not None and not candidate.trusts_judgments
    return is_judged and _guess(candidate, known, change) not in _REPLACES


def _is_unsure(known: StoredStatement, change: changes.Change | None) -> bool:
    """Say whether words announce a change that may be one of something else.

    A model that judged the two is asked instead.
    """
    if known.judged is not None or change is None:
        return False
    return change.is_announced and not change.is_certain


class Gate(StrEnum):
    """The gates in their order."""

    LENGTH = "length"
    SECRETS = "secrets"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"


class GateOutcome(StrEnum):
    """How a run ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The project's settings of the gates: characters, cosines, and entries compared."""

    minimum_length: int = MINIMUM_LENGTH
    maximum_length: int = MAXIMUM_LENGTH
    near_duplicate_cosine: float = NEAR_DUPLICATE_COSINE
    near_duplicate_window: int = NEAR_DUPLICATE_WINDOW
    conflict_cosine: float = CONFLICT_COSINE
    novelty_cosine: float = NOVELTY_COSINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighborhood:
    """What the place of a candidate holds: the same hash, similar memories, surprise 0..1."""

    exact_duplicate_id: UUID | None = None
    neighbors: tuple[StoredStatement, ...] = ()
    surprise: float = NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The outcome, the gate that decided it (None: all passed), and why, and what to do.

    `cause` is a word for the reason, for counts.
    """

    outcome: GateOutcome
    gate: Gate | None
    reason: str
    hint: str = ""
    confirmed_id: UUID | None = None
    cause: str = ""


def run_gates(
    *,
    content: str,
    type: MemoryType,
    secrets: tuple[findings.Finding, ...],
    neighborhood: Neighborhood,
    thresholds: Thresholds,
) -> GateResult:
    """Send a candidate through the gates, with the secrets that were found in it."""
    is_verbatim = type is MemoryType.EPISODE
    result = None if is_verbatim else _check_length(content, thresholds)
    if result is None and secrets:
        result = GateResult(
            outcome=GateOutcome.REFUSED,
            gate=Gate.SECRETS,
            reason=findings.message_of(text=content, findings=secrets),
            hint="Say where the secret is kept instead of what it is, and send the memory again.",
            cause=secrets[0].kind.value,
        )
    if result is None and not is_verbatim:
        result = _find_duplicate(content, neighborhood, thresholds)
    return result or GateResult(
        outcome=GateOutcome.ACCEPTED, gate=None, reason=message("All gates passed.")
    )


def _check_length(content: str, thresholds: Thresholds) -> GateResult | None:
    length = len(text.normalize(text=content))
    if length < thresholds.minimum_length:
        reason = message(
            "The content has {length} characters; {least} are the least.",
            length=length,
            least=thresholds.minimum_length,
        )
        hint = "Write a full sentence that will still make sense in another session."
        cause = "too_short"
    elif len(content) > thresholds.maximum_length:
        reason = message(
            "The content has {length} characters; at most {most} fit.",
            length=len(content),
            most=thresholds.maximum_length,
        )
        hint = "Add the document as a source note; its facts are extracted from there."
        cause = "too_long"
    else:
        return None
    return GateResult(
        outcome=GateOutcome.REFUSED, gate=Gate.LENGTH, reason=reason, hint=hint, cause=cause
    )


def _find_duplicate(
    content: str, neighborhood: Neighborhood, thresholds: Thresholds
) -> GateResult | None:
    """Confirm the memory with the same text, else the nearest that says the same."""
    if neighborhood.exact_duplicate_id is not None:
        return GateResult(
            outcome=GateOutcome.CONFIRMED,
            gate=Gate.EXACT_DUPLICATE,
            reason=message("The same text is already known; that memory was confirmed."),
            confirmed_id=neighborhood.exact_duplicate_id,
        )
    near = [one for one in neighborhood.neighbors if one.cosine > thresholds.near_duplicate_cosine]
    words = restatements.telling_words(text=content) if near else ()
    same = [one for one in near if restatements.telling_words(text=one.content) == words]
    if not same:
        return None
    best = min(same, key=lambda one: (-one.cosine, one.id))
    return GateResult(
        outcome=GateOutcome.CONFIRMED,
        gate=Gate.NEAR_DUPLICATE,
        reason=message(
            "The same is known in other spelling (cosine {cosine:.2f}); that memory was confirmed.",
            cosine=round(min(1.0, best.cosine), 2),
        ),
        confirmed_id=best.id,
    )
