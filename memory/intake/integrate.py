"""What a candidate does to what is known: ADD, UPDATE, DELETE or NONE, as a decision (spec 2.4).

Nothing is overwritten and nothing deleted by any of them. ADD stores the candidate, perhaps with an
edge; UPDATE stores it and supersedes the old one; DELETE stores a retraction and supersedes what it
takes back; NONE confirms the old one. A contradiction is an ADD whose edge opens a conflict: both
stay.

Over-eager contradiction handling retired 41 % of one graph's facts (spec 11), so the check is lazy:
it needs a high cosine and a shared topic, entity or file, and without a model's judgment only clear
words or a higher authority replace anything. In doubt both stay.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memory.intake import statements
from memory.intake.statements import Difference
from memory.taxonomy import Authority, LinkKind

CONFLICT_COSINE = 0.75  # at least, to look for a conflict; ours
NOVELTY_COSINE = 0.88  # exceeded: a promoted candidate is not novel, spec 2.4
SUPERSEDED_CONFIDENCE = 0.3  # of the replaced memory, spec 2.4


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A candidate as integration sees it; `subjects` are its topics, entities and files."""

    content: str
    authority: Authority
    subjects: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A stored memory near the candidate; `judged` is a model's relation, None without one."""

    id: UUID
    content: str
    authority: Authority
    subjects: frozenset[str]
    cosine: float
    judged: Relation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The operation, the memory it concerns, the edge from the candidate, and why."""

    operation: Operation
    target_id: UUID | None
    link: LinkKind | None
    is_conflict: bool
    reason: str


_ADD = Decision(
    operation=Operation.ADD,
    target_id=None,
    link=None,
    is_conflict=False,
    reason="Nothing known speaks about the same thing.",
)
_OUTCOMES: dict[Relation, tuple[Operation, LinkKind | None, str]] = {
    Relation.SAME: (Operation.NONE, None, "It restates what is known."),
    Relation.UPDATE: (Operation.UPDATE, LinkKind.SUPERSEDES, "It replaces what was true."),
    Relation.RETRACT: (Operation.DELETE, LinkKind.SUPERSEDES, "It takes back what was true."),
    Relation.CONTRADICT: (Operation.ADD, LinkKind.CONTRADICTS, "It contradicts what is known."),
    Relation.EXTEND: (Operation.ADD, LinkKind.EXTEND, "It adds to what is known."),
    Relation.DERIVE: (Operation.ADD, LinkKind.DERIVE, "It follows from what is known."),
}


def is_worth_judging(*, candidate: Statement, known: Known) -> bool:
    """Say whether a conflict is possible: a high cosine and a shared topic, entity or file."""
    return known.cosine >= CONFLICT_COSINE and not candidate.subjects.isdisjoint(known.subjects)


def is_novel(*, cosines: tuple[float, ...]) -> bool:
    """Say whether a promoted candidate is novel: no cosine above 0.88."""
    return max(cosines, default=-1.0) <= NOVELTY_COSINE


def decide(*, candidate: Statement, known: tuple[Known, ...]) -> Decision:
    """Decide about a candidate from its neighbors; the closest that speaks to it decides.

    Ties are broken by id, so the order of `known` does not matter.
    """
    closest_first = sorted(known, key=lambda memory: (-memory.cosine, memory.id))
    for memory in closest_first:
        if not is_worth_judging(candidate=candidate, known=memory):
            continue
        relation = _guess(candidate, memory) if memory.judged is None else memory.judged
        if relation is not Relation.NEW:
            return _decision(_checked(relation, candidate, memory), memory)
    return _ADD


def _guess(candidate: Statement, known: Known) -> Relation:
    difference = statements.difference(old=known.content, new=candidate.content)
    if statements.marks_retraction(text=candidate.content):
        return Relation.RETRACT if difference is Difference.POLARITY else Relation.NEW
    if difference is Difference.NONE:
        return Relation.NEW
    if statements.marks_update(text=candidate.content) or candidate.authority < known.authority:
        return Relation.UPDATE
    return Relation.CONTRADICT


def _checked(relation: Relation, candidate: Statement, known: Known) -> Relation:
    replaces = relation in (Relation.UPDATE, Relation.RETRACT)
    outranked = candidate.authority > known.authority
    return Relation.CONTRADICT if replaces and outranked else relation


def _decision(relation: Relation, known: Known) -> Decision:
    operation, link, reason = _OUTCOMES[relation]
    return Decision(
        operation=operation,
        target_id=known.id,
        link=link,
        is_conflict=relation is Relation.CONTRADICT,
        reason=reason,
    )
