"""Methodologies over REST: types of their own, for whoever adds, lists and searches memories."""

from typing import Any

from tests.support.api import STATEMENT, Api

STORY = {"name": "user-story", "base": "requirement", "says": "What a user needs, and why."}
SCRUM: dict[str, Any] = {"name": "scrum", "phases": {"doing": "implement"}, "types": [STORY]}


def test_a_type_of_its_own_is_defined_named_found_and_shown(api: Api) -> None:
    made = api.post("methodologies", SCRUM)
    known = api.get("methodologies").json()["items"]
    added = api.remember(type="user-story", tags=["cart"])
    listed = api.get("memories?types=user-story&project=shop").json()["items"]
    boxed = api.get("memories?q=type:user-story").json()["items"]
    found = api.post("search", {"query": STATEMENT, "types": ["user-story"]}).json()["results"]

    assert (made.status_code, made.json()["types"]) == (201, [STORY])
    assert [one["types"] for one in known if one["name"] == "scrum"] == [[STORY]]
    assert (added["type"], added["own_type"], added["tags"]) == (
        "requirement", "user-story", ["cart"],
    )  # fmt: skip
    assert [one["id"] for one in listed] == [one["id"] for one in boxed] == [added["id"]]
    assert [one["memory"]["own_type"] for one in found] == ["user-story"]


def test_one_that_nobody_defined_is_refused_with_those_there_are(api: Api) -> None:
    api.post("methodologies", SCRUM)

    added = api.post("memories", {"project": "shop", "content": STATEMENT, "type": "epic"})
    listed = api.get("memories?types=epic")
    boxed = api.get("memories?q=type:epic")
    found = api.post("search", {"query": "cart", "types": ["epic"]})

    refused = (added, listed, boxed, found)
    assert [one.status_code for one in refused] == [422] * 4
    assert all("user-story" in one.json()["hint"] for one in refused)
    pointers = [one.json()["errors"][0]["pointer"] for one in (added, listed, found)]
    assert pointers == ["/type", "/types", "/types"]
    assert api.get("memories").json()["items"] == []


def test_no_secret_stands_in_what_a_type_says(api: Api) -> None:
    told = {**STORY, "says": "password=correct-horse-battery-9f8a7b6c"}

    refused = api.post("methodologies", {**SCRUM, "types": [told]})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/types/0/says"
    assert "correct-horse" not in refused.content.decode()


def test_somebody_elses_types_are_nobodys_here(api: Api, other_api: Api) -> None:
    api.post("methodologies", SCRUM)
    other_api.post("projects", {"slug": "shop", "name": "Shop"})

    body = {"project": "shop", "content": STATEMENT, "type": "user-story"}
    refused = other_api.post("memories", body)
    names = [one["name"] for one in other_api.get("methodologies").json()["items"]]

    assert refused.status_code == 422
    assert "user-story" not in refused.content.decode()
    assert "scrum" not in names
