"""The pages of topics: the list, one with its memories, and whom they tell what."""

from datetime import datetime
from urllib.parse import unquote_plus

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.topics import queries as topics_queries
from memory.topics.actions import sort_topics
from memory.topics.queries import TopicView
from teams.actions.projects import create_project
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


def test_without_topics_the_page_says_when_there_will_be_some(
    owner_pages: Client, shop: str
) -> None:
    assert "No topics yet" in owner_pages.get(f"{shop}topics").content.decode()


def test_a_topic_of_another_project_is_not_found(
    owner_pages: Client, shop: str, carts: TopicView, caller: Caller, now: datetime
) -> None:
    with entered(caller):
        create_project(caller=caller, slug="vault", name="Vault", now=now)

    assert owner_pages.get(f"/o/acme/p/vault/topics/{carts.id}").status_code == 404
    assert carts.label not in owner_pages.get("/o/acme/p/vault/topics").content.decode()


@pytest.mark.parametrize("after", ["x", "1~x", "-1~", f"{10**20}~{'0' * 32}", "3~" + "f" * 32])
def test_a_place_that_is_none_starts_at_the_beginning(
    owner_pages: Client, shop: str, carts: TopicView, after: str
) -> None:
    assert owner_pages.get(f"{shop}topics", {"after": after}).status_code == 200
