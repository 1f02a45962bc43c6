"""Refusals on French pages are French, of every kind of form."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Final

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.models import User
from config.translations import catalog
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, STATEMENT, verb
from tests.edges.pages.session_pages import Pages
from tests.support.memories import correct

SHOP = "/o/acme/p/shop/"
SECRET = f"The key is {'AKIA'}{'Q7RZ1VB9KX3TN5WM'} for every upload of the nightly job."
NB = "\u00a0"
UNREAD: Final = frozenset({"code", "pre", "kbd", "script", "style"})
VOID: Final = frozenset({"input", "br", "hr", "meta", "link", "img", "col", "wbr"})
READ_OUT: Final = frozenset(
    {"title", "aria-label", "placeholder", "alt", "data-confirm", "data-one", "data-many"}
)
WORD: Final = re.compile(r"[A-Za-z]{2}")
COMMON: Final = {
    str(message.id) for message in catalog(language="fr") if message.id == message.string
}  # words of both languages
WRITTEN: Final = re.compile(  # names, what people wrote, what is typed
    r"Acme|acme|Shop|shop|storefront|Token refresh|^auth|middleware|^(is|tag):|[0-9a-f]{8}"
    r"|Claude Code|Cursor|Codex|Copilot|Cline|^(MCP|REST)|^Invitation · Cairn|dimensions$"
    r"|^(API|Cairn|Enter|Esc|Français|Hooks|JSON|Markdown|Owner)$"
)


INVITE = "/o/acme/settings/members/invite"
REFUSED = (
    ("/o/acme/projects/new", {"name": "Shop", "slug": "shop"}, "est déjà pris"),
    ("/o/acme/projects/new", {"name": "S", "slug": "S!"}, "ne peut pas être un nom court"),
    (f"{SHOP}teach", {"content": "ok"}, f"a 2 caractères{NB}; il en faut au moins 20"),
    (f"{SHOP}teach", {"content": SECRET}, f"ressemble à un secret{NB}: "),
    (f"{SHOP}teach", {"content": STATEMENT, "scope": "galaxy"}, "n’est pas l’une de ces"),
    (INVITE, {"email": "x", "role": "member"}, "adresse e-mail"),
    (INVITE, {"email": "a@b.fr", "role": "king"}, "Ce rôle n’"),
    (INVITE, {"email": "ida@b.test", "role": "member"}, "ida@b.test a déjà reçu une invitation."),
    ("/me", {"name": "a" * 101}, "Ce nom n’est pas possible."),
    ("/me", {"theme": "pink"}, "Ce thème n’est pas possible."),
    ("/o/new", {"name": ""}, "Le nom doit avoir de 1 à 100 caractères"),
)


def test_refused_forms_queries_and_verbs_say_in_french_why(
    pages: Pages, owner: User, memory: MemoryView, subtests: pytest.Subtests
) -> None:
    User.objects.filter(pk=owner.pk).update(language="fr")
    french = pages.owner
    again = {"email": "ida@b.test", "role": "member"}
    french.post(INVITE, again)
    for address, form, said in REFUSED:
        with subtests.test(f"{address} {form}"):
            page = french.post(address, form, **HTMX)  # type: ignore[arg-type]
            assert page.status_code in {409, 422}
            assert said in page.text
    whole = french.post(INVITE, again).text
    assert "ida@b.test a déjà reçu une invitation." in whole
    assert "has been" not in whole
    for query, said in (
        ("type:non!", "type:non! n’est pas un filtre."),
        ("type:non!", "Utilisez un type comme gotcha, decision ou fact."),
        ("type:nonsense", "Ce type de souvenir n’existe pas."),
    ):
        assert said in french.get(f"{SHOP}memories", {"q": query}).text
    french.post(verb(memory.id, "archive"), **HTMX)
    toast = french.post(verb(memory.id, "confirm"), **HTMX).text
    assert f"Ce souvenir est dans l’état «{NB}Archivé{NB}»." in toast


class _Texts(HTMLParser):
    """What a page says: its texts, and the attributes that are read out; no code."""

    def __init__(self) -> None:
        super().__init__()
        self.said: set[str] = set()
        self.unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what is read out, and leave the inside of code alone."""
        is_unread = tag in UNREAD or (tag != "html" and ("lang", "en") in attrs)
        self.unread += bool(self.unread or is_unread) and tag not in VOID
        self.said |= {value.strip() for name, value in attrs if name in READ_OUT and value}

    def handle_endtag(self, tag: str) -> None:
        """Leave code at its end."""
        self.unread -= bool(self.unread) and tag not in VOID

    def handle_data(self, data: str) -> None:
        """Take a text."""
        if not self.unread:
            self.said.add(" ".join(data.split()))


def _said(pages: Client, address: str) -> set[str]:
    texts = _Texts()
    texts.feed(pages.get(address).text)
    return {text for text in texts.said if WORD.search(text)}


SPOKEN: Final = (
    "/o/?choose", "/o/new", "/o/acme/", "/o/acme/projects/new", "/o/acme/palette?q=a", "/me",
    SHOP, f"{SHOP}memories", f"{SHOP}memories?q=redis&why=1", f"{SHOP}memories?q=tag:none",
    f"{SHOP}memories?q=bread&why=1&anyway=1", f"{SHOP}memories?q=is:any", f"{SHOP}activity",
    f"{SHOP}memories/{{old}}", f"{SHOP}memories/{{id}}", f"{SHOP}memories/{{id}}/correct",
    f"{SHOP}memories/{{id}}/archive", f"{SHOP}teach", f"{SHOP}connections", "/nothing",
    "/o/acme/settings/general", "/o/acme/settings/members", "/o/acme/settings/members/invite",
    "/o/acme/settings/tokens", "/o/acme/settings/tokens/new", "/o/acme/settings/models",
    "/o/acme/settings/audit", "/o/none/", "/invite/none", "/email/", "/password/change/",
    "/password/reset/", "/2fa/", "/logout/", "/reauthenticate/", "/login/", "/signup/",
)  # fmt: skip


def test_pages_say_nothing_alike_in_both_languages(
    pages: Pages, memory: MemoryView, owner: User
) -> None:
    caller, now = pages.caller, datetime.now(UTC)
    with entered(caller):
        new = correct(
            caller=caller, memory_id=memory.id, kind="wrong", reason="", now=now,
            content="Token refresh raises when Redis is unreachable; catch ECONNREFUSED.",
        ).memory  # fmt: skip
    spoken = [address.format(id=new and new.id, old=memory.id) for address in SPOKEN]

    english = {page: _said(pages.owner, page) for page in spoken}
    User.objects.filter(pk=owner.pk).update(language="fr")
    french = {page: _said(pages.owner, page) for page in spoken}

    alike = {
        page: [text for text in english[page] & french[page] - COMMON if not WRITTEN.search(text)]
        for page in spoken
    }
    assert {page: texts for page, texts in alike.items() if texts} == {}
