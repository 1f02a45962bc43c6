"""Memories of a place are sorted into topics that keep their names."""

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.topics import clustering
from memory.topics.clustering import Before, Subject, Topic

CARTS = (
    "Carts are merged under an advisory lock of Postgres.",
    "The merge of two carts keeps the older coupon.",
    "A cart without lines is dropped by the merge job.",
    "Cart totals are rounded after the merge.",
)
DEPLOYS = (
    "Deploys restart the proxy and drain connections.",
    "The deploy of Friday left the proxy stopped.",
    "The proxy certificate is renewed before deploys.",
    "Roll a deploy back when the proxy answers 502.",
)
NOTHING = np.zeros((0, 4), dtype=np.float32)


def subjects(*texts: str, mark: str = "") -> list[Subject]:
    """Return memories of these texts, numbered; those of one first letter share a mark."""
    return [
        Subject(
            memory_id=UUID(int=number),
            words=clustering.words_of(text=text),
            marks={f"{mark}": 1.0} if mark else {},
        )
        for number, text in enumerate(texts)
    ]


def two_directions(*counts: int) -> clustering.Vectors:
    """Return unit vectors close to one axis each."""
    rows = [
        [1.0 if axis == at else 0.05 * (1 + number % 3) for axis in range(4)]
        for at, count in enumerate(counts)
        for number in range(count)
    ]
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def sorted_(before: tuple[Before, ...] = ()) -> tuple[Topic, ...]:
    """Sort four memories about carts and four about deploys by their vectors."""
    return clustering.sort(
        subjects=subjects(*CARTS, *DEPLOYS), vectors=two_directions(4, 4), links=(), before=before
    )


def ids(topic: Topic) -> set[int]:
    return {member.memory_id.int for member in topic.members}


def earlier(number: int, words: tuple[str, ...], members: range) -> Before:
    return Before(
        id=UUID(int=900 + number), words=words, members=frozenset(UUID(int=m) for m in members)
    )


def test_memories_near_each_other_are_topics_with_the_words_they_share() -> None:
    carts, deploys = sorted_()

    assert (ids(carts), ids(deploys)) == ({0, 1, 2, 3}, {4, 5, 6, 7})
    assert set(carts.words) == {"Carts", "merge"} or set(carts.words) == {"Cart", "merge"}
    assert {word.casefold() for word in deploys.words} >= {"proxy", "deploy"}
    for member in carts.members:  # each knows which of the words it has
        text = CARTS[member.memory_id.int].casefold()
        told = [word for bit, word in enumerate(carts.words) if member.holds >> bit & 1]
        assert told
        assert all(clustering.words_of(text=word).keys() <= clustering.words_of(text=text).keys()
                   for word in told)  # fmt: skip
    assert carts.center is not None
    assert np.linalg.norm(carts.center) == pytest.approx(1, abs=1e-6)
    farther = [m for m in carts.members if m.closeness is not None and m.closeness < carts.reach]
    assert len(farther) <= 1


def test_shared_things_or_links_hold_memories_without_vectors_together() -> None:
    bare = np.zeros((4, 4), dtype=np.float32)
    links = ((0, 1, 1.0), (1, 2, 0.5))

    found = clustering.sort(subjects=subjects(*CARTS, mark="file:cart.py"), vectors=bare, links=())
    linked = clustering.sort(subjects=subjects(*CARTS), vectors=bare, links=links)

    assert [ids(topic) for topic in found] == [{0, 1, 2, 3}]
    assert found[0].center is None
    assert {member.closeness for member in found[0].members} == {None}
    assert [ids(topic) for topic in linked] == [{0, 1, 2}]


def test_a_large_community_with_parts_is_divided() -> None:
    axes, each = 8, 20
    texts = [
        f"lantern{axis} harbor{axis} {number}" for axis in range(axes) for number in range(each)
    ]
    near = np.eye(axes, dtype=np.float32)[np.repeat(np.arange(axes), each)]
    chain = tuple((20 * axis - 1, 20 * axis, 5.0) for axis in range(1, axes))

    found = clustering.sort(subjects=subjects(*texts), vectors=near, links=chain)

    assert {len(topic.members) for topic in found} == {each}


def test_two_memories_or_none_or_those_that_share_no_word_are_no_topic() -> None:
    alone = subjects("alpha beta", "gamma delta", "epsilon zeta")

    assert clustering.sort(subjects=alone, vectors=two_directions(3), links=()) == ()
    assert clustering.sort(subjects=subjects(*CARTS[:2]), vectors=two_directions(2), links=()) == ()
    assert clustering.sort(subjects=(), vectors=NOTHING, links=()) == ()


def test_a_topic_keeps_id_and_words_where_most_of_it_stays() -> None:
    before = earlier(1, ("merge", "carts"), range(3))
    small, large = earlier(1, ("carts",), range(1)), earlier(2, ("merge",), range(1, 4))

    carts, deploys = sorted_(before=(before,))

    assert (carts.id, carts.words) == (before.id, ("merge", "carts"))
    assert deploys.id is None
    assert sorted_(before=(small, large))[0].id == large.id  # of two that became one
    halves = earlier(1, ("merge",), range(2, 6))
    assert [topic.id for topic in sorted_(before=(halves,))] == [None, None]
    untold = earlier(1, ("Kafka",), range(4))
    kept = sorted_(before=(untold,))[0]
    assert kept.id == untold.id
    assert "Kafka" not in kept.words


@given(count=st.integers(2, clustering.MOST_SHARING))
def test_a_mark_holds_each_memory_by_its_weight_however_many_share_it(count: int) -> None:
    strengths = [0.0] * count

    for first, second, weight in clustering.shared(subjects=sharing(count)):
        strengths[first] += weight
        strengths[second] += weight

    assert strengths == pytest.approx([0.5] * count)
    assert clustering.shared(subjects=sharing(clustering.MOST_SHARING + 1)) == ()


def sharing(count: int) -> list[Subject]:
    """Return memories that share a tag."""
    return [
        Subject(memory_id=UUID(int=number), words={}, marks={"tag:x": 0.5})
        for number in range(count)
    ]


def test_words_are_what_may_name_something() -> None:
    words = {
        "The prices of a Cart are cached in Redis": {"price", "cart", "cached", "redis"},
        "Les prix du panier sont gardés dans Redis": {"prix", "panier", "gardé", "redis"},
        "it is of no use": set(),
        "status of process AuthService in 2024": {"status", "process", "authservice"},
        "": set(),
    }

    assert {text: set(clustering.words_of(text=text)) for text in words} == words
