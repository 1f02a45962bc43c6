"""Memories over REST, in the fixed shapes of spec 8.1."""

from tests.support.api import STATEMENT, Api


def test_a_memory_is_remembered_and_found_again(api: Api) -> None:
    sent = {"project": "shop", "type": "gotcha", "content": STATEMENT, "external_id": "a1"}

    answer = api.post("memories", sent)

    assert answer.status_code == 201, answer.content
    memory = answer.json()["memory"]
    assert answer.json()["outcome"] == "added"
    assert memory["external_id"] == "a1"
    found = api.post("search", {"query": "cached prices in the cart", "project": "shop"}).json()
    assert [hit["memory"]["id"] for hit in found["results"]] == [memory["id"]]
