"""Second looks at a ranking: a reranker's, and a search with a memory that a model made up.

A reranker reads query and text together and is asked for the best 30 only. Its scores and those of
the first stage are each brought to 0..1 over those 30 and mixed; what is below stays below.
Late interaction costs quality where names decide and on source text, so these are left alone; on
turns of conversations it pays whatever the margin.

Both ask a model, so they run outside of a unit. One that does not answer in time changes nothing:
the order before stays, and the answer says what was missing. Who makes a memory up is given by the
caller of a search, which books what that costs (`MemoryWriter`).
"""

import logging
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol
from uuid import UUID

from accounts import tenancy
from memory.providers import registry
from memory.providers.errors import ProviderError
from memory.records.formulas import Factor, total
from memory.search import ranking
from memory.search.fusion import Item
from memory.search.query import QueryKind
from memory.search.ranking import Evidence, Moved, Standing

log = logging.getLogger(__name__)

NO_RERANKER: Final = "no_reranker"
NO_MODEL: Final = "no_model"
TOP: Final = 30  # hits that are put in order anew
SHARE: Final = 0.5  # the reranker's part of the blend
LONGEST_TEXT: Final = 4_000  # characters of a memory that a reranker reads
MARGIN: Final = 0.10  # lead of the first hit below which it is not certain
FIRST: Final = 5  # hits among which close facts about one thing are looked for
FACTS: Final = 3  # of them that name it and are within the margin; all three defaults, not measured
SURE: Final = 0.5  # relevance of a result that needs no second search
ENOUGH: Final = 3  # such results


class Rerank(StrEnum):
    """Whether the best hits are put in order by a second model.

    Usual: turns of conversations are, by one on this machine. Or never, when it pays, always.
    """

    USUAL = "usual"
    NONE = "none"
    AUTO = "auto"
    ON = "on"


class MemoryWriter(Protocol):
    """Makes up the memory that would answer a question."""

    def write(self, *, question: str) -> str | None:
        """Return it, or None when no model answers. Outside of a unit."""
        ...


ASKED: Final = frozenset({Rerank.AUTO, Rerank.ON})  # of these it reads texts, a vendor's one too


def is_due(
    *,
    wish: str,
    kind: QueryKind,
    standings: Sequence[Standing],
    evidence: Mapping[UUID, Evidence],
) -> bool:
    """Say whether a reranker looks at a ranking at all.

    Never at one for a name, nor where most hits are source text. By `auto` it pays in dialogue,
    where the first hit hardly leads the second, or where several of the first are close facts about
    one thing.
    """
    if not standings or kind is QueryKind.IDENTIFIER:
        return False
    best = [evidence[one.memory_id] for one in standings[:TOP] if one.memory_id in evidence]
    half = len(standings[:TOP]) / 2
    items = [one.item for one in best]
    if items.count(Item.CODE) > half:
        return False
    is_dialogue = items.count(Item.DIALOGUE) > half
    if wish != Rerank.AUTO:
        return {Rerank.NONE.value: False, Rerank.ON.value: True}.get(wish, is_dialogue)
    return len(standings) > 1 and (is_dialogue or _is_undecided(standings, best))


def _is_undecided(standings: Sequence[Standing], best: Sequence[Evidence]) -> bool:
    """Say whether the first hit hardly leads, or several of the first are close facts."""
    first, second, *_ = standings
    things = {one.memory_id: one.things for one in best}
    hardly_leads = first.score - second.score < MARGIN * first.score
    return hardly_leads or has_close_facts(standings=standings, things=things)


def has_close_facts(
    *, standings: Sequence[Standing], things: Mapping[UUID, frozenset[str]]
) -> bool:
    """Say whether 3 of the first 5 hits name one thing and are within a tenth of each other."""
    scores: dict[str, list[float]] = {}
    for one in standings[:FIRST]:
        for thing in things.get(one.memory_id, frozenset()):
            scores.setdefault(thing, []).append(one.score)
    margin = MARGIN * standings[0].score if standings else 0.0
    return any(
        best - third < margin
        for falling in scores.values()
        for best, third in zip(falling, falling[FACTS - 1 :], strict=False)
    )


def rerank(
    *,
    question: str,
    standings: tuple[Standing, ...],
    evidence: Mapping[UUID, Evidence],
    is_asked: bool,
) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    """Return the order after a reranker, and what was missing. Outside of a unit.

    Unless it `is_asked` for, no vendor is sent texts for it, and none is missed.
    """
    try:
        model = registry.reranker(tenant=tenancy.current().schema_name)
        if model is None or not (model.is_local or is_asked):
            return standings, (NO_RERANKER,) if is_asked else ()
        best = tuple(one.memory_id for one in standings[:TOP])
        texts = tuple(evidence[memory_id].text[:LONGEST_TEXT] for memory_id in best)
        scores = model.rerank(query=question, texts=texts)
    except ProviderError as error:
        log.warning("Not reranked: %s", error.detail)
        return standings, (NO_RERANKER,)
    return blend(standings=standings, scores=dict(zip(best, scores, strict=True))), ()


def blend(*, standings: tuple[Standing, ...], scores: Mapping[UUID, float]) -> tuple[Standing, ...]:
    """Compute (1 - a) · (s - lo) / (hi - lo) + a · (r - least) / (most - least), best first.

    s: the score so far, lo and hi those of the memories with a reranker's score r, a: SHARE.
    Memories without one keep their order below.
    """
    first = [one.score for one in standings if one.memory_id in scores]
    if not first:
        return standings
    low, span = min(first), max(first) - min(first)
    least, width = min(scores.values()), max(scores.values()) - min(scores.values())
    scale = (1.0 - SHARE) / span if span else 0.0
    blended = []
    for rank, one in enumerate(standings):
        parts = [Factor(part.name, part.value * scale) for part in one.factors]
        parts.append(Factor("scale", -low * scale))  # what 0..1 took from the first
        given = scores.get(one.memory_id)
        if given is not None:
            value = SHARE * (given - least) / width if width else 0.0
            parts.append(Factor("rerank", value))
        moved = None if given is None else Moved(rank_before=rank, score=given)
        score = total(factors=parts)
        blended.append(one._replace(score=score, factors=tuple(parts), moved=moved))
    return ranking.in_order(standings=blended)
