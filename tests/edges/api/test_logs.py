"""Logs say where and how long, and nothing of what anybody wrote; links stay out of them."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any, Final
from uuid import uuid4

import pytest
from celery.signals import task_prerun
from django.conf import LazySettings
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts import jobs, tasks
from accounts.jobs import Claim
from accounts.models import Organization, User
from config import telemetry
from tests.support import people
from tests.support.api import Api
from tests.support.people import PASSWORD

CANARY: Final = "canaryqzx"
FORMATS: Final = (telemetry.LineFormatter, telemetry.JsonFormatter)
FORGOTTEN: Final = reverse("account_reset_password")


@pytest.fixture
def logs() -> Iterator[list[str]]:
    """What is logged meanwhile, by the formats one after the other, our own at every level."""
    lines: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.extend(kind().format(record) for kind in FORMATS)

    keeper, root = Keeper(), logging.getLogger()
    loud = [
        logging.getLogger(name)
        for name in ("accounts", "config", "frontend", "graph", "memory", "teams", "cairn.requests")
    ]
    before = [logger.level for logger in loud]
    root.addHandler(keeper)
    for logger in loud:
        logger.setLevel(logging.DEBUG)
    yield lines
    root.removeHandler(keeper)
    for logger, level in zip(loud, before, strict=True):
        logger.setLevel(level)


def requests(lines: list[str]) -> list[dict[str, Any]]:
    """Return the lines of requests in the format for programs."""
    read = [json.loads(line) for line in lines if line.startswith("{")]
    return [one for one in read if one["logger"] == "cairn.requests"]


@pytest.mark.django_db
def test_a_request_is_logged_with_its_route_time_and_organization(
    api: Api, organization: Organization, logs: list[str]
) -> None:
    api.get(f"memories/{uuid4()}")
    api.post("search", {"query": f"where is {CANARY}"})

    first, second = requests(logs)

    assert (first["method"], first["route"]) == ("GET", "/api/v1/memories/{id}")
    assert (first["status"], second["status"]) == (404, 200)
    assert second["organization"] == str(organization.pk)
    assert second["ms"] > 0
    assert len(second["request_id"]) == 32
    assert not any(CANARY in line for line in logs)


@pytest.mark.django_db
def test_no_line_holds_what_was_sent_stored_or_broke(
    api: Api, organization: Organization, logs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(claim: Claim) -> dict[str, Any]:
        raise ValueError(f"cannot read {CANARY}")

    monkeypatch.setitem(jobs._handlers, "memory.run_import", break_down)
    api.post("memories", {"content": f"The {CANARY} service retries calls.", "type": CANARY})
    api.post("search", {"query": CANARY, "limit": CANARY})
    api.client.get(f"/invite/{CANARY}")
    api.client.get(f"/{CANARY}?{CANARY}=1")
    with people.entered(organization=organization):
        jobs.enqueue("memory.run_import", payload={"text": CANARY})
    held = jobs.claim(queue="bulk", worker="here")
    assert held is not None
    tasks.run(held=held)

    assert any("ValueError" in line and "break_down" in line for line in logs)
    assert [line for line in logs if CANARY in line] == []
    assert [line for line in logs if "crn_" in line] == []


@pytest.mark.django_db
def test_a_page_that_breaks_is_logged_by_its_route(
    client: Client, logs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(**_: Any) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr("frontend.views.public.invitation_offer", break_down)
    client.raise_request_exception = False

    statuses = {client.get(f"/invite/{CANARY}{end}").status_code for end in ("", "ä")}

    assert statuses == {500}
    assert [line for line in logs if CANARY in line] == []
    assert any("Internal Server Error: /invite/{" in line for line in logs)


@pytest.mark.django_db
def test_a_task_logs_nothing_of_the_organization_of_the_one_before(
    organization: Organization, logs: list[str]
) -> None:
    with people.entered(organization=organization):
        pass

    task_prerun.send(sender="cairn.sweep")
    logging.getLogger("accounts.tasks").warning("Jobs whose worker was gone")

    assert str(organization.pk) not in logs[-1]


@pytest.mark.django_db
def test_where_no_mail_is_sent_pages_say_so_and_the_operator_has_the_link(
    client: Client, owner: User, settings: LazySettings, mailoutbox: list[Any], logs: list[str]
) -> None:
    settings.SENDS_MAIL = False
    out = io.StringIO()

    asked, sent = client.get(FORGOTTEN), client.post(FORGOTTEN, {"email": owner.email})
    call_command("reset_link", owner.email, stdout=out)
    link = out.getvalue().strip()
    form = client.get(link.removeprefix(settings.BASE_URL), follow=True)
    new = {"password1": f"{PASSWORD} 2", "password2": f"{PASSWORD} 2"}
    done = client.post(form.redirect_chain[-1][0], new)

    assert {asked.status_code, sent.status_code} == {409}
    assert b"sends no mails" in sent.content
    assert b"manage.py reset_link" in sent.content
    assert done.status_code == 302
    owner.refresh_from_db()
    assert owner.check_password(f"{PASSWORD} 2")
    assert mailoutbox == []
    assert [line for line in logs if link.rpartition("/reset/")[2] in line] == []


@pytest.mark.django_db
def test_signing_up_without_mail_promises_none(
    client: Client, settings: LazySettings, mailoutbox: list[Any]
) -> None:
    settings.SENDS_MAIL = False

    page = client.post(
        reverse("account_signup"), {"email": "new@acme.test", "password1": PASSWORD}, follow=True
    )
    cache.clear()  # asking again is limited
    resent = client.post(
        reverse("account_email"), {"action_send": "", "email": "new@acme.test"}, follow=True
    )

    assert page.status_code == 200
    assert mailoutbox == []
    assert b"onfirmation email sent" not in page.content + resent.content
    assert b"sends no mails" in resent.content


@pytest.mark.django_db
def test_the_operator_is_told_of_an_address_without_an_account() -> None:
    with pytest.raises(CommandError, match=r"nobody@acme\.test"):
        call_command("reset_link", "nobody@acme.test")
