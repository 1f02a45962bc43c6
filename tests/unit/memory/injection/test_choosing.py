"""What is given: within a hard budget, never twice, nothing tainted, mostly nothing."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.injection import choosing
from memory.injection.choosing import MEMORIES_MOST, SILENCE, Moment, Offer
from memory.sessions.points import POINTS, WARNINGS, Group, Point, Switches
from memory.taxonomy import MemoryType

MOMENT = Moment(
    point=Point.SYSTEM_PROMPT,
    group=Group.FULL,
    switches=Switches(),
    told=frozenset(),
    working_files=frozenset(),
    threshold=0.5,
    confidence=0.55,
)
AT_FILE = replace(MOMENT, point=Point.TOOL_RESULT, working_files=frozenset({"a"}))
OFFER = Offer(
    id=UUID(int=1),
    type=MemoryType.GOTCHA,
    content="Tokens are renewed by the hook, not by the view.",
    files=("a",),
    confidence=0.8,
    relevance=0.9,
)
FILES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2).map(tuple)
SHARES = st.floats(0, 1)
OFFERS = st.lists(
    st.builds(
        Offer,
        id=st.integers(0, 30).map(lambda number: UUID(int=number)),
        type=st.sampled_from(list(MemoryType)),
        content=st.text(min_size=1, max_size=60).map(lambda text: text * 40),
        files=FILES,
        confidence=SHARES,
        relevance=SHARES,
        is_tainted=st.booleans(),
    ),
    max_size=25,
)
MOMENTS = st.builds(
    Moment,
    point=st.sampled_from(list(Point)),
    group=st.sampled_from(list(Group)),
    switches=st.builds(
        Switches,
        enabled=st.booleans(),
        off=st.frozensets(st.sampled_from(list(Point)), max_size=2),
        paused=st.booleans(),
        experiments=st.booleans(),
    ),
    told=st.frozensets(st.integers(0, 30).map(lambda number: UUID(int=number)), max_size=9),
    working_files=st.frozensets(st.sampled_from(["a", "b", "c"])),
    threshold=st.floats(0, 0.6),
    confidence=st.floats(0, 0.6),
)


@given(OFFERS, MOMENTS)
def test_no_budget_is_ever_exceeded_and_nothing_is_told_that_must_not_be(
    offers: list[Offer], moment: Moment
) -> None:
    chosen = choosing.choose(offers=offers, moment=moment)

    ids = [offer.id for offer in chosen.offers]
    assert chosen.tokens <= POINTS[moment.point].tokens
    assert chosen.tokens == sum(choosing.tokens_of(offer=offer) for offer in chosen.offers)
    assert len(ids) == len(set(ids)) <= MEMORIES_MOST[moment.point]
    assert moment.told.isdisjoint(ids)
    assert not any(offer.is_tainted for offer in chosen.offers)
    assert all(offer.relevance >= moment.threshold for offer in chosen.offers)


@given(OFFERS, MOMENTS, st.integers(1, 5))
def test_a_session_is_never_told_the_same_memory_twice(
    offers: list[Offer], moment: Moment, times: int
) -> None:
    told: list[UUID] = []
    for _ in range(times):
        now = replace(moment, told=moment.told | frozenset(told))
        told.extend(offer.id for offer in choosing.choose(offers=offers, moment=now).offers)

    assert len(told) == len(set(told))


@given(OFFERS, MOMENTS)
def test_the_order_of_offers_does_not_matter(offers: list[Offer], moment: Moment) -> None:
    unique = list({offer.id: offer for offer in offers}.values())

    forward = choosing.choose(offers=unique, moment=moment)

    assert choosing.choose(offers=reversed(unique), moment=moment) == forward


@pytest.mark.parametrize(
    ("offer", "moment"),
    [
        (OFFER, MOMENT),
        (OFFER, AT_FILE),
        (OFFER, replace(AT_FILE, point=Point.STEP)),
        (OFFER, replace(AT_FILE, point=Point.STEP, working_files=frozenset())),
    ],
)
def test_what_fits_is_given(offer: Offer, moment: Moment) -> None:
    assert choosing.choose(offers=(offer,), moment=moment).offers == (offer,)


@pytest.mark.parametrize(
    ("offer", "moment"),
    [
        (replace(OFFER, is_tainted=True), MOMENT),
        (replace(OFFER, relevance=0.49), MOMENT),
        (replace(OFFER, confidence=0.54), MOMENT),
        (OFFER, replace(MOMENT, told=frozenset({OFFER.id}))),
        (OFFER, replace(MOMENT, group=Group.CONTROL)),
        (OFFER, replace(AT_FILE, group=Group.PASSIVE)),
        (OFFER, replace(AT_FILE, working_files=frozenset({"b"}))),
        (OFFER, replace(AT_FILE, working_files=frozenset())),
        (replace(OFFER, confidence=0.6), AT_FILE),
        (replace(OFFER, type=MemoryType.FACT), AT_FILE),
        (replace(OFFER, type=MemoryType.FACT), replace(AT_FILE, point=Point.STEP)),
    ],
)
def test_the_rest_is_met_with_silence(offer: Offer, moment: Moment) -> None:
    assert choosing.choose(offers=(offer,), moment=moment) == SILENCE


def test_a_memory_about_a_file_being_worked_on_comes_first() -> None:
    near = replace(OFFER, id=UUID(int=2), relevance=0.8)
    far = replace(OFFER, files=("z",))
    moment = replace(MOMENT, working_files=frozenset({"a"}))

    chosen = choosing.choose(offers=(far, near), moment=moment)

    assert chosen.offers == (near, far)


def test_what_does_not_fit_makes_way_for_what_does() -> None:
    long = replace(OFFER, content="word " * 3_000)
    short = replace(OFFER, id=UUID(int=2), relevance=0.7)

    chosen = choosing.choose(offers=(long, short), moment=AT_FILE)

    assert chosen.offers == (short,)


def test_warnings_are_the_three_types_of_the_specification() -> None:
    assert {"gotcha", "error_pattern", "dead_end"} == WARNINGS
