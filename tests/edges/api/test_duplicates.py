"""What is sent and delivered many times at once is there once (G6)."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import pytest

from accounts import tasks, tenancy
from accounts.models import Job, Organization
from memory.index.models import MemoryVector
from memory.records.models import Memory
from tests.support import people
from tests.support.api import Api
from tests.support.goals import Scale
from tests.support.load import content_of
from tests.support.racing import race

WAYS = 50  # senders of one body
DELIVERIES = 10  # of each job's message

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.goal(name="G6")]


@pytest.fixture
def embedded_later(settings: Any) -> None:
    """Vectors come from jobs."""
    settings.EMBED_INLINE = False


def send(api: Api, number: int) -> int:
    """Send one body; every second one with a key that all its senders share."""
    body = {"project": "shop", "content": content_of(number)}
    key = {"Idempotency_Key": f"key-{number}"} if number % 2 else {}
    status: int = Api(token=api.token).post("memories", body, **key).status_code
    return status


def surplus(values: Sequence[object]) -> int:
    """Count what is there more than once."""
    return sum(times - 1 for times in Counter(values).values())


@pytest.mark.usefixtures("embedded_later")
def test_fifty_senders_and_ten_deliveries_leave_no_duplicate(
    api: Api, organization: Organization, scale: Scale, figure: Callable[[str], None]
) -> None:
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
