"""Draws, figures, intervals, weights: what is compared, and what may be claimed."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from memory.customization.phases import HIGHEST, LOWEST, Phase
from memory.experiments import figures, phase_learning, points, uplift
from memory.experiments.figures import DeliveryOutcome
from memory.experiments.phase_learning import LearnedWeight, outcome_side
from memory.experiments.points import Group
from memory.experiments.uplift import LEAST_SESSIONS, Side, share
from memory.taxonomy import MemoryType
from tests.support.stories import Story

KEY = b"of this installation"
MANY = 20_000


def groups(control: float = 5, passive: float = 10, key: bytes = KEY) -> list[Group]:
    """Return the groups of many sessions of a project."""
    return [
        points.group(key=key, session=f"s{place}", project="p", control=control, passive=passive)
        for place in range(MANY)
    ]


def test_groups_are_five_ten_and_eighty_five_of_a_hundred_or_of_the_shares_that_are_set() -> None:
    counted, other = Counter(groups()), Counter(groups(50, 0))

    assert counted[Group.CONTROL] / MANY == pytest.approx(0.05, abs=0.006)
    assert counted[Group.PASSIVE] / MANY == pytest.approx(0.10, abs=0.008)
    assert counted[Group.FULL] / MANY == pytest.approx(0.85, abs=0.010)
    assert other[Group.CONTROL] / MANY == pytest.approx(0.5, abs=0.015)
    assert other[Group.PASSIVE] == 0
    assert set(groups(0, 0)) == {Group.FULL}


def test_a_session_stays_in_its_group_and_another_project_or_key_is_another_draw() -> None:
    elsewhere = {
        points.group(key=KEY, session="s", project=str(place), control=5, passive=10)
        for place in range(300)
    }

    assert groups() == groups()
    assert elsewhere == set(Group)
    assert groups() != groups(key=b"of another")


def test_a_memory_is_withheld_from_its_share_whatever_the_group_and_the_other_memories() -> None:
    def withheld(memory: str) -> list[bool]:
        return [
            points.is_withheld(key=KEY, memory=memory, session=f"s{place}", percent=20)
            for place in range(MANY)
        ]

    one, other = withheld("m"), withheld("n")

    full = [mine for mine, group in zip(one, groups(), strict=True) if group is Group.FULL]
    both = sum(a and b for a, b in zip(one, other, strict=True))
    assert sum(one) / MANY == pytest.approx(0.2, abs=0.01)
    assert sum(full) / len(full) == pytest.approx(0.2, abs=0.01)
    assert both / MANY == pytest.approx(0.04, abs=0.006)
    assert not points.is_withheld(key=KEY, memory="m", session="s", percent=0)
    assert points.is_withheld(key=KEY, memory="m", session="s", percent=100)


FILE = "src/prices.py"


def of(story: Story) -> dict[str, int]:
    """Return the figures of a story."""
    return figures.session_figures(scratchpad=story.scratchpad())


def test_calls_rereads_and_tokens_are_counted_and_of_what_is_not_told_nothing_is_said() -> None:
    found = of(Story().read("a.py").read("a.py").edit("a.py").read("a.py").read("b.py"))
    bare = of(Story().call("Read", {"file_path": "a.py"}, tokens=0))

    assert (found["tools"], found["rereads"], found["tokens"]) == (5, 2, 5_000)
    assert bare == {"tools": 1, "rereads": 0}
    assert of(Story()) == {"tools": 0}


def test_the_first_report_of_qa_decides_and_without_one_the_end_of_the_work() -> None:
    late = Story().event("qa_report", outcome="failure").event("qa_report", outcome="success")
    good = Story().event("session_complete", outcome="success", steps=1)
    left = Story().event("session_complete", outcome="abandoned", steps=1)

    assert of(late)["qa"] == 0
    assert of(good)["qa"] == 1
    assert "qa" not in of(left)


def test_corrections_by_people_count_and_those_by_the_agent_do_not() -> None:
    story = Story().event("prompt", text="Change the price.")
    story.event("prompt", text="No, that is wrong. Undo that.")
    story.event("reasoning", text="I was wrong about the cache.")

    assert of(story)["corrections"] >= 1
    assert of(Story().event("prompt", text="Go."))["corrections"] == 0


def outcome(
    story: Story, rows: Mapping[int, int] | None = None, after: int = 0, **fields: object
) -> DeliveryOutcome:
    """Say what came of a warning of a file, given before all that was done."""
    scratchpad = story.scratchpad()
    stored = {sequence: sequence for sequence in scratchpad.deeds} if rows is None else rows
    later = figures.deeds_after(scratchpad=scratchpad, row=after, rows=stored)
    known = {"files": frozenset({FILE}), "is_cited": False, "is_wrong": False, **fields}
    return figures.delivery_outcome(later=later, is_whole=True, **known)  # type: ignore[arg-type]


def elsewhere(count: int) -> Story:
    """Return a story that works on other files."""
    story = Story()
    for place in range(count):
        story.read(f"docs/{place}.md")
    return story


CAME: tuple[tuple[Story, dict[str, Any], DeliveryOutcome], ...] = (
    (Story().read(FILE).edit(FILE), {}, DeliveryOutcome.USED),
    (Story().edit(f"shop/{FILE}"), {}, DeliveryOutcome.USED),  # named from elsewhere
    (Story().edit(FILE).read(FILE), {"after": 2}, DeliveryOutcome.UNKNOWN),  # changed before
    (elsewhere(figures.WENT_ON), {}, DeliveryOutcome.IGNORED),
    (Story(), {}, DeliveryOutcome.UNKNOWN),
    (elsewhere(1), {}, DeliveryOutcome.UNKNOWN),
    (Story().read(FILE), {}, DeliveryOutcome.UNKNOWN),
    (elsewhere(9), {"files": frozenset()}, DeliveryOutcome.UNKNOWN),
    (elsewhere(9), {"files": frozenset(), "is_cited": True}, DeliveryOutcome.USED),
    (Story().edit(FILE), {"is_wrong": True, "is_cited": True}, DeliveryOutcome.WRONG),
)


def test_what_came_of_a_memory_follows_from_what_was_done_later() -> None:
    for story, fields, came in CAME:
        assert outcome(story, **fields) is came, fields


def test_what_came_later_is_what_was_stored_later_whatever_its_number() -> None:
    story = Story().edit(FILE).read(FILE)
    edit, read = sorted(story.scratchpad().deeds)

    assert outcome(story, {edit: 60, read: 40}, after=50) is DeliveryOutcome.USED
    assert outcome(story, {edit: 40, read: 60}, after=50) is DeliveryOutcome.UNKNOWN
    assert outcome(story, {}, after=50) is DeliveryOutcome.UNKNOWN


def test_a_citation_is_the_sign_and_the_end_of_the_id() -> None:
    def is_cited(number: int, text: str, after: int = 0) -> bool:
        memory_id = UUID(int=number)
        return figures.is_cited(memory_id=memory_id, texts=((1, text),), after=after)

    text = "Cleared it first. [^0000ab]"
    assert is_cited(0xAB, text)
    assert not is_cited(0xAC, text)
    assert not is_cited(0xAB, text, after=1)
    assert not is_cited(0xAB, "0000ab")


SLEEP = (  # hours gained with two drugs: Cushny and Peebles 1905, the example of Student 1908
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)


def side(values: ArrayLike) -> Side:
    """Return the sums of some values."""
    numbers = np.asarray(values, dtype=float)
    return Side(count=numbers.size, total=float(numbers.sum()), squares=float((numbers**2).sum()))


def shares(successes: int, trials: int) -> Side:
    """Return the sums of successes of trials."""
    return Side(count=trials, total=successes, squares=successes)


NEWCOMBE = (  # 1998, Statistics in Medicine 17, 873-890, table II, method 10
    ((56, 70), (48, 80), (0.0524, 0.3339)),
    ((9, 10), (3, 10), (0.1705, 0.8090)),
    ((5, 56), (0, 29), (-0.0381, 0.1926)),
    ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ((0, 10), (0, 10), (-0.2775, 0.2775)),
    ((10, 10), (0, 20), (0.6791, 1.0)),
)


def test_shares_differ_as_in_the_table_of_newcombe() -> None:
    for first, second, ends in NEWCOMBE:
        found = uplift.of_shares(first=shares(*first), second=shares(*second))
        assert (round(found.low, 4), round(found.high, 4)) == ends


def test_means_differ_as_in_the_example_of_student() -> None:
    found = uplift.of_means(first=side(SLEEP[0]), second=side(SLEEP[1]))

    assert found.value == pytest.approx(-1.58)
    assert (round(found.low, 3), round(found.high, 3)) == (-3.365, 0.205)  # Welch, f = 17.776


def test_quantiles_are_those_of_the_tables() -> None:
    tables = {(5, 0.95): 2.571, (10, 0.95): 2.228, (60, 0.95): 2.000, (30, 0.99): 2.750}

    found = {(n, level): uplift.t_quantile(freedom=n, level=level) for n, level in tables}

    assert found == pytest.approx(tables, abs=0.001)


def test_many_comparisons_together_are_sure_as_one_alone() -> None:
    drawn = np.random.default_rng(7)
    level = uplift.shared_level(comparisons=40)
    wrong = 0

    for _ in range(200):  # nights; nothing differs in any of forty comparisons
        sides = drawn.poisson(30, (40, 2, 25))
        found = (
            uplift.of_means(first=side(one), second=side(other), level=level)
            for one, other in sides
        )
        wrong += any(one.is_sure for one in found)

    assert wrong / 200 <= 0.10


def test_a_mean_of_one_session_is_refused_and_equal_values_have_no_width() -> None:
    with pytest.raises(ValueError, match="two sessions"):
        uplift.of_means(first=side((1.0,)), second=side((1.0, 2.0)))

    found = uplift.of_means(first=side((2.0, 2.0)), second=side((1.0, 1.0)))

    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_a_share_has_the_interval_of_the_literature_and_stays_between_nothing_and_all() -> None:
    found = share(successes=81, trials=263)  # Newcombe 1998, table I

    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    for successes, trials in ((0, 5), (5, 5), (0, 0)):
        end = share(successes=successes, trials=trials)
        assert 0.0 <= end.low <= end.value <= end.high <= 1.0
    with pytest.raises(ValueError, match="3 of 2"):
        share(successes=3, trials=2)


DEFINE = Phase.DEFINE
FACT, DECISION = MemoryType.FACT, MemoryType.DECISION
COUNTS = st.integers(0, 400).flatmap(
    lambda given: st.builds(outcome_side, given=st.just(given), used=st.integers(0, given))
)
OUTCOMES = st.dictionaries(
    st.tuples(st.sampled_from(Phase), st.sampled_from(MemoryType)), COUNTS, max_size=12
)


def learned(
    *types: tuple[MemoryType, int, int], now: float | None = None
) -> dict[str, LearnedWeight]:
    """Return what is learned in one phase of types that were given and used so often."""
    outcomes = {(DEFINE, type): outcome_side(given=given, used=used) for type, given, used in types}
    own = {} if now is None else {DEFINE: {FACT: now}}
    return {one.type.value: one for one in phase_learning.learn_weights(outcomes=outcomes, own=own)}


def test_a_type_that_is_used_more_counts_more_from_a_projects_own_weight_on() -> None:
    found = learned((FACT, 200, 140), (DECISION, 200, 70))
    own = learned((FACT, 200, 100), (DECISION, 200, 60), now=0.9)

    assert (found["fact"].now, found["fact"].proposed) == (1.0, 1.4)
    assert (found["decision"].now, found["decision"].proposed) == (1.1, 0.8)
    assert (own["fact"].now, own["fact"].proposed) == (0.9, 1.15)


def test_the_way_is_half_as_logarithms_go_in_steps() -> None:
    own, others = outcome_side(given=100, used=60), outcome_side(given=100, used=50)

    assert phase_learning.weight(now=1.0, own=own, others=others) == 1.1  # √1.2 = 1.0954
    assert phase_learning.weight(now=1.2, own=own, others=others) == 1.3  # 1.3145
    assert (
        phase_learning.weight(now=1.0, own=others, others=outcome_side(given=9, used=0)) == HIGHEST
    )


def test_what_few_were_given_or_differs_by_chance_is_left_as_it_is() -> None:
    few = learned((FACT, LEAST_SESSIONS - 1, 19), (DECISION, 500, 10))
    close = learned((FACT, 60, 31), (DECISION, 60, 28))
    both = (FACT, 100, 62), (DECISION, 100, 45)
    types = [type for type in MemoryType if type not in {FACT, DECISION}][:12]
    among = learned(*both, *((type, 30, 15) for type in types))

    assert {one.proposed for one in few.values()} == {None}
    assert few["fact"].difference is None
    assert {one.proposed for one in close.values()} == {None}
    assert close["fact"].difference is not None
    assert learned(*both)["fact"].proposed is not None
    assert among["fact"].difference is not None
    assert among["fact"].proposed is None  # more comparisons need more evidence


@given(outcomes=OUTCOMES)
def test_proposals_are_in_the_range_of_the_table_and_have_a_name(
    outcomes: dict[tuple[Phase, MemoryType], Side],
) -> None:
    found = phase_learning.learn_weights(outcomes=outcomes, own={})

    proposed = [one.proposed for one in found if one.proposed is not None]
    assert all(LOWEST <= value <= HIGHEST for value in proposed)
    assert bool(phase_learning.proposal_name(found=found)) == bool(proposed)
    changes = phase_learning.proposed_weights(found=found)
    assert sum(len(own) for own in changes.values()) == len(proposed)
    if len(proposed) > 1:  # another proposal has another name
        names = {phase_learning.proposal_name(found=found[place:]) for place in (0, len(found))}
        assert len(names) == 2
