"""Operators see who is here and what runs, never a secret; others see nothing."""

import random
from datetime import datetime
from urllib.parse import urlsplit

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller
from accounts.models import Job, Organization, Plan, Token, User
from tests.support.secret_kinds import filled

SECRET = filled(form="ghp_{A36}", draw=random.Random(7))
PAGES = [f"{m._meta.app_label}/{m._meta.model_name}/" for m in admin.site._registry]


@pytest.fixture
def operator(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("ops@cairn.test", "a long password"))
    return client


@pytest.fixture
def failed(caller: Caller) -> Job:
    return Job.objects.create(
        organization_id=caller.organization_id,
        name="memory.embed",
        queue="interactive",
        state=Job.State.FAILED,
        payload={"memory": "payload-of-theirs"},
        run_after=timezone.now(),
    )


def test_the_admin_is_entered_by_operators_alone_and_other_staff_see_no_row(
    client: Client, owner: User, caller: Caller, now: datetime
) -> None:
    entrance = client.get("/admin/login/?next=/admin/")
    client.force_login(owner)

    assert urlsplit(entrance.url).path == reverse("account_login")
    for page in ("", *PAGES):
        assert client.get(f"/admin/{page}", follow=True).status_code == 403, page
    helper = User.objects.create_user("helper@cairn.test", "a long password", is_staff=True)
    helper.user_permissions.set(Permission.objects.filter(codename="view_token"))
    create_token(caller=caller, new=NewToken(name="laptop"), now=now)
    client.force_login(helper)
    shown = client.get("/admin/accounts/token/")
    assert (shown.status_code, "laptop" in shown.content.decode()) == (200, False)


def test_every_list_opens_and_no_row_shows_a_digest_or_a_payload(
    operator: Client, failed: Job, caller: Caller, now: datetime
) -> None:
    issued = create_token(caller=caller, new=NewToken(name="laptop"), now=now)
    for page in ("", *PAGES):
        assert operator.get(f"/admin/{page}").status_code == 200, page

    token, job = (
        operator.get(f"/admin/accounts/{page}/change/").content.decode()
        for page in (f"token/{issued.token.id}", f"job/{failed.id}")
    )

    row = Token.objects.get()
    assert "laptop" in token
    assert row.digest not in token
    assert row.lookup not in token
    assert "memory.embed" in job
    assert "payload-of-theirs" not in job


def test_an_operator_runs_a_failed_job_again_and_revokes_a_token(
    operator: Client, failed: Job, caller: Caller, now: datetime
) -> None:
    issued = create_token(caller=caller, new=NewToken(name="laptop"), now=now)

    for page, action, id in (("job", "retry", failed.id), ("token", "revoke", issued.token.id)):
        form = {"action": action, "_selected_action": [str(id)]}
        operator.post(f"/admin/accounts/{page}/", form)

    failed.refresh_from_db()
    assert (failed.state, failed.attempts) == (Job.State.QUEUED, 0)
    assert Token.objects.get().revoked_at is not None


def test_no_form_takes_or_repeats_a_secret(operator: Client, caller: Caller) -> None:
    for page, values in (
        (f"user/{caller.user_id}/change/", {"language": "en", "is_active": "on"}),
        (f"organization/{caller.organization_id}/change/", {"language": "en"}),
        ("plan/add/", {}),
    ):
        answer = operator.post(f"/admin/accounts/{page}", {"name": SECRET, **values})

        assert (page, answer.status_code) == (page, 200)
        assert "looks like a secret" in answer.content.decode()
        assert SECRET not in answer.content.decode()
    assert not User.objects.filter(name=SECRET).exists()
    assert not Organization.objects.filter(name=SECRET).exists()
    assert not Plan.objects.filter(name=SECRET).exists()
