"""The style that fits a session is picked by topic and tool, and says why."""

import itertools
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounts.errors import InvalidInput
from memory.customization import style as styles
from memory.customization.style import Composed, Fit, NewStyle, Style
from memory.taxonomy import Scope


def _style(name: str, **given: Any) -> Style:
    usual: dict[str, Any] = {
        "id": UUID(int=sum(name.encode())),
        "scope": Scope.ORGANIZATION,
        "text": "Short.",
        "topics": (),
        "interfaces": (),
        "is_default": False,
    }
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
        ({"name": "Coding!"}, "/name"),
        ({"name": ""}, "/name"),
        ({"scope": "project"}, "/scope"),
        ({"text": ""}, "/text"),
        ({"text": " \u200b "}, "/text"),
        ({"text": "x" * 601}, "/text"),
        ({"text": "half \ud800"}, "/text"),
        ({"topics": ("!",)}, "/topics/0"),
        ({"topics": ("coding", "x" * 41)}, "/topics/1"),
        ({"topics": tuple(f"topic {n}" for n in range(21))}, "/topics"),
        ({"interfaces": ("cursor", "notepad")}, "/interfaces/1"),
    ],
)
def test_what_is_no_style_is_refused(given: dict[str, Any], pointer: str) -> None:
    new = replace(NewStyle(name="coding", text="Short."), **given)

    with pytest.raises(InvalidInput) as refused:
        styles.check(new=new)

    assert refused.value.errors[0].pointer == pointer


def _picked(given: tuple[Style, ...], topic: str, interface: str = "cursor") -> Style:
    found = styles.compose(styles=given, topic=topic, interface=interface)
    assert isinstance(found, Composed)
    return found.style
