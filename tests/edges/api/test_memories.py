"""Memories over REST, and the types that methodologies add."""

import json
from typing import Any

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


def test_search_says_when_nothing_is_relevant_and_why_something_is(api: Api) -> None:
    api.remember()

    silent = api.post("search", {"query": "how to bake sourdough bread"}).json()
    bare = api.post("search", {"query": "bread", "threshold": 0, "explain": True}).json()

    assert silent["nothing_relevant"] is True
    assert silent["results"] == []
    assert set(silent) == {"results", "nothing_relevant", "degraded", "took_ms", "profile"}
    assert all("explain" in hit for hit in bare["results"])


def test_a_bulk_answers_in_order_with_refusals_beside_successes(api: Api) -> None:
    memories = [{"content": text, "external_id": f"b{n}"} for n, text in enumerate(OTHERS)]
    memories.insert(1, {"content": "Hmm."})

    answer = api.post("memories/bulk", {"project": "shop", "memories": memories})

    outcomes = answer.json()["outcomes"]
    assert answer.status_code == 200
    assert [one["outcome"] for one in outcomes] == ["added", "refused", "added", "added"]
    assert outcomes[0]["memory"]["external_id"] == "b0"
    assert (outcomes[1]["memory"], outcomes[1]["gate"]) == (None, "length")


def test_a_bulk_can_be_sent_as_lines_and_a_line_that_is_none_is_refused_alone(api: Api) -> None:
    lines = [json.dumps({"content": text}) for text in OTHERS]
    lines.insert(1, '{"content": NaN}')
    kind = {"Content_Type": "application/x-ndjson"}

    answer = api.call("POST", "memories/bulk?project=shop", "\n".join(lines).encode(), **kind)

    outcomes = answer.json()["outcomes"]
    assert [one["outcome"] for one in outcomes] == ["added", "refused", "added", "added"]
    assert outcomes[1]["reason"].startswith("/memories/1: ")
    assert len(api.get("memories?project=shop").json()["items"]) == 3


def test_a_malformed_memory_of_a_bulk_is_refused_alone_and_resending_adds_nothing(api: Api) -> None:
    wrong: list[object] = [{"content": 7}, {"content": OTHERS[0], "colour": "red"}, "text", None]
    memories = [*({"content": text} for text in OTHERS), *wrong]

    first = api.post("memories/bulk", {"project": "shop", "memories": memories}).json()["outcomes"]
    again = api.post("memories/bulk", {"project": "shop", "memories": memories}).json()["outcomes"]

    assert [one["outcome"] for one in first] == ["added"] * 3 + ["refused"] * 4
    assert [one["gate"] for one in first[3:]] == ["input"] * 4
    assert "/memories/4: /colour: No such field" in first[4]["reason"]
    assert "added" not in [one["outcome"] for one in again]
    assert len(api.get("memories?project=shop").json()["items"]) == 3


def test_a_memory_is_confirmed_once_a_session_and_the_answer_says_so(api: Api) -> None:
    path = f"memories/{api.remember()['id']}/confirm"

    first, second = api.post(path), api.post(path)

    assert (first.json()["confirmations"], "X-Cairn-Unchanged" in first.headers) == (1, False)
    assert second.json()["confirmations"] == 1
    assert second.headers["X-Cairn-Unchanged"] == "confirmed in this session"


def test_what_is_archived_without_a_reason_says_that_none_was_given(api: Api) -> None:
    gone = api.call("DELETE", f"memories/{api.remember()['id']}")

    assert gone.json()["archived_reason"] == "archived; no reason was given"


def test_a_list_can_be_narrowed(api: Api) -> None:
    api.remember()
    api.remember(OTHERS[1], type="fact", tags=["disk"])
    narrowed = {
        "types=fact": 1, "types=fact,gotcha": 2, "q=type:gotcha": 1, "tags=disk": 1,
        "minimum_confidence=0.99": 0, "pinned=true": 0, "status=archived": 0, "project=shop": 2,
    }  # fmt: skip

    for query, count in narrowed.items():
        assert (query, len(api.get(f"memories?{query}").json()["items"])) == (query, count)


def test_words_in_a_list_are_sent_to_search_and_a_pattern_refuses_states(api: Api) -> None:
    words = api.get("memories?q=redis")
    states = api.post("search", {"query": "x", "mode": "pattern", "states": ["archived"]})

    assert (words.status_code, states.status_code) == (422, 422)
    assert "/api/v1/search" in words.json()["hint"]
    assert states.json()["errors"][0]["pointer"] == "/states"


def test_a_version_that_is_none_is_refused(api: Api) -> None:
    path = f"memories/{api.remember()['id']}"

    for tag in ("", "v1; DROP", '"v1", "v2"', "v²"):
        answers = [api.patch(path, {"tags": ["x"]}, If_Match=tag), api.delete(path, If_Match=tag)]
        assert [answer.status_code for answer in answers] == [400, 400]
    assert api.get(path)["ETag"] == '"v1"'


def test_a_slash_at_the_end_is_optional_and_big_answers_are_compressed(api: Api) -> None:
    ids = [api.remember(text * 20)["id"] for text in OTHERS]

    answer = api.get("memories", Accept_Encoding="gzip")

    assert answer["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer["Vary"]
    assert api.get(f"memories/{ids[0]}/").json()["id"] == ids[0]
    assert api.get("projects/").status_code == 200


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
