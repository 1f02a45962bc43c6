"""What is sent many times is there once (G6), and never mistaken for another."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import repeat

import pytest
from django.conf import LazySettings

from accounts import tasks, tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Job, Organization
from memory.index.models import MemoryVector
from memory.records.models import Memory
from teams.models import IdempotencyKey
from tests.support import people
from tests.support.api import STATEMENT, Api
from tests.support.goals import Scale
from tests.support.load import content_of
from tests.support.racing import race

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


WAYS = 50  # senders of one body
DELIVERIES = 10  # of each job's message


def send(api: Api, number: int) -> int:
    """Send one body; every second one with a key that all its senders share."""
    body = {"project": "shop", "content": content_of(number)}
    key = {"Idempotency_Key": f"key-{number}"} if number % 2 else {}
    status: int = Api(token=api.token).post("memories", body, **key).status_code
    return status


def surplus(values: Sequence[object]) -> int:
    """Count what is there more than once."""
    return sum(times - 1 for times in Counter(values).values())


@pytest.mark.django_db(transaction=True)
@pytest.mark.goal(name="G6")
def test_fifty_senders_and_ten_deliveries_leave_no_duplicate(
    api: Api,
    organization: Organization,
    scale: Scale,
    figure: Callable[[str], None],
    settings: LazySettings,
) -> None:
    settings.EMBED_INLINE = False  # vectors come from jobs
    bodies = scale.of(short=6, long=100)
    sent = [number for body in range(bodies) for number in repeat(body, WAYS)]

    statuses = race(lambda place: send(api, sent[place]), times=len(sent))
    race(lambda _: tasks.wake("interactive"), times=DELIVERIES * Job.objects.count())

    with people.entered(organization=organization), tenancy.unit():
        contents = list(Memory.objects.filter(status="active").values_list("content", flat=True))
        vectors = list(MemoryVector.objects.values_list("memory_id", flat=True))
    claims = set(Job.objects.filter(name="memory.embed").values_list("state", "attempts"))
    figure(f"{surplus(contents) + surplus(vectors)} duplicates after {len(sent):,} racing requests")
    assert set(statuses) <= {201, 409}
    assert (len(contents), len(vectors)) == (bodies, bodies)
    assert (surplus(contents), surplus(vectors), claims) == (0, 0, {("done", 1)})
