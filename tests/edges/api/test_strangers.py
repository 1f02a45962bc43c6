"""What belongs to another organization is answered exactly like what does not exist."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts.api.endpoints import Endpoint
from config.urls import ENDPOINTS
from tests.edges.audit import surfaces
from tests.support.api import Api

CANARY = "Canary: the northern warehouse keeps its master key under the third stone."
OURS_AND_THEIRS = ("memories", "jobs", "tokens", "projects", "teams")  # the first part of a path
NAMED = tuple(
    endpoint for endpoint in ENDPOINTS
    if "{" in endpoint.path and endpoint.path.split("/")[0] in OURS_AND_THEIRS
)  # fmt: skip
LISTS = ("memories", "projects", "teams", "jobs", "tokens", "changes", "me")
QUERIES: dict[str, str] = {
    "list_code_symbols": "?file=a.py",
    "preview_rollback": "?since=2026-01-01T00:00:00Z",
}


@pytest.fixture
def foreign(other_api: Api, settings: Any) -> dict[str, str]:
    """Ids of things of the other organization, by the first part of their path."""
    settings.EMBED_INLINE = False
    answer = other_api.post("memories", {"project": "shop", "content": CANARY}).json()
    token = other_api.post("tokens", {"name": "canary"}).json()["token"]
    return {
        "memories": answer["memory"]["id"],
        "jobs": answer["job_id"],
        "tokens": token["id"],
        "projects": other_api.get("projects/shop").json()["id"],
        "teams": other_api.post("teams", {"slug": "canaries"}).json()["id"],
    }


def _body(name: str) -> Any:
    """Return what the table of writes sends: about a person here, else about nothing."""
    write = surfaces.calls().get(name)
    text = json.dumps(write.send if write else {}).replace("{viewer}", "owner@acme.test")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    return json.loads(re.sub(r"\{\w+\}", str(UUID(int=7)), text.replace("{tomorrow}", tomorrow)))


def _answer(api: Api, endpoint: Endpoint, identifier: str) -> tuple[int, bytes, dict[str, str]]:
    body = _body(endpoint.name) if endpoint.body else None
    path = re.sub(r"\{(id|ref)\}", identifier, endpoint.path)
    path += QUERIES.get(endpoint.name, "")
    answer = api.call(endpoint.method, path, body, If_Match="*", X_Request_Id="same")
    headers = {name: value for name, value in answer.items() if "RateLimit" not in name}
    return answer.status_code, answer.content.replace(identifier.encode(), b"ID"), headers


def test_foreign_is_as_if_it_did_not_exist(
    api: Api, foreign: dict[str, str], subtests: pytest.Subtests
) -> None:
    for endpoint in NAMED:
        with subtests.test(endpoint.name):
            theirs = _answer(api, endpoint, foreign[endpoint.path.split("/")[0]])
            nothing = _answer(api, endpoint, str(uuid4()))

            assert theirs == nothing
            assert theirs[0] == 404


def test_no_list_and_no_search_shows_what_is_foreign(api: Api, foreign: dict[str, str]) -> None:
    for path in LISTS:
        shown = api.get(path).content.decode()
        assert "Canary" not in shown
        assert not [identifier for identifier in foreign.values() if identifier in shown]

    answer = api.post("search", {"query": CANARY, "threshold": 0, "limit": 100})
    assert answer.json()["results"] == []


def test_a_cursor_of_another_organization_is_no_cursor(api: Api, other_api: Api) -> None:
    for number in range(2):
        other_api.remember(f"{CANARY} Number {number}.", type="fact")
    cursor = other_api.get("memories?limit=1").json()["next_cursor"]

    answer = api.get(f"memories?limit=1&cursor={cursor}")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/cursor"


def test_a_token_bound_to_a_project_reaches_nothing_else(api: Api) -> None:
    inside = api.remember()
    other = api.post("projects", {"slug": "api", "name": "API"}).json()
    outside = api.post("memories", {"project": "api", "content": CANARY}).json()["memory"]
    shop = api.get("projects/shop").json()
    made = api.post("tokens", {"name": "bound", "projects": [shop["id"]]}).json()
    bound = Api(token=made["text"])

    assert bound.get(f"memories/{inside['id']}").status_code == 200
    assert bound.get(f"memories/{outside['id']}").status_code == 404
    assert bound.get(f"projects/{other['id']}").status_code == 404
    assert [one["slug"] for one in bound.get("projects").json()["items"]] == ["shop"]
    assert "Canary" not in bound.get("changes").content.decode()
    found = bound.post("search", {"query": CANARY, "threshold": 0}).json()["results"]
    assert {hit["memory"]["id"] for hit in found} <= {inside["id"]}
