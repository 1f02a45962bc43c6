"""The page of embedding models: who sees it, what it says, what it does."""

from django.test import Client

from accounts.authentication import entered
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX
from tests.edges.pages.session_pages import Pages
from tests.support.switching import active_key, do_jobs

PAGE = "/o/acme/settings/models"
WORDS, TURNED = "hashing/words-384", "hashing/turned-384"


def said(page: Client) -> str:
    return page.get(PAGE).text


def test_an_owner_switches_watches_goes_back_and_drops(pages: Pages, memory: MemoryView) -> None:
    answer = pages.owner.post(PAGE, {"verb": "switch", "key": TURNED}, **HTMX)
    filling = said(pages.owner)
    with entered(pages.caller):
        do_jobs()
        taken_over = active_key()
    kept = said(pages.owner)
    pages.owner.post(PAGE, {"verb": "rollback", "key": WORDS})
    pages.owner.post(PAGE, {"verb": "drop", "key": TURNED})

    assert answer["HX-Redirect"] == PAGE
    assert [word in filling for word in ("Being filled", "every 3s")] == [True, True]
    assert taken_over == TURNED
    assert [word in kept for word in ("Go back", "every 3s")] == [True, False]
    with entered(pages.caller):
        assert active_key() == WORDS


def test_before_the_first_memory_there_is_nothing(pages: Pages) -> None:
    answer = pages.viewer.get(PAGE)

    assert "No memory has been embedded yet." in said(pages.owner)
    assert answer.status_code == 403
    assert b"Owners and admins choose the embedding model." in answer.content
