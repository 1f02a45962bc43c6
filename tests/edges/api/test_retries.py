"""Writes sent twice: done once with a key, and never mistaken for each other."""

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from teams.models import IdempotencyKey
from tests.support.api import STATEMENT, Api

BODY = {"project": "shop", "content": STATEMENT, "type": "gotcha"}


def test_a_write_with_a_key_is_done_once_and_is_no_key_of_another_body(api: Api) -> None:
    first, again = (api.post("memories", BODY, Idempotency_Key="k1") for _ in range(2))
    other = api.post("memories", {**BODY, "type": "fact"}, Idempotency_Key="k1")

    assert again.content == first.content
    assert again.status_code == 201
    assert (again["ETag"], again["Location"]) == (first["ETag"], first["Location"])
    assert again["Idempotency-Replayed"] == "true"
    assert api.get(first["Location"]).json()["confirmations"] == 0
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


def test_a_refusal_is_not_kept_a_key_in_flight_a_conflict_and_keys_of_two_do_not_meet(
    api: Api, caller: Caller, other_api: Api
) -> None:
    refused = api.post("memories", {"content": "short"}, Idempotency_Key="k1")
    mine = api.post("memories", BODY, Idempotency_Key="k1")
    theirs = other_api.post("memories", BODY, Idempotency_Key="k1")
    with entered(caller), tenancy.unit():
        IdempotencyKey.objects.update(status=None)
    running = api.post("memories", BODY, Idempotency_Key="k1")

    assert (refused.status_code, mine.status_code, theirs.status_code) == (422, 201, 201)
    assert mine.json()["memory"]["id"] != theirs.json()["memory"]["id"]
    assert (running.status_code, running.json()["code"]) == (409, "still_running")


def test_a_key_that_cannot_be_one_is_refused(api: Api) -> None:
    for key in ("", "x" * 256, "two words", "clé"):
        answer = api.post("memories", BODY, Idempotency_Key=key)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["pointer"] == "/headers/Idempotency-Key"
