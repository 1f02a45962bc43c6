"""The page of embedding models: who sees it, what it says, what it does."""

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX
from tests.support.switching import active_key, do_jobs

PAGE = "/o/acme/settings/models"
WORDS, TURNED = "hashing/words-384", "hashing/turned-384"


def said(page: Client) -> str:
    return page.get(PAGE).content.decode()


def test_an_owner_switches_watches_goes_back_and_drops(
    owner_pages: Client, memory: MemoryView, caller: Caller
) -> None:
    answer = owner_pages.post(PAGE, {"verb": "switch", "key": TURNED}, **HTMX)
    filling = said(owner_pages)
    with entered(caller):
        do_jobs()
        taken_over = active_key()
    kept = said(owner_pages)
    owner_pages.post(PAGE, {"verb": "rollback", "key": WORDS})
    owner_pages.post(PAGE, {"verb": "drop", "key": TURNED})

    assert answer["HX-Redirect"] == PAGE
    assert [word in filling for word in ("Being filled", "every 3s")] == [True, True]
    assert taken_over == TURNED
    assert [word in kept for word in ("Go back", "every 3s")] == [True, False]
    with entered(caller):
        assert active_key() == WORDS


@pytest.mark.parametrize(
    ("form", "status", "sentence"),
    [
        ({"verb": "switch", "key": "nobody/knows"}, 422, "No embedder is called"),
        ({"verb": "switch", "key": ""}, 422, "There is no such model."),
        ({"verb": "drop", "key": WORDS}, 409, "is in use"),
        ({"verb": "nonsense"}, 422, "There is no such model."),
    ],
)
def test_what_cannot_be_is_said_on_the_page(
    owner_pages: Client, memory: MemoryView, form: dict[str, str], status: int, sentence: str
) -> None:
    answer = owner_pages.post(PAGE, form)

    assert answer.status_code == status
    assert sentence in answer.content.decode()
    assert WORDS in answer.content.decode()


def test_before_the_first_memory_there_is_nothing_and_others_are_told_who_chooses(
    owner_pages: Client, viewer_pages: Client, shop: str
) -> None:
    answer = viewer_pages.get(PAGE)

    assert "No memory has been embedded yet." in said(owner_pages)
    assert answer.status_code == 403
    assert b"Owners and admins choose the embedding model." in answer.content
