"""The card of a project's code on the page of connections: empty, under way, done, refused."""

from datetime import UTC, datetime

from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from frontend.labels import INDEX_STATES, LANGUAGES
from graph.code.languages import Language
from graph.index.actions import Announcement
from graph.index.queries import State
from tests.edges.pages.conftest import HTMX
from tests.support import coding
from tests.support.coding import FILES

CARD = "/o/acme/p/shop/connections/code"
BINARY = {**FILES, "shop/logo.bin": "\0\0\0"}


def card(client: Client) -> str:
    """Return the card as the page that is open fetches it."""
    response = client.get(CARD, **HTMX)  # type: ignore[arg-type]
    assert response.status_code == 200
    return response.content.decode()


def announced(caller: Caller) -> Announcement:
    """Say which files a project has."""
    with entered(caller):
        return coding.announce(caller, datetime.now(UTC), BINARY)


def sent(caller: Caller, told: Announcement) -> None:
    """Send them."""
    with entered(caller):
        coding.send(caller, datetime.now(UTC), told, BINARY)


def joined(caller: Caller) -> None:
    """Make the edges."""
    with entered(caller):
        coding.resolve()


def test_a_project_without_code_shows_the_command(owner_pages: Client, shop: str) -> None:
    shown = card(owner_pages)

    assert "<code>cairn index --project shop</code></pre><button" in shown
    assert "data-copy" in shown
    assert 'class="meter"' not in shown
    without_scripts = owner_pages.get(CARD).content.decode()
    assert "</html>" in without_scripts
    assert "cairn index --project shop" in without_scripts


def test_files_that_arrive_are_counted(owner_pages: Client, shop: str, caller: Caller) -> None:
    announced(caller)

    shown = card(owner_pages)

    assert "Files are arriving" in shown
    assert 'aria-label="0 of 3 files"' in shown
    assert "cairn index --project" not in shown


def test_what_is_done_is_told_with_its_figures_and_what_could_not_be_read(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    sent(caller, announced(caller))
    joined(caller)

    shown = card(owner_pages)

    assert "Up to date" in shown
    assert "Python&nbsp;2, others&nbsp;1" in shown
    assert '<dt>Symbols</dt><dd class="num">3</dd>' in shown
    assert 'class="meter"' not in shown
    assert "1 file could not be read" in shown
    assert ">shop/logo.bin</code>" in shown
    assert "This is not a text file." in shown


def test_every_state_and_language_has_its_words() -> None:
    assert {state.value for state in State} <= INDEX_STATES.keys()
    assert LANGUAGES.keys() == {language.value for language in Language}


def test_the_feed_leads_to_the_card(owner_pages: Client, shop: str, caller: Caller) -> None:
    sent(caller, announced(caller))

    changes = owner_pages.get("/o/acme/changes?after=0").json()["changes"]

    told = [one["html"]["feed"] for one in changes if one["kind"] == "index.progress"]
    assert told
    assert all(f'href="{shop}connections"' in line for line in told)
