"""Memories over REST."""

import json

import pytest

from tests.support.api import STATEMENT, Api

OTHERS = (
    "Search the order index by customer number, never by name.",
    "The nightly export stops when the disk holds less than two gigabytes.",
    "Feature switches are read once at the start of a request.",
)


def test_a_memory_is_remembered_and_found_again(api: Api) -> None:
    sent = {"project": "shop", "type": "gotcha", "content": STATEMENT, "external_id": "a1"}

    answer = api.post("memories", sent)

    assert answer.status_code == 201, answer.content
    memory = answer.json()["memory"]
    assert answer.json()["outcome"] == "added"
    assert (memory["external_id"], memory["project"]) == ("a1", "shop")
    found = api.post("search", {"query": "cached prices in the cart", "project": "shop"}).json()
    assert [hit["memory"]["id"] for hit in found["results"]] == [memory["id"]]


def test_a_search_looks_through_the_states_it_names(api: Api) -> None:
    memory = api.remember()
    api.delete(f"memories/{memory['id']}")
    sent = {"query": memory["content"], "threshold": 0}

    found = {
        state: [hit["memory"]["id"] for hit in api.post("search", asked).json()["results"]]
        for state, asked in (
            ("", sent),
            ("any", {**sent, "states": ["any"]}),
            ("archived", {**sent, "states": ["archived"]}),
            ("superseded", {**sent, "states": ["superseded"]}),
        )
    }

    one = [memory["id"]]
    assert found == {"": [], "any": one, "archived": one, "superseded": []}


def test_a_pattern_refuses_states(api: Api) -> None:
    answer = api.post("search", {"query": "x", "mode": "pattern", "states": ["archived"]})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/states"


def test_search_says_when_nothing_is_relevant_and_why_something_is(api: Api) -> None:
    api.remember()

    silent = api.post("search", {"query": "how to bake sourdough bread"}).json()
    bare = api.post("search", {"query": "bread", "threshold": 0, "explain": True}).json()

    assert silent["nothing_relevant"] is True
    assert silent["results"] == []
    assert set(silent) == {"results", "nothing_relevant", "degraded", "took_ms", "profile"}
    assert all("explain" in hit for hit in bare["results"])


def test_what_is_known_is_confirmed_not_stored_twice(api: Api) -> None:
    first = api.remember()

    again = api.post("memories", {"project": "shop", "content": STATEMENT, "type": "gotcha"})

    assert again.status_code == 201
    assert again.json()["outcome"] == "confirmed"
    assert again.json()["memory"]["id"] == first["id"]


def test_a_refusal_names_the_gate_and_what_would_pass(api: Api) -> None:
    answer = api.post("memories", {"project": "shop", "content": "Too short."})

    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["gate"] == "length"
    assert answer.json()["hint"]


def test_a_bulk_answers_in_order_with_refusals_beside_successes(api: Api) -> None:
    memories = [{"content": text, "external_id": f"b{n}"} for n, text in enumerate(OTHERS)]
    memories.insert(1, {"content": "Hmm."})

    answer = api.post("memories/bulk", {"project": "shop", "memories": memories})

    outcomes = answer.json()["outcomes"]
    assert answer.status_code == 200
    assert [one["outcome"] for one in outcomes] == ["added", "refused", "added", "added"]
    assert outcomes[0]["memory"]["external_id"] == "b0"
    assert (outcomes[1]["memory"], outcomes[1]["gate"]) == (None, "length")


def test_a_bulk_can_be_sent_as_lines(api: Api) -> None:
    lines = "\n".join(json.dumps({"content": text}) for text in OTHERS).encode()
    kind = {"Content_Type": "application/x-ndjson"}

    answer = api.call("POST", "memories/bulk?project=shop", lines, **kind)

    assert [one["outcome"] for one in answer.json()["outcomes"]] == ["added"] * 3
    assert len(api.get("memories?project=shop").json()["items"]) == 3


def test_a_fault_in_a_line_is_named_and_nothing_is_stored(api: Api) -> None:
    lines = b'{"content": "A statement that is long enough."}\n{"content": NaN}'
    kind = {"Content_Type": "application/x-ndjson"}

    answer = api.call("POST", "memories/bulk", lines, **kind)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/1/content"
    assert api.get("memories").json()["items"] == []


