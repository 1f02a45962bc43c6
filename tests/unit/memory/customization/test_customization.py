"""Phases and methodologies, their own types, and the style that fits a session."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from accounts.errors import InvalidInput
from memory.customization import custom_type_rules, phases
from memory.customization import style as styles
from memory.customization.custom_type_rules import OwnType
from memory.customization.phases import TABLES, Phase
from memory.customization.style import Composed, Fit, NewStyle, Style
from memory.taxonomy import MemoryType, Scope


def test_the_shares_of_a_phase_sum_to_one() -> None:
    for phase, table in TABLES.items():
        assert sum(table.budget.shares.values()) + table.budget.other == pytest.approx(1.0), phase


def test_a_projects_own_weight_takes_the_place_of_the_tables() -> None:
    own = {Phase.DEFINE: {MemoryType.GOTCHA: 1.2, MemoryType.FACT: 0.9}}

    table = phases.weights_of(phase=Phase.DEFINE, own={})
    found = phases.weights_of(phase=Phase.DEFINE, own=own)

    assert table[MemoryType.GOTCHA] == 0.8
    assert found == {**table, MemoryType.GOTCHA: 1.2, MemoryType.FACT: 0.9}
    assert MemoryType.PERSON not in found
    assert phases.weights_of(phase=Phase.EXPLORE, own=own)[MemoryType.DECISION] == 1.2
    assert not phases.weights_of(phase=None, own={})


def test_phases_that_no_map_knows_are_none_and_an_organizations_own_come_first() -> None:
    own = {"native": {"coding": Phase.REFLECT}}
    found = [
        phases.phase_of(methodology=methodology, name=name, own=own)
        for methodology, name in (("native", "coding"), ("?", "validate"), ("native", "lunch"))
    ]

    assert found == [Phase.REFLECT, Phase.VALIDATE, None]


OWN = {"kanban": {"doing": Phase.IMPLEMENT, "validate": Phase.REFLECT}}


@pytest.mark.parametrize(
    ("of", "name", "phase"),
    [
        (None, None, None), (None, "refine", Phase.REFINE), (None, "coding", Phase.IMPLEMENT),
        ("native", "qa_review", Phase.VALIDATE), ("tdd", "red", Phase.DEFINE),
        ("bmad", "retrospective", Phase.REFLECT), ("kanban", "doing", Phase.IMPLEMENT),
        ("kanban", "validate", Phase.REFLECT), ("kanban", "explore", Phase.EXPLORE),
        ("kanban", None, None),
    ],
)  # fmt: skip
def test_phases_are_found_by_name(of: str | None, name: str | None, phase: Phase | None) -> None:
    assert phases.named_phase(methodology=of, name=name, own=OWN) is phase


@pytest.mark.parametrize(
    ("of", "name", "pointer", "hint"),
    [
        ("waterfall", None, "/methodology", "bmad, kanban, native, tdd"),
        ("waterfall", "define", "/methodology", "tdd"),
        ("tdd", "coding", "/phase", "green, implement, red"),
        (None, "lunch", "/phase", "coding, debugging, define"),
    ],
)
def test_other_names_are_refused(of: str | None, name: str | None, pointer: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        phases.named_phase(methodology=of, name=name, own=OWN)

    assert refused.value.errors[0].pointer == pointer
    assert hint in refused.value.hint


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WEIGHTS = {Phase.DEFINE: {MemoryType.FACT: 1.2}}
OTHER: dict[str, Any] = {"pauses": {"project": True}}


DAY = timedelta(days=1)


def decided(settings: dict[str, Any], days: int, weights: Any = WEIGHTS) -> dict[str, Any]:
    return phases.with_decision(settings=settings, weights=weights, now=NOW + days * DAY)


def undone(settings: dict[str, Any], days: int) -> dict[str, Any]:
    return phases.without_decision(settings=settings, now=NOW + days * DAY)


def test_what_was_decided_is_read_again_and_the_rest_stays() -> None:
    settings = decided(OTHER, 0)

    found = phases.read_weights(settings=settings)

    assert (found.weights, found.decided_at) == (WEIGHTS, NOW)
    assert settings["pauses"] == OTHER["pauses"]


def test_the_first_decision_is_taken_back_to_nothing_and_the_next_to_the_first_and_once() -> None:
    first = decided(OTHER, 0)
    taken_back = undone(decided(first, 1, {}), 2)

    none = phases.read_weights(settings=undone(first, 1))
    back = phases.read_weights(settings=taken_back)

    assert (none.weights, none.decided_at, none.counts_since) == ({}, None, NOW + DAY)
    assert (back.weights, back.decided_at, back.counts_since) == (WEIGHTS, NOW, NOW + 2 * DAY)
    assert back.before is None
    assert undone(taken_back, 3) == taken_back  # asked again


def test_a_decision_after_one_was_taken_back_is_taken_back_as_well() -> None:
    again = decided(undone(decided(OTHER, 0), 1), 2)

    found = phases.read_weights(settings=again)
    back = phases.read_weights(settings=undone(again, 2))

    assert (found.decided_at, found.counts_since) == (NOW + 2 * DAY, NOW + 2 * DAY)
    assert (back.weights, back.decided_at, back.before) == ({}, None, None)


def test_joined_weights_keep_what_is_not_changed() -> None:
    changes = {Phase.DEFINE: {MemoryType.GOTCHA: 0.9}, Phase.REFINE: {MemoryType.FACT: 1.1}}

    found = phases.joined_weights(own=WEIGHTS, changes=changes)

    assert found == {
        Phase.DEFINE: {MemoryType.FACT: 1.2, MemoryType.GOTCHA: 0.9},
        Phase.REFINE: {MemoryType.FACT: 1.1},
    }


def test_what_is_no_weight_counts_as_if_it_were_not_there() -> None:
    for kept in (
        None,
        7,
        [],
        {"weights": 3},
        {"weights": {"define": {"fact": 9.0}}},
        {"weights": {"define": {"fact": "1.2"}}},
        {"weights": {"lunch": {"fact": 1.2}}, "decided_at": "yesterday"},
    ):
        found = phases.read_weights(settings={"phase_weights": kept})
        assert not any(found.weights.values())
        assert (found.decided_at, found.before) == (None, None)


STORY = OwnType(name="user-story", base=MemoryType.REQUIREMENT, says="What a user needs.")


def test_a_mark_is_read_back_and_shown_to_nobody() -> None:
    tags = custom_type_rules.marked(tags=("cart", "own_type:epic"), name="user-story")

    assert custom_type_rules.named(tags=tags) == "user-story"
    assert custom_type_rules.plain(tags=tags) == ("cart",)
    assert custom_type_rules.marked(tags=tags, name="") == ("cart",)


def test_of_many_marks_the_first_is_kept_beside_a_bound_of_other_tags() -> None:
    tags = (*(f"own_type:t{number}" for number in range(90)), "cart", "till")

    assert custom_type_rules.once(tags=tags) == ("cart", "till", "own_type:t0")
    assert custom_type_rules.once(tags=tags, most=1) == ("cart", "own_type:t0")
    assert custom_type_rules.once(tags=("cart",), most=1) == ("cart",)


def test_other_tags_mark_nothing_and_what_could_be_a_name_is_none_of_ours() -> None:
    for tag in ("own_type:fact", "own_type:", "own_type:Two Words", "own_type", "type:story"):
        assert custom_type_rules.named(tags=(tag,)) == ""
        assert custom_type_rules.plain(tags=(tag,)) == (tag,)
    assert custom_type_rules.is_own(name="user-story")
    assert not any(custom_type_rules.is_own(name=name) for name in ("fact", "A"))


@pytest.mark.parametrize(
    ("types", "pointer"),
    [
        ((STORY, STORY), "/types/1/name"),
        ((OwnType(name="fact", base=MemoryType.FACT, says="Ours."),), "/types/0/name"),
        ((OwnType(name="Story!", base=MemoryType.FACT, says="No name."),), "/types/0/name"),
        ((OwnType(name="x" * 41, base=MemoryType.FACT, says="Too long."),), "/types/0/name"),
        ((OwnType(name="turn", base=MemoryType.EPISODE, says="A turn."),), "/types/0/base"),
        ((OwnType(name="story", base=MemoryType.FACT, says=" "),), "/types/0/says"),
        ((OwnType(name="story", base=MemoryType.FACT, says="x" * 201),), "/types/0/says"),
        ((OwnType(name="story", base=MemoryType.FACT, says="a\x00b"),), "/types/0/says"),
        (
            tuple(OwnType(name=f"t{n}", base=MemoryType.FACT, says="One.") for n in range(13)),
            "/types",
        ),
    ],
)
def test_what_is_no_type_is_refused(types: tuple[OwnType, ...], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        custom_type_rules.checked(types=types)

    assert refused.value.errors[0].pointer == pointer


def _style(name: str, **given: Any) -> Style:
    usual: dict[str, Any] = {
        "id": UUID(int=sum(name.encode())), "scope": Scope.ORGANIZATION, "text": "Short.",
        "topics": (), "interfaces": (), "is_default": False,
    }  # fmt: skip
    return Style(name=name, **{**usual, **given})


CODING = _style("coding", topics=("coding", "code review"))
REVIEW = _style("review", topics=("code review in french",))
QUICK = _style("quick", topics=("quick notes",), interfaces=("chatgpt", "claude-ai"))
CHAT = _style("chat", interfaces=("chatgpt",))
USUAL = _style("usual", is_default=True)
MINE = _style("mine", scope=Scope.PERSONAL, topics=("coding",))
MINE_USUAL = _style("mine-usual", scope=Scope.PERSONAL, is_default=True)
ALL = (CODING, REVIEW, QUICK, CHAT, USUAL)


@pytest.mark.parametrize(
    ("topic", "interface", "name", "fit", "said"),
    [
        ("Some coding in the cart", "cursor", "coding", Fit.TOPIC, "coding"),
        ("CODING", "cursor", "coding", Fit.TOPIC, "coding"),
        ("encoding of names", "cursor", "usual", Fit.DEFAULT, ""),
        ("a code-review in French", "cursor", "review", Fit.TOPIC, "code review in french"),
        ("quick notes", "chatgpt", "quick", Fit.TOPIC_AND_INTERFACE, "quick notes"),
        ("quick notes on coding", "claude-ai", "quick", Fit.TOPIC_AND_INTERFACE, "quick notes"),
        ("quick notes", "cursor", "usual", Fit.DEFAULT, ""),
        ("notes, quick", "claude-ai", "usual", Fit.DEFAULT, ""),
        ("the garden", "chatgpt", "chat", Fit.INTERFACE, ""),
        ("", "chatgpt", "chat", Fit.INTERFACE, ""),
        ("", "cursor", "usual", Fit.DEFAULT, ""),
    ],
)
def test_the_style_that_fits(topic: str, interface: str, name: str, fit: Fit, said: str) -> None:
    found = styles.compose(styles=ALL, topic=topic, interface=interface)

    assert found is not None
    assert (found.style.name, found.fit, found.topic) == (name, fit, said)


def test_without_a_default_nothing_may_fit_and_one_that_fits_says_so() -> None:
    kept = (CODING, QUICK, CHAT, _style("nowhere"))
    default = (replace(CODING, is_default=True),)

    assert styles.compose(styles=kept, topic="the garden", interface="cursor") is None
    assert styles.compose(styles=(), topic="coding", interface="cursor") is None
    found = styles.compose(styles=default, topic="coding", interface="api")
    assert found is not None
    assert found.fit is Fit.TOPIC


def test_ones_own_comes_before_the_organizations_of_the_same_fit() -> None:
    both = (USUAL, MINE_USUAL, CODING, MINE)

    assert _picked(both, "coding") == MINE
    assert _picked(both, "the garden") == MINE_USUAL
    assert _picked((CODING, MINE_USUAL), "coding") == CODING


def test_order_does_not_matter() -> None:
    twins = (*ALL, MINE, replace(CODING, id=UUID(int=1)))
    picked = {
        _picked(order, "coding, quick notes", "chatgpt")
        for order in itertools.permutations(twins, 7)
    }

    assert len(picked) == 1


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"name": "Coding!"}, "/name"), ({"name": ""}, "/name"), ({"scope": "project"}, "/scope"),
        ({"text": ""}, "/text"), ({"text": " \u200b "}, "/text"), ({"text": "x" * 601}, "/text"),
        ({"text": "half \ud800"}, "/text"), ({"topics": ("!",)}, "/topics/0"),
        ({"topics": ("coding", "x" * 41)}, "/topics/1"),
        ({"topics": tuple(f"topic {n}" for n in range(21))}, "/topics"),
        ({"interfaces": ("cursor", "notepad")}, "/interfaces/1"),
    ],
)  # fmt: skip
def test_what_is_no_style_is_refused(given: dict[str, Any], pointer: str) -> None:
    new = replace(NewStyle(name="coding", text="Short."), **given)

    with pytest.raises(InvalidInput) as refused:
        styles.check(new=new)

    assert refused.value.errors[0].pointer == pointer


def _picked(given: tuple[Style, ...], topic: str, interface: str = "cursor") -> Style:
    found = styles.compose(styles=given, topic=topic, interface=interface)
    assert isinstance(found, Composed)
    return found.style
