"""The card of a project's code on the page of connections: empty, under way, done, refused."""

from datetime import UTC, datetime

from django.test import Client

from accounts.authentication import entered
from frontend.labels import INDEX_STATES, LANGUAGES
from graph.code.languages import Language
from graph.index.queries import State
from tests.edges.pages.conftest import HTMX
from tests.edges.pages.session_pages import Pages
from tests.support import coding
from tests.support.coding import FILES

CARD = "/o/acme/p/shop/connections/code"
BINARY = {**FILES, "shop/logo.bin": "\0\0\0"}


def card(client: Client) -> str:
    """Return the card as the page that is open fetches it."""
    response = client.get(CARD, **HTMX)  # type: ignore[arg-type]
    assert response.status_code == 200
    return response.text


def test_a_project_without_code_shows_the_command(pages: Pages) -> None:
    shown = card(pages.owner)
    without_scripts = pages.owner.get(CARD).text

    assert "<code>cairn index --project shop</code></pre><button" in shown
    assert "data-copy" in shown
    assert 'class="meter"' not in shown
    assert "</html>" in without_scripts
    assert "cairn index --project shop" in without_scripts


def test_files_that_arrive_are_counted_and_what_is_done_is_told(pages: Pages) -> None:
    now = datetime.now(UTC)
    with entered(pages.caller):
        announced = coding.announce(pages.caller, now, BINARY)
    arriving = card(pages.owner)
    with entered(pages.caller):
        coding.send(pages.caller, now, announced, BINARY)
        coding.resolve()
    done = card(pages.owner)
    changes = pages.owner.get("/o/acme/changes?after=0").json()["changes"]

    for text in ("Files are arriving", 'aria-label="0 of 3 files"'):
        assert text in arriving
    for text in (
        "Up to date", "Python&nbsp;2, others&nbsp;1", '<dt>Symbols</dt><dd class="num">3</dd>',
        "1 file could not be read", ">shop/logo.bin</code>", "This is not a text file.",
    ):  # fmt: skip
        assert text in done
    assert "cairn index --project" not in arriving
    assert 'class="meter"' not in done
    feed = [one["html"]["feed"] for one in changes if one["kind"] == "index.progress"]
    assert [f'href="{pages.shop}connections"' in line for line in feed] == [True] * len(feed) != []


def test_every_state_and_language_has_its_words() -> None:
    assert {state.value for state in State} <= INDEX_STATES.keys()
    assert LANGUAGES.keys() == {language.value for language in Language}
