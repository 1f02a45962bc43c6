"""Rolling back over REST: page by page what it would do, at once or by a job, and undone."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from accounts import tasks
from accounts.authentication import entered
from accounts.caller import Caller, TokenScope
from memory.review.actions import rollback
from tests.support import work
from tests.support.api import Api, agent
from tests.support.memories import CARTS, PARSER, REDIS


@pytest.fixture
def deciding_api(api: Api, caller: Caller) -> Api:
    """A client with a token by which the owner decides."""
    return agent(caller, frozenset(TokenScope))


@pytest.fixture
def written(api: Api, member_api: Api) -> tuple[str, ...]:
    """The ids of three memories of the member."""
    return tuple(member_api.remember(text)["id"] for text in (REDIS, CARTS, PARSER))


class Died(Exception):
    """A worker that goes away before its job is noted as done."""


def die(done: int, total: int, so_far: Mapping[str, Any]) -> None:
    assert (done, total, so_far["archived"]) == (3, 3, 3)
    raise Died


def statuses(api: Api, ids: tuple[str, ...]) -> list[str]:
    return [api.get(f"memories/{one}").json()["status"] for one in ids]


def test_a_preview_is_paged_and_changes_nothing_and_what_is_taken_back_is_undone(
    deciding_api: Api, written: tuple[str, ...], member_caller: Caller
) -> None:
    path = f"projects/shop/rollbacks/preview?person={member_caller.user_id}&limit=2"

    first = deciding_api.get(path).json()
    second = deciding_api.get(f"{path}&cursor={first['next_cursor']}").json()
    before = statuses(deciding_api, written)
    done = deciding_api.post("projects/shop/rollbacks", {"person": str(member_caller.user_id)})
    after = statuses(deciding_api, written)
    undone = deciding_api.post(f"rollbacks/{done.json()['review_id']}/undo", {})

    assert first["counts"]["archived"] == 3
    assert [one["memory_id"] for page in (first, second) for one in page["items"]] == list(written)
    assert second["next_cursor"] is None
    assert (done.status_code, done.json()["archived"]) == (200, 3)
    assert (before, after) == (["active"] * 3, ["archived"] * 3)
    assert (undone.status_code, undone.json()) == (200, {"undone": 3})
    assert statuses(deciding_api, written) == ["active"] * 3


def test_a_job_answers_the_same_after_a_worker_that_died(
    deciding_api: Api,
    written: tuple[str, ...],
    caller: Caller,
    member_caller: Caller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollback, "MOST_AT_ONCE", 2)
    answer = deciding_api.post("projects/shop/rollbacks", {"person": str(member_caller.user_id)})
    assert (answer.status_code, answer.json()["archived"]) == (202, 3)
    asked = work.taken(UUID(answer.json()["job_id"]))
    with pytest.raises(Died), entered(caller):
        rollback.run(
            caller=replace(caller, token_id=UUID(asked.payload["by"]["token_id"])),
            choice=rollback.CHOICE.validate_python(asked.payload["choice"]),
            asked_at=datetime.fromisoformat(asked.payload["asked_at"]),
            tell=die,
        )
    tasks.run(held=asked)
    job = deciding_api.get(f"jobs/{asked.id}").json()
    undone = deciding_api.post(f"rollbacks/{job['result']['review_id']}/undo", {})

    assert (job["state"], job["progress_done"], job["result"]["archived"]) == ("done", 3, 3)
    assert undone.json() == {"undone": 3}


def test_agents_and_readers_a_time_turned_round_and_an_unknown_field_take_nothing_back(
    deciding_api: Api,
    api: Api,
    member_api: Api,
    reading_api: Api,
    written: tuple[str, ...],
    member_caller: Caller,
) -> None:
    sent, address = {"person": str(member_caller.user_id)}, "projects/shop/rollbacks"
    time = {"since": "2026-11-20T12:00:00Z", "until": "2026-11-19T12:00:00Z"}

    refused = [one.post(address, sent) for one in (api, member_api, reading_api)]
    turned, unknown = (
        deciding_api.post(address, time),
        deciding_api.post(address, {"memory": "all"}),
    )

    assert [one.status_code for one in refused] == [403] * 3
    assert [one.status_code for one in (turned, unknown)] == [422, 422]
    assert turned.json()["errors"][0]["pointer"] == "/until"
    assert statuses(deciding_api, written) == ["active"] * 3
