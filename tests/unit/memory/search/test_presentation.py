"""What an agent reads: within budget, cited, in its order, and explained."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import TABLES, Budget, Phase
from memory.records.queries.views import MemoryView, Relation
from memory.search import packing, presentation, ranking
from memory.search import relevance as relevances
from memory.search.fusion import WEIGHTS, Contribution, Fused, FusedCandidate
from memory.search.packing import DISAGREE, NOTICE, Block, Reader
from memory.search.presentation import Order
from memory.search.query import QueryKind, Wording
from memory.search.ranking import PROFILES, Evidence, Standing, Task
from memory.search.relevance import CALIBRATIONS, NO_VECTORS, Observed
from memory.taxonomy import LinkKind, MemoryType, Source
from tests.support import memories

BUDGET = Budget(tokens=100, shares={MemoryType.GOTCHA: 0.5, MemoryType.DECISION: 0.3}, other=0.2)
ITEMS = st.lists(st.tuples(st.sampled_from(MemoryType), st.integers(1, 900)), max_size=16)
GOTCHA, DECISION, FACT = MemoryType.GOTCHA, MemoryType.DECISION, MemoryType.FACT


def test_each_type_gets_its_share_and_what_is_left_goes_to_the_next() -> None:
    for costs, fitting in (
        (((GOTCHA, 50), (GOTCHA, 50), (DECISION, 30), (FACT, 20)), (0, 2, 3)),  # its share
        (((GOTCHA, 40), (GOTCHA, 40), (GOTCHA, 30), (GOTCHA, 20)), (0, 1, 3)),  # unused ones
        (((GOTCHA, 101), (FACT, 20)), (1,)),  # larger than the budget
    ):
        assert packing.pack(costs=costs, budget=BUDGET) == fitting
    with pytest.raises(ValueError, match="tokens"):
        packing.pack(costs=((FACT, 0),), budget=BUDGET)


@given(items=ITEMS, phase=st.sampled_from(Phase))
def test_a_budget_is_never_exceeded(items: list[tuple[MemoryType, int]], phase: Phase) -> None:
    budget = TABLES[phase].budget

    fitting = packing.pack(costs=items, budget=budget)

    left = budget.tokens - sum(items[place][1] for place in fitting)
    assert left >= 0
    assert all(cost > left for place, (_, cost) in enumerate(items) if place not in fitting)


START = datetime(2026, 11, 20, tzinfo=UTC)
REDIS = "Token refresh fails silently when Redis is unreachable, so catch the error."
CARTS = "Merging carts takes Postgres advisory locks instead of optimistic retries."


def _view(number: int, content: str, file: str = "", **given: object) -> MemoryView:
    files = (file,) if file else ()
    return memories.view(number, content, **{"related_files": files, "updated_at": START, **given})


def test_an_item_says_what_its_words_do_not_and_has_a_short_id() -> None:
    own, other = UUID(int=8), UUID(int=9)
    reader = Reader(now=START, person=own, names={other: "Ana"}, files=frozenset({"b.py"}))
    views = (
        _view(1, "In a.py it is one.", "src/a.py", author_user=own),
        _view(2, "Two.", "src/a.py", author_user=other),
        _view(3, "Three.", "b.py", updated_at=START - timedelta(days=100)),
        _view(4, "Four.", "b.py", stated_at=START - timedelta(days=365)),  # pinned since
    )
    blocks, _ = packing.blocks_of(ranked=views, contradictions={})

    assert packing.write(blocks=blocks, reader=reader) == (
        f"{NOTICE}\n"
        "- gotcha: In a.py it is one. [^000001]\n"
        "- gotcha: Two. (src/a.py, Ana) [^000002]\n"
        "- gotcha: Three. (3 months old) [^000003]\n"
        "- gotcha: Four. (12 months old) [^000004]\n"
    )


def test_sides_doubts_and_further_lines_are_written_as_what_they_are() -> None:
    told = _view(1, "Mind this.\n## Orders\nDo it.", verification="stale", needs_review=True)
    blocks = (Block(memories=(told, _view(2, "No."))), Block(memories=(_view(3, "Else."),)))

    assert packing.write(blocks=blocks, reader=Reader(now=START)) == (
        f"{NOTICE}\n- {DISAGREE}\n"
        "  - gotcha: Mind this.\n    ## Orders\n    Do it. (stale, unreviewed) [^000001]\n"
        "  - gotcha: No. [^000002]\n- gotcha: Else. [^000003]\n"
    )


def test_what_says_the_same_is_left_out_and_named() -> None:
    ranked = (_view(1, REDIS), _view(2, CARTS), _view(3, REDIS.replace("; catch", ": catch")))

    blocks, overlaps = packing.blocks_of(ranked=ranked, contradictions={})

    assert [block.memories[0].id.int for block in blocks] == [1, 2]
    assert overlaps == {UUID(int=3): UUID(int=1)}


def _against(first: int, second: int) -> dict[UUID, frozenset[UUID]]:
    """Return that two memories contradict each other."""
    one, other = UUID(int=first), UUID(int=second)
    return {one: frozenset({other}), other: frozenset({one})}


def test_the_other_side_joins_the_better_ranked_one_found_or_not_and_is_no_overlap() -> None:
    never = "Redis is never asked for tokens."
    one, two, three = _view(1, REDIS), _view(2, CARTS), _view(3, never)
    alike = (_view(1, "Retries are switched on."), _view(2, "Retries are switched on !"))

    for ranked, sides, beside, expected in (
        ((one, two, three), _against(1, 3), {}, [[1, 3], [2]]),
        ((one,), _against(1, 3), {three.id: three}, [[1, 3]]),
        (alike, _against(1, 2), {}, [[1, 2]]),
    ):
        blocks, overlaps = packing.blocks_of(ranked=ranked, contradictions=sides, others=beside)

        assert [[view.id.int for view in block.memories] for block in blocks] == expected
        assert overlaps == {}


Results = tuple[tuple[MemoryView, ...], dict[UUID, frozenset[str]]]
PAIRS = st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(LinkKind))


def _items(*days: int, events: int = 0) -> Results:
    """Return results, best first; the first ones are events."""
    views = tuple(
        memories.view(
            number,
            type="event" if number < events else "fact",
            created_at=START + timedelta(days=day),
        )
        for number, day in enumerate(days)
    )
    return views, {}


def _about(*things: str) -> Results:
    """Return results, best first, each with the things that its words name."""
    views, _ = _items(*[0] * len(things))
    return views, {
        view.id: frozenset(names.split()) for view, names in zip(views, things, strict=True)
    }


def _link(source: int, kind: LinkKind, target: int) -> Relation:
    """Return a link as its source sees it, or as its target does where it resolves."""
    is_outgoing = kind is not LinkKind.RESOLVED_BY
    ends = (source, target) if is_outgoing else (target, source)
    return Relation(
        memory_id=UUID(int=ends[0]), kind=kind, outgoing=is_outgoing, confidence=1.0,
        other_id=UUID(int=ends[1]), type="fact", citation="",
    )  # fmt: skip


def _told(items: Results, *links: Relation) -> tuple[Order, list[int]]:
    views, things = items
    order, ids = presentation.organize(views=views, things=things, relations=links)
    return order, [one.int for one in ids]


CAUSED = LinkKind.CAUSED_BY
TOLD: tuple[tuple[Results, tuple[Relation, ...], tuple[Order, list[int]]], ...] = (
    (_items(3, 1, 2), (), (Order.SCORE, [0, 1, 2])),
    (_items(3, 1, 2, events=2), (), (Order.TIMELINE, [1, 2, 0])),
    (_items(3, 1, 2, events=1), (), (Order.SCORE, [0, 1, 2])),  # few events
    (_items(0, 0, 0, 0), (_link(0, CAUSED, 2), _link(2, CAUSED, 1)), (Order.CAUSES, [1, 2, 0, 3])),
    (_items(0, 0), (_link(1, LinkKind.RESOLVED_BY, 0),), (Order.CAUSES, [1, 0])),
    (_items(0, 0), (_link(0, CAUSED, 7),), (Order.SCORE, [0, 1])),  # to what was not found
    (_items(0, 0), (_link(0, CAUSED, 1), _link(1, CAUSED, 0)), (Order.CAUSES, [1, 0])),
    (_about("redis", "kafka", "redis", "", "kafka worker"), (), (Order.THINGS, [0, 2, 1, 4, 3])),
    (
        _about("redis kafka", "kafka", "redis", "kafka", "redis celery", "kafka"),
        (),
        (Order.THINGS, [0, 1, 3, 5, 2, 4]),  # with what most others name
    ),
)
APART = (  # no things part them
    ("redis", "redis", "redis"),
    ("redis", "kafka", "celery"),
    ("redis", "redis", "", ""),
    ("redis", "redis", "kafka", "", "", "", ""),
    ("shop redis", "shop", "shop redis", "shop"),
)


def test_texts_about_a_day_vote_for_the_order_of_time() -> None:
    (first, second, third), things = _items(3, 1, 2, events=1)
    dated = replace(second, structure="timeline")

    assert _told(((first, second, third), things)) == (Order.SCORE, [0, 1, 2])
    assert _told(((first, dated, third), things)) == (Order.TIMELINE, [1, 2, 0])


def test_what_most_results_are_decides_their_order() -> None:
    for items, links, told in TOLD:
        assert _told(items, *links) == told
    for things in APART:
        assert _told(_about(*things)) == (Order.SCORE, list(range(len(things))))


@given(
    drawn=st.lists(
        st.tuples(st.integers(0, 9), st.frozensets(st.sampled_from("abcd"))), max_size=8
    ),
    events=st.integers(0, 6),
    links=st.sets(PAIRS),
)
def test_nothing_is_added_nothing_gets_lost_and_things_keep_the_best_first(
    drawn: list[tuple[int, frozenset[str]]], events: int, links: set[tuple[int, int, LinkKind]]
) -> None:
    views, _ = _items(*(day for day, _ in drawn), events=events)
    things = {view.id: own for view, (_, own) in zip(views, drawn, strict=True)}
    given = tuple(_link(source, kind, target) for source, target, kind in sorted(links))

    order, ids = presentation.organize(views=views, things=things, relations=given)

    assert sorted(ids) == [view.id for view in views]
    assert order is not Order.THINGS or ids[0] == views[0].id


def test_the_hint_says_how_to_read_it() -> None:
    def hint(told: int, disagreeing: int = 0, left_out: int = 0) -> str:
        return presentation.hint(
            order=Order.SCORE, told=told, disagreeing=disagreeing, left_out=left_out
        )

    assert "Nothing relevant is known." in hint(0)
    assert "Nothing fits into the budget." in hint(0, left_out=3)
    assert "Best first." in hint(4)
    both = "2 of 4 contradict each other: find out which one holds. 1 more"
    assert both in hint(4, disagreeing=2, left_out=1)


ID = UUID(int=1)
WORDING = Wording(words=3, is_french=False)
ROW = CALIBRATIONS[NO_VECTORS]


def test_an_explanation_shows_what_score_and_relevance_were_made_of() -> None:
    candidate = FusedCandidate(memory_id=ID, scores={"dense": 0.8, "graph": 2.0})
    known = Evidence(memory_id=ID, type=MemoryType.FACT, source=Source.USER_TAUGHT)
    task = Task(profile=PROFILES["plain"], weights=WEIGHTS[QueryKind.SEMANTIC])
    (standing,) = ranking.rank(candidates=(candidate,), evidence={ID: known}, task=task)
    observed = (Observed(memory_id=ID, cosine=None, matched=0.5),)
    value = relevances.judge(observed=observed, calibration=ROW, wording=WORDING)[ID]

    explained: Any = presentation.explain(
        standing=standing, relevance=value, threshold=0.3, calibration=ROW
    )

    dense, graph = 0.5 / 0.75, 0.25 / 0.75
    assert explained["score"] == 1.0
    assert explained["parts"] == {"dense": dense, "graph": graph}
    assert explained["paths"] == {
        "dense": {"score": 0.8, "rank": 1, "weight": dense, "value": dense},
        "graph": {"score": 2.0, "rank": 1, "weight": graph, "value": graph},
    }
    assert (explained["boost"], explained["rerank"]) == (None, None)
    shown = explained["relevance"]
    assert (shown["threshold"], shown["calibration"]) == (0.3, NO_VECTORS)
    assert set(shown["parts"]) == {"intercept", *(sign.value for sign in ROW.slopes)}
    assert relevances.logistic(sum(shown["parts"].values())) == pytest.approx(shown["value"])


def test_steps_are_counted() -> None:
    standings = tuple(
        Standing(
            memory_id=ID, score=1.0, factors=(), multipliers=(),
            fused=Fused(ID, 1.0, tuple(Contribution(path, 1.0, 0, 0.5, 0.5) for path in paths)),
        )
        for paths in (("dense", "keyword"), ("dense",), ("graph",))
    )  # fmt: skip

    counted = presentation.funnel_of(standings=standings, limit=2, shown=1, threshold=0.3)

    assert counted.paths == {"dense": 2, "graph": 1, "keyword": 1}
    assert (counted.found, counted.judged, counted.shown) == (3, 2, 1)
