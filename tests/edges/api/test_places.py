"""Projects, the change feed, jobs, tokens and oneself over REST."""

import time
from typing import Any

from django.conf import LazySettings

from accounts.actions.organizations import change_organization
from accounts.authentication import entered
from accounts.caller import Caller
from tests.support.api import STATEMENT, Api


def test_a_project_is_created_once_and_found_by_slug_and_id(api: Api) -> None:
    created, again = (api.post("projects", {"slug": "api", "name": "API"}) for _ in range(2))

    project = created.json()
    assert (created.status_code, again.status_code) == (201, 409)
    assert again.json()["code"] == "slug_taken"
    assert api.get("projects/api").json() == project
    assert api.get(f"projects/{project['id']}").json() == project
    assert [one["slug"] for one in api.get("projects").json()["items"]] == ["api", "shop"]


def test_what_agents_did_is_kept_as_long_as_said_and_no_longer_than_the_organization_says(
    api: Api, caller: Caller
) -> None:
    def keep(days: object) -> Any:
        tag = api.get("projects/shop").headers["ETag"]
        return api.patch("projects/shop", {"keep_events_days": days}, **{"If-Match": tag})

    for wrong in (0, 31, 366, 2.5, "7", True):
        refused = keep(wrong)
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == "/keep_events_days"
    unset = api.get("projects/shop").json()
    said = [keep(days).json()["keep_events_days"] for days in (7, None, 20)]
    with entered(caller):
        change_organization(caller=caller, name="Acme", keep_events_days=5)
    one, every = api.get("projects/shop"), api.get("projects").json()["items"]

    assert (unset["keep_events_days"], unset["version"]) == (None, 1)
    assert said == [7, None, 20]
    assert one.json()["keep_events_days"] == 5
    assert [each["keep_events_days"] for each in every] == [5]
    assert keep(5).headers["ETag"] != one.headers["ETag"]


def test_the_feed_is_followed_by_its_cursor_and_waits_no_longer_than_asked(api: Api) -> None:
    before = api.get("changes").json()["next_after"]
    memory = api.remember()

    fed = api.get(f"changes?after={before}&project=shop").json()
    begun = time.monotonic()
    rest = api.get(f"changes?after={fed['next_after']}&wait=1").json()

    assert [one["kind"] for one in fed["items"]] == ["memory.created"]
    assert fed["items"][0]["object_id"] == memory["id"]
    assert rest == {"items": [], "next_after": fed["next_after"]}
    assert time.monotonic() - begun >= 1


def test_a_job_is_waited_for_within_bounds_listed_page_by_page_retried_and_cancelled(
    api: Api, settings: LazySettings
) -> None:
    settings.EMBED_INLINE = False
    written = api.post("memories?wait=1", {"content": STATEMENT}).json()
    job_id, too_long = written["job_id"], api.post("memories?wait=31", {"content": STATEMENT})
    for number in range(2):
        api.post("memories", {"content": f"{STATEMENT} Case {number}."})

    first = api.get("jobs?limit=2").json()
    second = api.get(f"jobs?limit=2&cursor={first['next_cursor']}").json()
    listed = api.get("jobs?state=queued").json()["items"]
    too_early = api.post(f"jobs/{job_id}/retry")
    cancelled = api.post(f"jobs/{job_id}/cancel").json()
    retried = api.post(f"jobs/{job_id}/retry").json()

    assert (written["embedding"], too_long.status_code) == ("queued", 422)
    ids = [one["id"] for one in first["items"] + second["items"]]
    assert len(set(ids)) == len(ids) >= 3
    assert job_id in [one["id"] for one in listed]
    assert too_early.status_code == 409
    assert (cancelled["state"], retried["state"]) == ("cancelled", "queued")
    assert "payload" not in api.get(f"jobs/{job_id}").json()


def test_a_token_is_made_used_rotated_and_revoked(api: Api) -> None:
    made = api.post("tokens", {"name": "ci", "scopes": ["read"]}).json()
    listed = api.get("tokens").content.decode()
    rotated = api.post(f"tokens/{made['token']['id']}/rotate", {"overlap_hours": 0}).json()
    new, me = Api(token=rotated["text"]), api.get("me").json()

    assert (me["organization"]["slug"], me["role"], me["projects"]) == ("acme", "owner", None)
    assert [made["text"] in listed, "digest" in listed] == [False, False]
    assert new.get("me").json()["scopes"] == ["read"]
    assert Api(token=made["text"]).get("me").status_code == 401
    for path in ("tokens", f"tokens/{rotated['token']['id']}/rotate"):
        assert new.post(path, {}).status_code == 403  # without the scope admin
    revoked = api.delete(f"tokens/{rotated['token']['id']}").json()
    assert revoked["state"] == "revoked"
    assert new.get("me").status_code == 401