def test_pages_hold_everything_once(api: Api) -> None:
    sent = {api.remember(text, type="fact")["id"] for text in OTHERS}

    first = api.get("memories?limit=2&project=shop").json()
    second = api.get(f"memories?limit=2&project=shop&cursor={first['next_cursor']}").json()

    assert {one["id"] for one in first["items"] + second["items"]} == sent
    assert len(first["items"]) == 2
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("types=fact", 1),
        ("types=fact,gotcha", 2),
        ("q=type:gotcha", 1),
        ("tags=disk", 1),
        ("minimum_confidence=0.99", 0),
        ("pinned=true", 0),
        ("status=archived", 0),
        ("project=shop", 2),
    ],
)
def test_a_list_can_be_narrowed(api: Api, query: str, count: int) -> None:
    api.remember()
    api.remember(OTHERS[1], type="fact", tags=["disk"])

    items = api.get(f"memories?{query}").json()["items"]

    assert len(items) == count


def test_words_in_a_list_are_sent_to_search(api: Api) -> None:
    answer = api.get("memories?q=redis")

    assert answer.status_code == 422
    assert "/api/v1/search" in answer.json()["hint"]


def test_an_edit_names_its_version_and_loses_nothing(api: Api) -> None:
    memory = api.remember()
    path = f"memories/{memory['id']}"
    tag = api.get(path)["ETag"]

    unnamed = api.patch(path, {"tags": ["cart"]})
    edited = api.patch(path, {"tags": ["cart"], "reason": "sorted"}, If_Match=tag)
    late = api.patch(path, {"tags": ["late"]}, If_Match=tag)

    assert tag == '"v1"'
    assert (unnamed.status_code, edited.status_code, late.status_code) == (428, 200, 412)
    assert edited["ETag"] == '"v2"'
    assert api.get(path).json()["tags"] == ["cart"]


@pytest.mark.parametrize("tag", ["", "v1; DROP", '"v1", "v2"', "v²"])
def test_a_version_that_is_none_is_refused(api: Api, tag: str) -> None:
    path = f"memories/{api.remember()['id']}"

    answers = [api.patch(path, {"tags": ["x"]}, If_Match=tag), api.delete(path, If_Match=tag)]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert api.get(path)["ETag"] == '"v1"'


def test_history_shows_every_version(api: Api) -> None:
    memory = api.remember()
    path = f"memories/{memory['id']}"
    api.patch(path, {"content": OTHERS[0], "reason": "better"}, If_Match="*")

    versions = api.get(f"{path}/history").json()["items"]

    assert [one["number"] for one in versions] == [2, 1]
    assert [one["content"] for one in versions] == [OTHERS[0], STATEMENT]


def test_an_archived_memory_can_be_restored(api: Api) -> None:
    path = f"memories/{api.remember()['id']}"

    archived = api.delete(f"{path}?reason=outdated")
    restored = api.post(f"{path}/restore")

    assert archived.json()["status"] == "archived"
    assert archived.json()["archived_reason"] == "outdated"
    assert restored.json()["status"] == "active"
    assert api.post(f"{path}/restore").status_code == 409


def test_verbs_change_what_they_say(api: Api) -> None:
    path = f"memories/{api.remember()['id']}"

    confirmed = api.post(f"{path}/confirm").json()
    pinned = api.post(f"{path}/pin").json()
    released = api.post(f"{path}/pin", {"pinned": False}).json()

    assert confirmed["confirmations"] == 1
    assert (pinned["pinned"], released["pinned"]) == (True, False)


def test_a_correction_supersedes(api: Api) -> None:
    wrong = api.remember()
    sent = {"content": "Prices in the cart are cached for five seconds.", "kind": "outdated"}

    answer = api.post(f"memories/{wrong['id']}/correct", sent)

    right = answer.json()["memory"]
    assert answer.status_code == 201
    old = api.get(f"memories/{wrong['id']}").json()
    assert (old["status"], old["superseded_by"]) == ("superseded", right["id"])


def test_a_slash_at_the_end_is_optional(api: Api) -> None:
    memory = api.remember()

    assert api.get(f"memories/{memory['id']}/").json()["id"] == memory["id"]
    assert api.get("projects/").status_code == 200


def test_big_answers_are_compressed(api: Api) -> None:
    for text in OTHERS:
        api.remember(text * 20)

    answer = api.get("memories", Accept_Encoding="gzip")

    assert answer["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer["Vary"]
