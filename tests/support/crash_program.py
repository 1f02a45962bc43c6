"""The program that speaks to an installation of `tests.support.crashing` from inside.

`found ORGANIZATION` makes an organization and prints a token; `write ORGANIZATION TIMES` stores
memories; `missing ORGANIZATION` prints what the store lacks of the acknowledged memories read from
standard input, and what is there twice. `work`, `poison`, `redeliver`, `clocks` do what they say.
"""

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from importlib import import_module
from threading import Event
from typing import Any

import django

django.setup()


from accounts import jobs, tasks, tenancy  # noqa: E402
from accounts.actions.tokens import NewToken, create_token  # noqa: E402
from accounts.caller import Caller, Role  # noqa: E402
from accounts.models import Organization, User  # noqa: E402
from config.celery import QUEUES  # noqa: E402
from memory.index.models import MemoryVector  # noqa: E402
from memory.intake.actions.remember import NewMemory, remember  # noqa: E402
from memory.records.models import Memory  # noqa: E402
from memory.search.actions import search  # noqa: E402
from memory.search.request import SearchRequest  # noqa: E402
from teams.actions import create_project  # noqa: E402
from tests.support import operator, people  # noqa: E402
from tests.support.load import PROJECT, content_of  # noqa: E402
from tests.support.switch_commands import fill, recall, vectors  # noqa: E402

operator.install()
PAUSE_SECONDS = 0.2


def found(slug: str) -> None:
    """Make the organization and its owner, and print a token of theirs."""
    organization = people.make_organization(slug=slug)
    people.make_person(organization=organization, email=f"o@{slug}.test", role=Role.OWNER)
    with people.entered(organization=organization):
        create_project(caller=_caller(slug), slug=PROJECT, name=PROJECT, now=datetime.now(UTC))
    issued = create_token(caller=_caller(slug), new=NewToken(name="load"), now=datetime.now(UTC))
    sys.stdout.write(issued.text)


def write(slug: str, times: str) -> None:
    """Store so many memories, and print each as a line of JSON."""
    caller = _caller(slug)
    with people.entered(organization=_organization(slug)):
        for content in map(content_of, range(int(times))):
            new = NewMemory(content=content, source="user_taught", scope="organization")
            memory = remember(caller=caller, new=new, now=datetime.now(UTC)).memory
            assert memory is not None
            sys.stdout.write(json.dumps({"id": str(memory.id), "content": content}) + "\n")


def missing(slug: str) -> None:
    """Print how many acknowledged memories have no row, no vector, or are not found by search."""
    acknowledged = [json.loads(line) for line in sys.stdin]
    caller = _caller(slug)
    with people.entered(organization=_organization(slug)):
        with tenancy.unit():
            rows = {str(row.id): row.content for row in Memory.objects.only("id", "content")}
            vectors = {str(key) for key in MemoryVector.objects.values_list("memory_id", flat=True)}
        unfound = [item for item in acknowledged if not _is_found(caller, item)]
    ids = {item["id"] for item in acknowledged}
    lacks = {"rows": len(ids - set(rows)), "vectors": len(ids - vectors), "found": len(unfound)}
    twice = sum(times - 1 for times in Counter(rows.values()).values())
    sys.stdout.write(json.dumps({**lacks, "unasked": len(set(rows) - ids), "twice": twice}))


def poison(slug: str, *kinds: str) -> None:
    """Queue a job of each kind of poison, and as many sound ones; print their ids by kind."""
    made = {}
    with people.entered(organization=_organization(slug)), tenancy.unit():
        for kind in kinds:
            payload = {"ids": [], "poison": kind}
            made[kind] = str(jobs.enqueue("memory.embed", payload=payload))
            made[f"beside {kind}"] = str(jobs.enqueue("memory.embed", payload={"ids": []}))
    sys.stdout.write(json.dumps(made))


def prepare(slug: str, count: str) -> None:
    """Make the organization, and so many memories with vectors in it."""
    found(slug)
    fill(slug, count)


def work() -> None:
    """Do jobs as a worker does, with a look around before each, until killed."""
    import_module("tests.support.moments")
    while True:
        jobs.sweep()
        held = next(filter(None, (jobs.claim(queue=name, worker="hands") for name in QUEUES)), None)
        if held is None:
            Event().wait(PAUSE_SECONDS)
        else:
            tasks.run(held=held)


def redeliver(times: str, count: str) -> None:
    """Wake the workers so many times for each of so many jobs."""
    for _ in range(int(times) * int(count)):
        for queue in QUEUES:
            jobs.wake(queue=queue)


def clocks(count: str) -> None:
    """Take what slots are free of so many, claim a job, sweep; print what was ours and found."""
    taken = [
        number
        for number in range(int(count))
        if jobs.take_slot(name=f"g14-{number}", interval_seconds=86_400)
    ]
    jobs.claim(queue="interactive", worker="clock")
    sys.stdout.write(json.dumps({"taken": taken, "swept": jobs.sweep()}))


def _organization(slug: str) -> Organization:
    return Organization.objects.get(slug=slug)


def _caller(slug: str) -> Caller:
    owner = User.objects.get(email=f"o@{slug}.test")
    return people.as_caller(organization=_organization(slug), user=owner, role=Role.OWNER)


def _is_found(caller: Caller, item: dict[str, str]) -> bool:
    request = SearchRequest(query=item["content"], limit=3, threshold=0.0)
    answer = search(caller=caller, request=request, now=datetime.now(UTC))
    return item["id"] in {str(hit.memory.id) for hit in answer.hits}


COMMANDS: dict[str, Any] = {
    command.__name__: command
    for command in (
        *(found, write, missing, poison, redeliver, clocks),
        *(work, prepare, recall, vectors),
    )
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
