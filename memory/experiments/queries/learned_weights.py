"""How much types count in the phases of a project: what its sessions taught, and what holds.

Who sees sums is as for experiments: of sessions or memories that the reader does not see, a type of
a phase counts only where enough sessions of several people have it.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.rights import manages
from memory.customization import phases
from memory.customization.phases import NATIVE, Methodology, Own, Phase
from memory.customization.queries import own_methodologies
from memory.experiments import phase_learning
from memory.experiments.phase_learning import (
    SESSIONS_LEAST,
    LearnedWeight,
    OutcomeCounts,
    PhaseOutcomes,
)
from memory.experiments.queries.experiments import USUAL_DAYS, are_many
from memory.experiments.sql.session_sums import OutcomeSum, SessionFilter, outcomes
from memory.taxonomy import MemoryType
from teams import queries as places
from teams import visibility
from teams.models import Project
from teams.permissions import Act, require

TYPES: Final = {one.value: one for one in MemoryType}


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseWeights:
    """What sessions taught since `since`, and what a person decided.

    `sessions` counts those with known outcomes; fewer than `least` propose nothing. `proposal`
    names what is proposed, empty for nothing; `is_whole` says whether of everybody's sessions, and
    `may_undo` whether the decision of `decided_at` can be taken back.
    """

    sessions: int
    least: int
    since: datetime
    is_whole: bool
    found: tuple[LearnedWeight, ...]
    proposal: str
    own: Own
    decided_at: datetime | None
    may_undo: bool


def weights_of(*, caller: Caller, project: str, now: datetime) -> PhaseWeights:
    """Return what a project's sessions taught. Raises NotFound for one the caller cannot see."""
    require(caller=caller, act=Act.READ)
    known = own_methodologies(caller=caller)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        return read(caller=caller, place=place, known=known, now=now)


def read(
    *, caller: Caller, place: Project, known: Mapping[str, Methodology], now: datetime
) -> PhaseWeights:
    """Return it for a project's row, with the organization's own methodologies. In a unit."""
    decided = phases.read_weights(settings=place.settings)
    since = now - timedelta(days=USUAL_DAYS)
    if decided.counts_since is not None:  # no session that was given what earlier weights selected
        since = max(since, decided.counts_since)
    chosen = SessionFilter(
        project_id=place.id,
        since=since,
        sight=visibility.sight_of(caller=caller),
        everyone=manages(caller=caller),
    )
    sums = outcomes(sessions=chosen)
    shown = tuple(one for one in sums if one.is_seen or are_many(one.sessions, one.people))
    sessions = sum(one.sessions for one in shown if one.type is None)
    found = phase_learning.learn_weights(outcomes=_by_phase(shown, known), own=decided.weights)
    is_enough = sessions >= SESSIONS_LEAST
    return PhaseWeights(
        sessions=sessions,
        least=SESSIONS_LEAST,
        since=chosen.since,
        is_whole=chosen.everyone and len(shown) == len(sums),
        found=found,
        proposal=phase_learning.proposal_name(found=found) if is_enough else "",
        own=decided.weights,
        decided_at=decided.decided_at,
        may_undo=decided.before is not None,
    )


def _by_phase(sums: tuple[OutcomeSum, ...], known: Mapping[str, Methodology]) -> PhaseOutcomes:
    """Add up what came of each type in each of the six phases, whatever a methodology calls it."""
    given: dict[tuple[Phase, MemoryType], list[int]] = defaultdict(lambda: [0, 0])
    for one in sums:
        phase = phases.phase_of(
            methodology=one.methodology or NATIVE, name=one.phase or "", own=known
        )
        if phase is None or one.type not in TYPES:
            continue
        both = given[phase, TYPES[one.type]]
        both[0] += one.given
        both[1] += one.used
    return {key: OutcomeCounts(given=both[0], used=both[1]) for key, both in given.items()}
