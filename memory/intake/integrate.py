"""What a candidate does to what is known: ADD, UPDATE, DELETE or NONE, as a decision.

Nothing is overwritten and nothing deleted by any of them. ADD stores the candidate, perhaps with an
edge; UPDATE stores it and supersedes the old one; DELETE stores a retraction and supersedes what it
takes back; NONE confirms the old one. A contradiction is an ADD whose edge opens a conflict: both
stay.

Over-eager contradiction handling retired 41 % of one graph's facts, so the check is lazy:
it needs a high cosine and a shared topic, entity or file, or nearly the same text, and without a
model's judgment only clear words or a higher authority replace anything. In doubt both stay, and so
they do where the candidate may not replace: what is protected, of a higher authority, for others to
see, or true since later, and when the run has replaced its share already. A person decides then.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from accounts.messages import message
from memory.records import statements
from memory.records.statements import Difference
from memory.taxonomy import Authority, LinkKind

CONFLICT_COSINE = 0.75  # at least, to look for a conflict; default, not measured
SAME_TEXT_COSINE = 0.95  # exceeded: nearly the same text is about the same thing
LARGEST_SHARE = 0.05  # of a project that one run replaces without a person
LEAST_SHARE = 3  # memories that it may replace in any case; default, not measured
NOVELTY_COSINE = 0.88  # exceeded: a promoted candidate is not novel
SUPERSEDED_CONFIDENCE = 0.3  # of the replaced memory


class Operation(StrEnum):
    """What is done with the candidate."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    NONE = "none"


class Relation(StrEnum):
    """What a model judged the candidate to be to a known memory."""

    NEW = "new"
    SAME = "same"
    UPDATE = "update"
    CONTRADICT = "contradict"
    RETRACT = "retract"
    EXTEND = "extend"
    DERIVE = "derive"


class Cause(StrEnum):
    """Why a candidate did not replace what it contradicts, so that a person decides."""

    EQUAL = "equal"
    OUTRANKED = "outranked"
    PROTECTED = "protected"
    ELSEWHERE = "elsewhere"
    OLDER = "older"
    UNREVIEWED = "unreviewed"
    JUDGED = "judged"
    SHARE = "share"


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
    it. `is_elsewhere`: others see it. `is_passing`: it is true of its time alone. `is_doubtful`: it
    waits for a person, is tainted or stale. `version`: the one that was read.
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
    is_elsewhere: bool = False
    is_passing: bool = False
    is_doubtful: bool = False
    audience: UUID | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The operation, the memory it concerns, the edge from the candidate, and why.

    Of a conflict `wanted` is what it would have done, and `cause` why it did not.
    `target_version` is the version of that memory that was compared. `certainty`: of its edge.
    """

    operation: Operation
    target_id: UUID | None
    link: LinkKind | None
    is_conflict: bool
    reason: str
    wanted: Relation | None = None
    cause: Cause | None = None
    cosine: float | None = None
    target_version: int | None = None
    certainty: float = 1.0


_OUTCOMES: dict[Relation, tuple[Operation, LinkKind | None, str]] = {
    Relation.SAME: (Operation.NONE, None, message("It restates what is known.")),
    Relation.UPDATE: (Operation.UPDATE, LinkKind.SUPERSEDES, message("It replaces what was true.")),
    Relation.RETRACT: (
        Operation.DELETE,
        LinkKind.SUPERSEDES,
        message("It takes back what was true."),
    ),
    Relation.CONTRADICT: (
        Operation.ADD,
        LinkKind.CONTRADICTS,
        message("It contradicts what is known."),
    ),
    Relation.EXTEND: (Operation.ADD, LinkKind.EXTEND, message("It adds to what is known.")),
    Relation.DERIVE: (Operation.ADD, LinkKind.DERIVE, message("It follows from what is known.")),
}
_REPLACES = frozenset({Relation.UPDATE, Relation.RETRACT})


def is_worth_judging(
    *,
    candidate: CandidateStatement,
    known: StoredStatement,
    conflict_cosine: float = CONFLICT_COSINE,
) -> bool:
    """Say whether a conflict is possible: a high cosine and a shared topic, entity or file.

    What is nearly the same text shares its subject whatever it names.
    """
    is_near = known.cosine >= conflict_cosine
    is_same_text = known.cosine > SAME_TEXT_COSINE
    return is_near and (is_same_text or not candidate.subjects.isdisjoint(known.subjects))


def is_novel(*, cosine: float, novelty_cosine: float) -> bool:
    """Say whether a promoted candidate is novel: its highest cosine is not above the project's."""
    return cosine <= novelty_cosine


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
    for memory in closest_first:
        if not is_worth_judging(candidate=candidate, known=memory, conflict_cosine=conflict_cosine):
            continue
        relation = _guess(candidate, memory) if memory.judged is None else memory.judged
        if memory.is_elsewhere and relation not in _REPLACES | {Relation.CONTRADICT}:
            continue  # others' memories are neither restated nor extended
        if relation is not Relation.NEW:
            return _decision(relation, candidate, memory)
    return Decision(
        operation=Operation.ADD,
        target_id=None,
        link=None,
        is_conflict=False,
        reason=message("Nothing known speaks about the same thing."),
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


def _guess(candidate: CandidateStatement, known: StoredStatement) -> Relation:
    difference = statements.difference(old=known.content, new=candidate.content)
    if statements.marks_retraction(text=candidate.content):
        return Relation.RETRACT if difference is Difference.POLARITY else Relation.NEW
    if difference is Difference.NONE:
        return Relation.NEW
    if statements.marks_update(text=candidate.content) or candidate.authority < known.authority:
        return Relation.UPDATE
    return Relation.CONTRADICT


def _decision(
    relation: Relation, candidate: CandidateStatement, known: StoredStatement
) -> Decision:
    cause = _cause(relation, candidate, known)
    done = Relation.CONTRADICT if cause is not None else relation
    operation, link, reason = _OUTCOMES[done]
    return Decision(
        operation=operation,
        target_id=known.id,
        link=link,
        is_conflict=done is Relation.CONTRADICT,
        reason=reason,
        wanted=relation if cause is not None else None,
        cause=cause,
        cosine=known.cosine,
        target_version=known.version,
        certainty=1.0 if known.judged is None else known.certainty,
    )


def _cause(
    relation: Relation, candidate: CandidateStatement, known: StoredStatement
) -> Cause | None:
    """Return why a person decides, None where nothing contradicts or the candidate replaces."""
    if relation is Relation.CONTRADICT:
        return Cause.ELSEWHERE if known.is_elsewhere else Cause.EQUAL
    if relation not in _REPLACES:
        return None
    is_judged_alone = (  # a model alone says that it replaces, and no word of it does
        known.judged is not None
        and not candidate.trusts_judgments
        and _guess(candidate, known) not in _REPLACES
    )
    is_older = bool(candidate.since and known.since and candidate.since < known.since)
    hindrances = (
        (Cause.ELSEWHERE, known.is_elsewhere),
        (Cause.OUTRANKED, candidate.authority > known.authority),
        (Cause.PROTECTED, known.is_protected and not candidate.may_replace_protected),
        (Cause.UNREVIEWED, not candidate.is_reviewed),
        (Cause.JUDGED, is_judged_alone),
        (Cause.OLDER, is_older),
        (Cause.SHARE, not candidate.has_share),
    )
    return next((cause for cause, holds in hindrances if holds), None)
