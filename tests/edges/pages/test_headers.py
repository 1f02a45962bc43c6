"""Every address of the product answers with the same guards: policy, no caches, closed cookies."""

import re
from collections.abc import Iterator, Sequence
from http.cookies import Morsel
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import User
from memory.records.queries.views import MemoryView

PARTS = {
    "org": "acme",
    "project": "shop",
    "uidb36": "abc",
    "key": "abc-def",
    "secret": "nobody-was-invited-by-this",
    "name": "operators",
    "verb": "confirm",
    "number": "1",
    "id": str(uuid4()),
    "ref": "shop",
    "object_id": "1",
    "app_label": "accounts",
    "url": "nothing",
    "pk": "1",
    "content_type_id": "1",
    "provider": "none",
}
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
        "name": cookie.key in {"cairn", "cairn-csrf", "cairn-language"},
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
        client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
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
