"""The pages of topics and names: lists, one with its memories, names that are one thing."""

from datetime import datetime
from urllib.parse import unquote_plus

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.topics import queries as topics_queries
from memory.topics.actions import sort_topics
from memory.topics.queries import TopicView
from tests.edges.pages.conftest import remembered
from tests.edges.pages.session_pages import Pages

CARTS = (
    "Carts are merged under an advisory lock of Postgres in shop/carts.py.",
    "The merge of two carts in shop/carts.py keeps the older coupon.",
    "A cart without lines is dropped by the merge job in shop/carts.py.",
)


@pytest.fixture
def carts(shop: str, caller: Caller, now: datetime) -> TopicView:
    """A topic of three memories."""
    for text in CARTS:
        remembered(caller, text)
    with entered(caller):
        sort_topics(now=now, tell=lambda done, total: None)
        return topics_queries.topics(caller=caller, project="shop", after=None, limit=9).items[0]


def test_topics_are_listed_and_show_their_memories(pages: Pages, carts: TopicView) -> None:
    listed = pages.owner.get(f"{pages.shop}topics").text
    page = pages.owner.get(f"{pages.shop}topics/{carts.id}").text

    assert carts.label in listed
    assert f'href="{pages.shop}topics/{carts.id}"' in listed
    assert carts.memories == 3
    assert all(text in page for text in CARTS)
    assert f'topic:"{carts.label}"' in unquote_plus(page).replace("&quot;", '"')
    for place in ("x", "1~x", "-1~", f"{10**20}~{'0' * 32}", f"{10**9}~{'f' * 32}"):
        assert carts.label in pages.owner.get(f"{pages.shop}topics?after={place}").text, place


LOGIN = "LoginGate keeps its tokens in Redis and never in a cookie of the browser."
PORTAL = "The EntryPortal is restarted by hand after every change of Postgres."
NAMES = "/o/acme/p/shop/entities"


@pytest.fixture
def named(shop: str, caller: Caller) -> None:
    """Two memories that name a thing in two ways."""
    for text in (LOGIN, PORTAL):
        remembered(caller, text)


def test_names_are_listed_narrowed_and_each_quotes_its_memories(pages: Pages, named: None) -> None:
    every, some, none = (
        pages.owner.get(NAMES, asked).text
        for asked in ({}, {"q": "login", "kind": "system"}, {"kind": "person"})
    )
    page = pages.owner.get(f"{NAMES}/about", {"name": "login gate"}).text

    for text in (every, some):
        assert "LoginGate" in text
    assert ["EntryPortal" in text for text in (every, some, page)] == [True, False, False]
    assert "No names found" in none
    for text in ("From its memories", "LoginGate keeps its tokens in Redis", ">Redis</a>"):
        assert text in page


def test_names_are_joined_and_taken_apart_again(owner_pages: Client, named: None) -> None:
    address = f"{NAMES}/about?name=LoginGate"

    owner_pages.post(address, {"same_as": "EntryPortal", "scope": "project"})
    joined = owner_pages.get(address).text
    take_apart = joined.partition(f'action="{NAMES}/merges/')[2].partition('"')[0]
    owner_pages.post(f"{NAMES}/merges/{take_apart}")
    apart = owner_pages.get(address).text

    assert PORTAL in joined
    assert "are one thing" in joined
    assert PORTAL not in apart


def test_a_close_name_is_suggested_and_joined_with_one_press(pages: Pages) -> None:
    for text in ("The `ConnectionBroker` waits.", "The `ConectionBroker` is slow at night."):
        remembered(pages.caller, text)
    about = f"{pages.shop}entities/about?name=ConnectionBroker&kind=system"

    before = pages.owner.get(about).text
    seen = pages.viewer.get(about).text
    pressed = pages.owner.post(about, {"same_as": "ConectionBroker", "scope": "organization"})
    after = pages.owner.get(about).text

    assert "Possibly the same" in before
    assert "one letter apart" in before
    assert "The same, for me" not in seen
    assert pressed.status_code == 302
    assert "Possibly the same" not in after
    assert "Separate" in after
