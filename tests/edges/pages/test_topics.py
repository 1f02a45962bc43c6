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


def test_the_list_names_topics_with_how_many_memories_they_have(
    owner_pages: Client, shop: str, carts: TopicView
) -> None:
    page = owner_pages.get(f"{shop}topics").content.decode()

    assert carts.label in page
    assert f'href="{shop}topics/{carts.id}"' in page
    assert carts.memories == 3


def test_a_topic_shows_its_memories_and_leads_to_the_list(
    owner_pages: Client, shop: str, carts: TopicView
) -> None:
    page = owner_pages.get(f"{shop}topics/{carts.id}").content.decode()

    assert all(text in page for text in CARTS)
    assert f'topic:"{carts.label}"' in unquote_plus(page).replace("&quot;", '"')


@pytest.mark.parametrize("after", ["x", "1~x", "-1~", f"{10**20}~{'0' * 32}", "3~" + "f" * 32])
def test_a_place_that_is_none_starts_at_the_beginning(
    owner_pages: Client, shop: str, carts: TopicView, after: str
) -> None:
    assert owner_pages.get(f"{shop}topics", {"after": after}).status_code == 200


LOGIN = "LoginGate keeps its tokens in Redis and never in a cookie of the browser."
PORTAL = "The EntryPortal is restarted by hand after every change of Postgres."
NAMES = "/o/acme/p/shop/entities"


@pytest.fixture
def named(shop: str, caller: Caller) -> None:
    """Two memories that name a thing in two ways."""
    for text in (LOGIN, PORTAL):
        remembered(caller, text)


def test_the_list_tells_names_and_narrows_by_beginning_and_kind(
    owner_pages: Client, named: None
) -> None:
    every = owner_pages.get(NAMES).content.decode()
    some = owner_pages.get(NAMES, {"q": "login", "kind": "system"}).content.decode()
    none = owner_pages.get(NAMES, {"kind": "person"}).content.decode()

    assert "LoginGate" in every
    assert "EntryPortal" in every
    assert "LoginGate" in some
    assert "EntryPortal" not in some
    assert "No names found" in none


@pytest.mark.parametrize("after", ["x", "1~x~y", "-1~system~a", "9~system~" + "a" * 500])
def test_a_place_that_is_none_never_breaks_the_list(
    owner_pages: Client, named: None, after: str
) -> None:
    assert owner_pages.get(NAMES, {"after": after}).status_code == 200


def test_a_profile_quotes_its_memories_and_what_stands_beside(
    owner_pages: Client, named: None
) -> None:
    page = owner_pages.get(f"{NAMES}/about", {"name": "login gate"}).content.decode()

    assert "From its memories" in page
    assert "LoginGate keeps its tokens in Redis" in page
    assert ">Redis</a>" in page
    assert "EntryPortal" not in page


@pytest.mark.parametrize("scope", ["organization", "project"])
def test_names_are_joined_and_taken_apart_again(
    owner_pages: Client, named: None, scope: str
) -> None:
    address = f"{NAMES}/about?name=LoginGate"

    owner_pages.post(address, {"same_as": "EntryPortal", "scope": scope})
    joined = owner_pages.get(address).content.decode()
    take_apart = joined.partition(f'action="{NAMES}/merges/')[2].partition('"')[0]
    owner_pages.post(f"{NAMES}/merges/{take_apart}")
    apart = owner_pages.get(address).content.decode()

    assert PORTAL in joined
    assert "are one thing" in joined
    assert PORTAL not in apart


def test_a_name_nobody_knows_is_not_joined(owner_pages: Client, named: None) -> None:
    response = owner_pages.post(f"{NAMES}/about?name=LoginGate", {"same_as": "Nowhere"})

    assert response.status_code == 404
    assert "has this name" in response.content.decode()


def test_viewers_read_profiles_and_join_nothing(viewer_pages: Client, named: None) -> None:
    page = viewer_pages.get(f"{NAMES}/about", {"name": "LoginGate"}).content.decode()
    response = viewer_pages.post(f"{NAMES}/about?name=LoginGate", {"same_as": "EntryPortal"})

    assert "Merge the names" not in page
    assert response.status_code == 403


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
