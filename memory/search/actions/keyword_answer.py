"""Answer a question that nobody asked aloud, by words alone, in a few milliseconds.

A search looks along every path and reads everything of its candidates; between two steps there is
no time for that, and most often nothing to say. Here one statement looks up the rarest words, and
what it finds is judged as a search by words judges it. Only what is relevant enough is read.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.caller import Caller
from memory.injection.actions.deliver import NO_CANDIDATES, CandidateSet
from memory.records.queries.views import views_of
from memory.search import calibrations, query
from memory.search import relevance as relevances
from memory.search.actions import request as search_request
from memory.search.actions.request import KEYWORD_LIMIT, Mode, SearchRequest
from memory.search.queries import read_evidence
from memory.search.query import Query
from memory.search.query_language import wording_of
from memory.search.relevance import Observed
from memory.search.sql import keyword_answer
from memory.search.sql.candidates import Found as Held
from memory.sessions.models import Session
from teams import visibility
from teams.visibility import Sight

FOUND_MOST: Final = 8  # memories that an answer is chosen from, ours


def answered(*, caller: Caller, row: Session, question: str, now: datetime) -> CandidateSet:
    """Find what answers a question in a session's place. In a unit.

    Raises NotFound for a project that the caller does not see any more.
    """
    sight = visibility.sight_of(caller=caller)
    asked = query.understand(text=question)
    request = SearchRequest(
        query=question,
        project=None if row.project is None else str(row.project.id),
        mode=Mode.KEYWORD.value,
    )
    place = search_request.place(caller=caller, request=request)
    held = keyword_answer.answers(
        question=asked.keyword_text, projects=place.projects, limit=KEYWORD_LIMIT, sight=sight
    )
    usual = calibrations.calibration_of(model="", has_vectors=False).threshold
    least = search_request.threshold(request=request, place=place, usual=usual)
    best = _judged(asked, held, {}, least)
    if best and asked.identifiers:
        best = _judged(asked, held, _missing(asked, tuple(best), sight, now), least)
    first = tuple(best)[:FOUND_MOST]
    if not first:
        return NO_CANDIDATES
    views = views_of(memory_ids=first, sight=sight, now=now)
    return CandidateSet(views=views, relevance={one: best[one] for one in views}, files={})


def _judged(
    asked: Query, held: tuple[Held, ...], missing: Mapping[UUID, float], least: float
) -> dict[UUID, float]:
    """Return what is relevant enough with its relevance, the most relevant first.

    Identifiers that are missing never raise a relevance, so what is not enough without looking for
    them is not enough with it.
    """
    if not held:
        return {}
    calibration = calibrations.calibration_of(model="", has_vectors=False)
    observed = tuple(
        Observed(
            memory_id=one.memory_id,
            cosine=None,
            matched=one.matched,
            missing=missing.get(one.memory_id, 0.0),
        )
        for one in held
    )
    signs = relevances.signs_of(
        observed=observed, usual=calibration.rivals, wording=wording_of(text=asked.normalized)
    )
    values = {
        id: relevances.relevance(signs=each, calibration=calibration).value
        for id, each in signs.items()
    }
    enough = ((id, value) for id, value in values.items() if value >= least)
    return dict(sorted(enough, key=lambda one: (-one[1], one[0])))


def _missing(
    asked: Query, ids: tuple[UUID, ...], sight: Sight, now: datetime
) -> Mapping[UUID, float]:
    """Return what share of a question's identifiers each memory lacks. In a unit."""
    known = read_evidence(memory_ids=ids, sight=sight, asked=asked, with_text=False, now=now)
    return {id: one.missing for id, one in known.items()}
