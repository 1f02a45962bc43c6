"""What the graph changed is what two rankings show, with it and without, of which one is made."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import Phase
from memory.search import graph_effect, neighborhood, ranking
from memory.search.fusion import FusedCandidate, Item
from memory.search.query import QueryKind
from memory.search.ranking import PROFILES, Evidence, Standing, Task
from memory.taxonomy import MemoryType, Source

SCORE = st.floats(0.01, 1) | st.sampled_from((0.25, 0.5, 1.0))
PATHS = ("dense", "keyword", "graph", "entities")
SCORES = st.dictionaries(st.sampled_from(PATHS), SCORE, min_size=1)
EVIDENCE = st.builds(
    Evidence,
    memory_id=st.just(UUID(int=0)),
    type=st.sampled_from(MemoryType),
    source=st.sampled_from(Source),
    files=st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple),
    age_days=st.floats(0, 900),
    idle_days=st.floats(0, 900),
    accesses=st.integers(0, 500),
    confidence=st.floats(0, 1),
)
CROWDS = st.lists(st.tuples(SCORES, st.sampled_from(Item), EVIDENCE), max_size=40)
TASKS = st.builds(
    Task,
    kind=st.sampled_from(QueryKind),
    profile=st.sampled_from(tuple(PROFILES.values())),
    phase=st.none() | st.sampled_from(Phase),
)
Crowd = list[tuple[dict[str, float], Item, Evidence]]


def crowd(drawn: Crowd) -> tuple[tuple[FusedCandidate, ...], dict[UUID, Evidence]]:
    """Return the candidates of a search and what is known of them."""
    ids = tuple(UUID(int=number) for number in range(len(drawn)))
    candidates = tuple(
        FusedCandidate(memory_id=id, scores=scores, item=item)
        for id, (scores, item, _) in zip(ids, drawn, strict=True)
    )
    return candidates, {id: known for id, (*_, known) in zip(ids, drawn, strict=True)}


def bare(candidates: tuple[FusedCandidate, ...]) -> tuple[FusedCandidate, ...]:
    """Return the candidates without what the graph says, and without those that it alone found."""
    scores = ({p: s for p, s in one.scores.items() if p != "graph"} for one in candidates)
    pairs = zip(candidates, scores, strict=True)
    return tuple(replace(one, scores=left) for one, left in pairs if left)


def ranked_unboosted(
    candidates: tuple[FusedCandidate, ...], known: dict[UUID, Evidence], task: Task
) -> tuple[Standing, ...]:
    """Rank as if nobody were in the neighborhood of anybody: a real second ranking."""
    alone = {id: replace(one, files=()) for id, one in known.items()}
    return ranking.rank(candidates=candidates, evidence=alone, task=task)


@given(drawn=CROWDS, task=TASKS, kind=st.sampled_from(QueryKind))
def test_first_without_the_graph_are_those_of_a_ranking_without_it(
    drawn: Crowd, task: Task, kind: QueryKind
) -> None:
    candidates, known = crowd(drawn)
    standings = ranking.rank(candidates=candidates, evidence=known, task=task)
    other = replace(task, kind=kind)  # a structural question without a graph is a semantic one

    found = graph_effect.without_graph(candidates=bare(candidates), standings=standings, task=other)

    real = ranked_unboosted(bare(candidates), known, other)
    assert found == graph_effect.first(standings=real)


@given(drawn=CROWDS, task=TASKS)
def test_first_without_a_boost_are_those_of_a_ranking_without_it(drawn: Crowd, task: Task) -> None:
    candidates, known = crowd(drawn)
    standings = ranking.rank(candidates=candidates, evidence=known, task=task)

    found = graph_effect.without_boost(standings=standings)

    real = ranked_unboosted(candidates, known, task)
    assert found == graph_effect.first(standings=real)


def test_a_memory_of_the_same_files_that_rises_into_the_first_has_changed_them() -> None:
    scores = [1.0 - place / 100 for place in range(11)]
    candidates = tuple(
        FusedCandidate(memory_id=UUID(int=place), scores={"dense": score})
        for place, score in enumerate((*scores, 0.0))
    )
    files = {0: ("a",), 10: ("a",)}
    known = {
        UUID(int=place): evidence(place, files.get(place, ())) for place in range(len(candidates))
    }
    task = Task(kind=QueryKind.SEMANTIC, profile=PROFILES["plain"])

    standings = ranking.rank(candidates=candidates, evidence=known, task=task)
    without = graph_effect.without_boost(standings=standings)

    assert neighborhood.WEIGHT > 0.1
    assert without == tuple(UUID(int=place) for place in range(8))
    assert graph_effect.first(standings=standings)[0] == UUID(int=10)


def test_what_the_graph_alone_brought_is_told_by_the_limits_of_the_others() -> None:
    scores = (
        {"dense": 0.9},
        {"dense": 0.5, "graph": 1.0},  # behind the limit of meaning
        {"dense": 0.6, "keyword": 2.0},
        {"dense": 0.4, "keyword": 1.0, "graph": 0.2},
        {"dense": 0.3, "graph": 0.2, "entities": 0.7},
    )
    candidates = tuple(
        FusedCandidate(memory_id=UUID(int=place), scores=each) for place, each in enumerate(scores)
    )

    found = graph_effect.take_graph_out(
        candidates=candidates,
        turns={},
        limits={"dense": 2, "keyword": 2, "entities": 1, "communities": 0},
    )

    assert found == tuple(
        candidate for candidate in bare(candidates) if candidate.memory_id.int != 1
    )


def evidence(place: int, files: tuple[str, ...]) -> Evidence:
    """Return what is known of a memory of some files."""
    return Evidence(
        memory_id=UUID(int=place),
        type=MemoryType.DECISION,
        source=Source.USER_TAUGHT,
        files=files,
        age_days=1.0,
        idle_days=1.0,
        accesses=0,
        confidence=0.8,
    )
