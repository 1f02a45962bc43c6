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


def test_topics_are_listed_and_each_shows_its_memories_and_leads_to_the_list(
    owner_pages: Client, shop: str, carts: TopicView
) -> None:
    listed = owner_pages.get(f"{shop}topics").content.decode()
    page = owner_pages.get(f"{shop}topics/{carts.id}").content.decode()

    assert carts.label in listed
    assert f'href="{shop}topics/{carts.id}"' in listed
    assert carts.memories == 3
    assert all(text in page for text in CARTS)
    assert f'topic:"{carts.label}"' in unquote_plus(page).replace("&quot;", '"')
    for after in ("x", "1~x", "-1~", f"{10**20}~{'0' * 32}", "3~" + "f" * 32):
        assert owner_pages.get(f"{shop}topics", {"after": after}).status_code == 200


LOGIN = "LoginGate keeps its tokens in Redis and never in a cookie of the browser."
PORTAL = "The EntryPortal is restarted by hand after every change of Postgres."
NAMES = "/o/acme/p/shop/entities"


@pytest.fixture
def named(shop: str, caller: Caller) -> None:
    """Two memories that name a thing in two ways."""
    for text in (LOGIN, PORTAL):
        remembered(caller, text)


def test_names_are_listed_narrowed_and_each_quotes_its_memories(
    owner_pages: Client, named: None
) -> None:
    every, some, none = (
        owner_pages.get(NAMES, asked).content.decode()
        for asked in ({}, {"q": "login", "kind": "system"}, {"kind": "person"})
    )
    page = owner_pages.get(f"{NAMES}/about", {"name": "login gate"}).content.decode()

    for text in (every, some):
        assert "LoginGate" in text
    assert ["EntryPortal" in text for text in (every, some, page)] == [True, False, False]
    assert "No names found" in none
    for text in ("From its memories", "LoginGate keeps its tokens in Redis", ">Redis</a>"):
        assert text in page
    for after in ("x", "1~x~y", "-1~system~a", "9~system~" + "a" * 500):
        assert owner_pages.get(NAMES, {"after": after}).status_code == 200


def test_names_are_joined_and_taken_apart_again(owner_pages: Client, named: None) -> None:
    address = f"{NAMES}/about?name=LoginGate"

    owner_pages.post(address, {"same_as": "EntryPortal", "scope": "project"})
    joined = owner_pages.get(address).content.decode()
    take_apart = joined.partition(f'action="{NAMES}/merges/')[2].partition('"')[0]
    owner_pages.post(f"{NAMES}/merges/{take_apart}")
    apart = owner_pages.get(address).content.decode()

    assert PORTAL in joined
    assert "are one thing" in joined
    assert PORTAL not in apart


def test_a_name_nobody_knows_is_not_joined_and_viewers_join_nothing(
    owner_pages: Client, viewer_pages: Client, named: None
) -> None:
    address = f"{NAMES}/about?name=LoginGate"

    unknown = owner_pages.post(address, {"same_as": "Nowhere"})
    refused = viewer_pages.post(address, {"same_as": "EntryPortal"})

    assert (unknown.status_code, refused.status_code) == (404, 403)
    assert "has this name" in unknown.content.decode()
    assert "Merge the names" not in viewer_pages.get(address).content.decode()


def test_a_close_name_is_suggested_and_joined_with_one_press(
    owner_pages: Client, viewer_pages: Client, caller: Caller, shop: str
) -> None:
    for text in ("The `ConnectionBroker` waits.", "The `ConectionBroker` is slow at night."):
        remembered(caller, text)
    about = f"{shop}entities/about?name=ConnectionBroker&kind=system"

    before = owner_pages.get(about).content.decode()
    seen = viewer_pages.get(about).content.decode()
    pressed = owner_pages.post(about, {"same_as": "ConectionBroker", "scope": "organization"})
    after = owner_pages.get(about).content.decode()

    assert "Possibly the same" in before
    assert "one letter apart" in before
    assert "The same, for me" not in seen
    assert pressed.status_code == 302
    assert "Possibly the same" not in after
    assert "Separate" in after
