"""Every write is told once in the audit log, and a refused one is not."""

import json
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.core.management import call_command
from django.db import transaction
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver

from accounts.caller import TokenScope
from accounts.models import Organization, User
from config.urls import ENDPOINTS
from frontend import urls
from memory.client.install import HARNESSES
from memory.mcp.server import TOOLS
from teams.audit import every_entry, verify
from tests.edges.audit import surfaces, world
from tests.edges.audit.surfaces import CONTENT, CREATE_MEMORIES, CREATE_MEMORY, PAGES, REST, Write
from tests.edges.audit.world import World, acme
from tests.support import people

__all__ = ["acme"]

HERE = {"X-Request-Id": "r-29"}
WRITES = {"rest": REST, "page": PAGES, "admin": tuple(surfaces.ADMIN.values())}

Figure = Callable[[str], None]


def send(acme: World, write: Write, *, by: str, with_: Mapping[str, Any] | None = None) -> Any:
    """Send a write in somebody's name."""
    path = write.path.format(**acme.names)
    given = json.loads(_filled(json.dumps(write.send if with_ is None else with_), acme))
    if by in acme.apis:
        headers = {**HERE, **({"If-Match": "*"} if write.method in {"PATCH", "DELETE"} else {})}
        return acme.apis[by].call(write.method, path, given, **headers)
    return acme.browsers[by].post(path, given, headers=HERE)


def _filled(text: str, acme: World) -> str:
    for name, value in acme.names.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def check_told_once(acme: World, write: Write, surface: str) -> None:
    """Send it; check that its one entry says who, what, when and from where."""
    before = world.written()

    answer = send(acme, write, by=write.by)

    assert answer.status_code < 400, answer.content[:500]
    assert world.written() - before == 1
    with people.entered(organization=Organization.objects.get(slug="acme")):
        assert verify().fault is None
    entry = world.newest(write.in_organization)
    assert (entry.act, entry.surface, entry.request_id) == (write.act, surface, "r-29")
    assert entry.address == "127.0.0.1"
    assert entry.actor_user is not None
    assert bool(entry.token_id) == (surface == "rest")


def check_not_told(acme: World, write: Write, surface: str) -> None:
    """Send it so that it is refused; check that nothing is told."""
    before = world.written()

    by = write.refused_to if write.wrong is None else write.by
    answer = send(acme, write, by=by, with_=write.wrong)

    is_sent_away = surface == "admin" and answer.get("Location", "").startswith("/admin/login/")
    assert is_sent_away or 400 <= answer.status_code < 500, answer.content[:500]
    assert world.written() == before


@pytest.mark.goal(name="G29")
def test_every_write_is_told_once_and_none_that_was_refused(
    acme: World, subtests: pytest.Subtests, figure: Figure
) -> None:
    for surface, check in product(WRITES, (check_told_once, check_not_told)):
        for write in WRITES[surface]:
            undo = transaction.savepoint()
            with subtests.test(f"{check.__name__}: {write.act} by {write.path}"):
                check(acme, write, surface)
            transaction.savepoint_rollback(undo)

    said = ", ".join(f"{len(writes)} by {surface}" for surface, writes in WRITES.items())
    figure(f"{said}: told once, and not when refused")


def test_what_is_repeated_is_told_once_and_a_form_that_only_looks_not_at_all(acme: World) -> None:
    before, writer = world.written(), acme.apis["writer"]

    for path in ("teach/look", f"memories/{acme.names['memory']}/diff"):
        looked = acme.browsers["owner"].post(f"/o/acme/p/shop/{path}", {"content": CONTENT})
        assert (looked.status_code, world.written()) == (200, before)
    for _ in range(2):
        made = writer.post(CREATE_MEMORY.path, CREATE_MEMORY.send, **{"Idempotency-Key": "k"})
        revoked = writer.delete(f"tokens/{acme.names['token']}")
        assert (made.status_code, revoked.status_code) == (201, 200)

    assert world.written() - before == 2


def test_a_batch_tells_what_became_of_each_in_the_chain(acme: World) -> None:
    answer = send(acme, CREATE_MEMORIES, by="writer")

    stored = [one["memory"]["id"] for one in answer.json()["outcomes"] if one["memory"]]
    assert world.newest("acme").details == {"memories": 2, "created": stored}
    with people.entered(organization=Organization.objects.get(slug="acme")):
        assert verify().fault is None


def test_signing_up_is_told_to_the_new_organization(acme: World) -> None:
    before = world.written()
    form = {"email": "new@cairn.test", "password1": people.PASSWORD, "password2": people.PASSWORD}

    answer = Client().post("/signup/", form, headers=HERE)

    assert answer.status_code == 302, answer.content[:500]
    assert world.written() - before == 1
    entry = world.newest(Organization.objects.latest("created_at").slug)
    assert (entry.act, entry.surface, entry.request_id) == ("organization.created", "page", "r-29")


@pytest.mark.usefixtures("clean_cache")
@pytest.mark.django_db
def test_acts_of_a_command_share_the_id_of_its_run(tmp_path: Path) -> None:
    call_command("bootstrap", credentials=tmp_path / "credentials.json", stdout=StringIO())

    with people.entered(organization=Organization.objects.get(slug="home")):
        entries = tuple(every_entry())
    acts = [entry.act for entry in entries]
    made = ["token.created"] * (1 + len(HARNESSES))
    assert acts == ["organization.created", "project.created", *made]
    assert {entry.surface for entry in entries} == {"command"}
    assert len({entry.request_id for entry in entries} - {""}) == 1


def test_every_call_page_and_tool_stands_in_the_table() -> None:
    calls = {endpoint.name for endpoint in ENDPOINTS if endpoint.method != "GET"}
    tools = {name for name, tool in TOOLS.items() if tool.scope != TokenScope.READ}
    reading = surfaces.PAGES_THAT_READ | surfaces.PAGES_OF_ONE_PERSON
    listed = {surfaces.match(one.path).url_name for one in PAGES}

    assert calls == set(surfaces.calls()) | surfaces.REST_READS | surfaces.REST_OF_ANYBODY
    assert tools == set(surfaces.TOOLS)
    assert listed & reading == set()
    assert {*_pages(urls.urlpatterns)} <= listed | reading


def test_everything_on_the_admin_site_stands_in_the_table(acme: World) -> None:
    request = RequestFactory().get("/admin/")
    request.user = User.objects.get(pk=acme.names["operator"])

    changing = {
        model._meta.label_lower
        for model, site in admin.site._registry.items()
        if _changes(site, request)
    }

    assert changing == set(surfaces.ADMIN) | surfaces.ADMIN_OF_THE_INSTALLATION


def _pages(patterns: Iterable[URLPattern | URLResolver]) -> Iterable[str]:
    """Return the names of our own pages; sign-in and the like are allauth's."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _pages(pattern.url_patterns)
        elif pattern.callback.__module__.startswith("frontend."):
            yield pattern.name or ""


def _changes(site: Any, request: Any) -> bool:
    may = (site.has_add_permission, site.has_change_permission, site.has_delete_permission)
    return any(ask(request) for ask in may) or bool(set(site.actions or ()) - {"delete_selected"})
