"""Who may open which page: nobody is sent to sign in, strangers are told there is nothing."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from memory.records.queries.views import MemoryView

PAGES = (
    "/o/acme/",
    "/o/acme/p/shop/",
    "/o/acme/p/shop/figures",
    "/o/acme/p/shop/memories",
    "/o/acme/p/shop/memories/{memory}",
    "/o/acme/p/shop/memories/{memory}.json",
    "/o/acme/p/shop/memories/{memory}.md",
    "/o/acme/p/shop/memories/{memory}/correct",
    "/o/acme/p/shop/memories/{memory}/archive",
    "/o/acme/p/shop/teach",
    "/o/acme/p/shop/connections",
    "/o/acme/p/shop/connections/steps",
    "/o/acme/p/shop/connections/code",
    "/o/acme/p/shop/activity",
    "/o/acme/palette?q=token",
    "/o/acme/changes?after=0",
    "/o/acme/projects/new",
    "/o/acme/settings/general",
    "/o/acme/settings/members",
    "/o/acme/settings/members/invite",
    "/o/acme/settings/tokens",
    "/o/acme/settings/tokens/new",
)
REQUEST_ID = re.compile(rb"<code>[0-9a-f]{32}</code>|value=\"[A-Za-z0-9]{64}\"|/[a-z0-9/.-]+\"")


@pytest.mark.usefixtures("clean_cache")
def test_its_people_see_each_page_and_strangers_what_nonexistent_looks_like(
    owner_pages: Client, stranger_pages: Client, memory: MemoryView, subtests: pytest.Subtests
) -> None:
    for page in (address.format(memory=memory.id) for address in PAGES):
        with subtests.test(page):
            own, foreign = owner_pages.get(page), stranger_pages.get(page)
            nonexistent = stranger_pages.get(page.replace("/o/acme/", "/o/nowhere/"))

            assert (own.status_code, "no-store" in own["Cache-Control"]) == (200, True)
            assert foreign.status_code == nonexistent.status_code == 404
            assert REQUEST_ID.sub(b"", foreign.content) == REQUEST_ID.sub(b"", nonexistent.content)
            assert memory.content.encode() not in foreign.content

    link = f"/m/{memory.id}"
    assert owner_pages.get(link)["Location"] == f"/o/acme/p/shop/memories/{memory.id}"
    assert stranger_pages.get(link).status_code == 404


def test_page_costs_a_known_number_of_queries(
    owner_pages: Client,
    memory: MemoryView,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for address, queries in (
        ("/o/acme/", 34), ("/o/acme/p/shop/", 46), ("/o/acme/p/shop/memories", 46),
        ("/o/acme/p/shop/connections", 24), ("/o/acme/p/shop/activity", 42),
    ):  # fmt: skip
        with django_assert_max_num_queries(queries):
            assert owner_pages.get(address).status_code == 200
