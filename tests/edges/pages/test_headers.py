"""Every address has the same guards; documents, errors, accounts pages are shown."""

import re
from collections.abc import Iterator, Sequence
from http.cookies import Morsel
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, path

from accounts.models import User
from frontend.presenters import doc_pages
from memory.records.queries.views import MemoryView
from tests.edges.pages.session_pages import Pages

PARTS = {
    "org": "acme", "project": "shop", "uidb36": "abc", "key": "abc-def", "number": "1",
    "secret": "nobody-was-invited-by-this", "name": "operators", "verb": "confirm",
    "id": str(uuid4()), "ref": "shop", "object_id": "1", "app_label": "accounts", "pk": "1",
    "url": "nothing", "content_type_id": "1", "provider": "none",
}  # fmt: skip
GROUP = re.compile(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)|<(?:\w+:)?(\w+)>")
INLINE = (
    re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)(?![^>]*\bnonce=)[^>]*>"),
    re.compile(r"<style(?![^>]*\bnonce=)"),
    re.compile(r"<[a-z][^>]*\sstyle="),
    re.compile(r"<[a-z][^>]*\son[a-z]+="),
    re.compile(r"(?:href|src|action)=[\"']?javascript:"),
)


def _routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        else:
            yield route


def _address(route: str, memory_id: str) -> str:
    values = {**PARTS, "memory_id": memory_id}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return values.get(name, str(uuid4()))

    plain = GROUP.sub(value, route)
    return "/" + re.sub(r"[\^$]|\\Z|/\?|\\(?=[./-])", "", plain).lstrip("/")


ADMIN = "admin/"  # whose pages are for operators alone
ROUTES = sorted(set(_routes(get_resolver().url_patterns)))


def _faults(answer: Any) -> list[str]:
    policy = answer.headers.get("Content-Security-Policy", "")
    wanted = {
        "frame-ancestors 'none'": "frame-ancestors 'none'" in policy,
        "default-src 'none'": "default-src 'none'" in policy,
        "no unsafe sources": "unsafe" not in policy,
        "nosniff": answer.headers.get("X-Content-Type-Options") == "nosniff",
        "no-store": "no-store" in answer.headers.get("Cache-Control", ""),
        "no frames": answer.headers.get("X-Frame-Options") == "DENY",
        "no error of ours": answer.status_code != 500,
    }
    cookies = [fault for cookie in answer.cookies.values() for fault in _cookie_faults(cookie)]
    return [name for name, holds in wanted.items() if not holds] + cookies + _inline(answer)


def _cookie_faults(cookie: Morsel[str]) -> list[str]:
    wanted = {
        "HttpOnly": bool(cookie["httponly"]) or not cookie.value,
        "SameSite": cookie["samesite"] == "Lax",
        "Path": cookie["path"] == "/",
        "Domain": not cookie["domain"],
        "name": cookie.key in {"cairn", "cairn-csrf", "cairn-language", "cairn-known"},
    }
    return [f"{cookie.key}: {name}" for name, holds in wanted.items() if not holds]


def _inline(answer: Any) -> list[str]:
    if answer.request["PATH_INFO"].startswith("/admin/"):
        return []  # its templates are not ours; the policy, which is checked, switches it off
    if answer.streaming or not answer.headers.get("Content-Type", "").startswith("text/html"):
        return []
    return [found[0] for pattern in INLINE if (found := pattern.search(answer.text))]


def _walk(
    person: User | None, memory: MemoryView, routes: Sequence[str] = ROUTES
) -> dict[str, list[str]]:
    client, found = Client(raise_request_exception=False), dict[str, list[str]]()
    if person is not None:
        client.force_login(person)
    for route in routes:
        address = _address(route, str(memory.id))
        for method in ("GET", "POST"):
            answer = client.generic(method, address)
            if faults := _faults(answer):
                found[f"{method} {address} ({answer.status_code})"] = faults
    return found


def test_static_files_are_guarded_and_kept() -> None:
    answer = Client().get("/static/frontend/app.css")

    assert answer.status_code == 200
    assert _faults(answer) == ["no-store", "no frames"]  # the policy forbids frames by itself
    assert "max-age" in answer.headers["Cache-Control"]


@pytest.mark.usefixtures("clean_cache")
def test_every_route_is_guarded_for_strangers(memory: MemoryView) -> None:
    assert len(ROUTES) > 100
    assert _walk(None, memory) == {}


@pytest.mark.usefixtures("clean_cache")
def test_every_route_is_guarded_for_people(owner: User, memory: MemoryView) -> None:
    assert _walk(owner, memory, [one for one in ROUTES if not one.startswith(ADMIN)]) == {}


@pytest.mark.usefixtures("clean_cache")
def test_every_route_is_guarded_for_operators(memory: MemoryView) -> None:
    operator = User.objects.create_superuser("operator@acme.test", "a long password")

    assert _walk(operator, memory, [one for one in ROUTES if one.startswith(ADMIN)]) == {}


ENTRANCE = ("/login/", "/signup/", "/password/reset/", "/password/reset/done/")
MANAGE = ("/email/", "/password/change/", "/2fa/", "/2fa/totp/activate/", "/2fa/webauthn/add/")


def test_every_document_is_shown_and_an_unknown_one_not_found(client: Client, db: None) -> None:
    for page in doc_pages.pages():
        response = client.get(f"/docs/{page.name}/")
        assert response.status_code == 200
        assert b"<h1>" in response.content
    for missing in map(client.get, ("/docs/nothing/", "/nothing")):
        assert missing.status_code == 404
        assert missing["X-Request-Id"] in missing.text
    html = doc_pages.render(markdown="<script>x</script> [a](javascript:x) ![](data:x)")
    assert ("<script" in html, 'href="javascript' in html) == (False, False)


def test_pages_of_accounts_render_in_both_languages(pages: Pages, client: Client) -> None:
    for address in ENTRANCE:
        for language in ("en", "fr"):
            response = client.get(address, HTTP_ACCEPT_LANGUAGE=language)
            assert response.status_code == 200
            assert f'<html lang="{language}"' in response.text
    for address in MANAGE:
        response = pages.owner.get(address, follow=True)
        assert response.status_code == 200
        assert b'class="entrance"' in response.content


def broken(request: HttpRequest) -> HttpResponse:
    """Break."""
    raise RuntimeError("broken on purpose")


def away(request: HttpRequest) -> HttpResponse:
    """Fail as when the database is away."""
    raise OperationalError("the database is away, on purpose")


urlpatterns = [path("broken", broken), path("away", away)]
handler500 = "frontend.views.errors.broken"


@override_settings(ROOT_URLCONF=__name__)
def test_broken_pages_name_the_request_or_say_to_try_again(db: None) -> None:
    client = Client(raise_request_exception=False)
    broke, gone = (client.get(address) for address in ("/broken", "/away"))

    assert broke.status_code == 500
    assert broke["X-Request-Id"] in broke.text
    assert (gone.status_code, gone["Retry-After"]) == (503, "5")
    assert b"Cairn is temporarily unavailable" in gone.content


def test_form_without_a_token_is_refused_with_a_page(pages: Pages) -> None:
    client = Client(enforce_csrf_checks=True)
    client.cookies = pages.owner.cookies

    response = client.post("/o/acme/projects/new", {"slug": "x", "name": "x"})

    assert response.status_code == 403
    assert b"This form is too old" in response.content
