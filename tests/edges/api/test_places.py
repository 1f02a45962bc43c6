"""Projects, the change feed, jobs, tokens and oneself over REST."""

import time

import pytest
from django.conf import LazySettings

from accounts.actions.organizations import change_organization
from accounts.api import jobs
from accounts.authentication import entered
from accounts.caller import Caller
from tests.support.api import STATEMENT, Api


def test_a_project_is_created_and_found_by_slug_and_id(api: Api) -> None:
    created = api.post("projects", {"slug": "api", "name": "API"})

    project = created.json()
    assert created.status_code == 201
    assert api.get("projects/api").json() == project
    assert api.get(f"projects/{project['id']}").json() == project
    assert [one["slug"] for one in api.get("projects").json()["items"]] == ["api", "shop"]


def test_how_long_it_is_kept_what_agents_did_is_said_and_read(api: Api) -> None:
    usual = api.get("projects/shop")
    said = api.patch(
        "projects/shop", {"keep_events_days": 7}, **{"If-Match": usual.headers["ETag"]}
    )
    read = api.get("projects/shop").json()["keep_events_days"]
    unset = api.patch(
        "projects/shop", {"keep_events_days": None}, **{"If-Match": said.headers["ETag"]}
    )

    assert (usual.json()["keep_events_days"], said.status_code, read) == (None, 200, 7)
    assert unset.json()["keep_events_days"] is None


def test_the_organization_s_days_are_told_where_those_are_fewer(api: Api, caller: Caller) -> None:
    tag = api.get("projects/shop").headers["ETag"]
    api.patch("projects/shop", {"keep_events_days": 20}, **{"If-Match": tag})
    with entered(caller):
        change_organization(caller=caller, name="Acme", keep_events_days=5)

    one, every = api.get("projects/shop"), api.get("projects").json()["items"]
    same = api.patch("projects/shop", {"keep_events_days": 5}, **{"If-Match": one.headers["ETag"]})

    assert one.json()["keep_events_days"] == 5
    assert [each["keep_events_days"] for each in every] == [5]
    assert same.headers["ETag"] != one.headers["ETag"]


@pytest.mark.parametrize("days", [0, 31, 366, 2.5, "7", True])
def test_it_is_kept_for_a_day_and_for_no_longer_than_the_organization_says(
    api: Api, days: object
) -> None:
    version = api.get("projects/shop").headers["ETag"]

    answer = api.patch("projects/shop", {"keep_events_days": days}, **{"If-Match": version})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/keep_events_days"
    assert api.get("projects/shop").json()["version"] == 1


def test_a_slug_is_taken_once(api: Api) -> None:
    answer = api.post("projects", {"slug": "shop", "name": "Again"})

    assert answer.status_code == 409
    assert answer.json()["code"] == "slug_taken"


def test_the_feed_is_followed_by_its_cursor(api: Api) -> None:
    before = api.get("changes").json()["next_after"]
    memory = api.remember()

    fed = api.get(f"changes?after={before}&project=shop").json()

    assert [one["kind"] for one in fed["items"]] == ["memory.created"]
    assert fed["items"][0]["object_id"] == memory["id"]
    assert api.get(f"changes?after={fed['next_after']}").json()["items"] == []


def test_the_feed_waits_no_longer_than_asked(api: Api) -> None:
    newest = api.get("changes").json()["next_after"]
    begun = time.monotonic()

    fed = api.get(f"changes?after={newest}&wait=1").json()

    assert fed == {"items": [], "next_after": newest}
    assert time.monotonic() - begun >= 1


def test_waiting_ends_when_there_is_something() -> None:
    answers = iter([None, None, "done"])

    assert jobs.until(look=lambda: next(answers), seconds=5) == "done"


def test_a_job_is_listed_retried_and_cancelled(api: Api, settings: LazySettings) -> None:
    settings.EMBED_INLINE = False
    job_id = api.post("memories", {"content": STATEMENT}).json()["job_id"]

    listed = api.get("jobs?state=queued").json()["items"]
    too_early = api.post(f"jobs/{job_id}/retry")
    cancelled = api.post(f"jobs/{job_id}/cancel").json()
    retried = api.post(f"jobs/{job_id}/retry").json()

    assert job_id in [one["id"] for one in listed]
    assert too_early.status_code == 409
    assert (cancelled["state"], retried["state"]) == ("cancelled", "queued")
    assert "payload" not in api.get(f"jobs/{job_id}").json()


def test_a_write_waits_for_its_job_within_bounds(api: Api, settings: LazySettings) -> None:
    settings.EMBED_INLINE = False

    answer = api.post("memories?wait=1", {"content": STATEMENT}).json()

    assert answer["embedding"] == "queued"
    assert api.post("memories?wait=31", {"content": STATEMENT}).status_code == 422


def test_jobs_come_in_pages(api: Api, settings: LazySettings) -> None:
    settings.EMBED_INLINE = False
    for number in range(3):
        api.post("memories", {"content": f"{STATEMENT} Case {number}."})

    first = api.get("jobs?limit=2").json()
    second = api.get(f"jobs?limit=2&cursor={first['next_cursor']}").json()

    ids = [one["id"] for one in first["items"] + second["items"]]
    assert len(set(ids)) == len(ids) >= 3


def test_a_token_is_made_used_rotated_and_revoked(api: Api) -> None:
    made = api.post("tokens", {"name": "ci", "scopes": ["read"]}).json()
    rotated = api.post(f"tokens/{made['token']['id']}/rotate", {"overlap_hours": 0}).json()
    new = Api(token=rotated["text"])

    assert new.get("me").json()["scopes"] == ["read"]
    assert Api(token=made["text"]).get("me").status_code == 401
    revoked = api.delete(f"tokens/{rotated['token']['id']}").json()
    assert revoked["state"] == "revoked"
    assert new.get("me").status_code == 401


def test_a_list_of_tokens_shows_no_secret(api: Api) -> None:
    text = api.post("tokens", {"name": "ci"}).json()["text"]

    shown = api.get("tokens").content.decode()

    assert text not in shown
    assert "digest" not in shown


@pytest.mark.parametrize("path", ["tokens", "tokens/{id}/rotate"])
def test_a_token_without_the_scope_admin_makes_none(api: Api, path: str) -> None:
    made = api.post("tokens", {"name": "ci", "scopes": ["read", "write"]}).json()

    answer = Api(token=made["text"]).post(path.format(id=made["token"]["id"]), {})

    assert answer.status_code == 403


def test_the_caller_is_told_who_it_is(api: Api) -> None:
    me = api.get("me").json()

    assert me["organization"]["slug"] == "acme"
    assert me["role"] == "owner"
    assert me["projects"] is None
