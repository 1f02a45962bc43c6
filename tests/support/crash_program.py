"""The program that speaks to an installation of `tests.support.crashing` from inside.

`found ORGANIZATION` makes an organization and prints a token; `write ORGANIZATION TIMES` stores
memories; `missing ORGANIZATION` prints what the store lacks of the acknowledged memories read from
standard input, and what is there twice. `work`, `poison`, `clocks` do what they say.

Around a switch of models `prepare` stores memories with vectors, and `recall ORGANIZATION COUNT`
asks for them by their words, one after another, and stores another one now and then; each line of
its input is a command of `manage.py embed`, and its end the end. Then it prints how many answers
were degraded, lacked the memory, or compared vectors across models. `vectors` prints how many
memories lack a vector of the active model, and how many vectors are not what their model makes of
their memory's text.
"""

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from importlib import import_module
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any
from uuid import UUID

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from accounts import jobs, tasks, tenancy  # noqa: E402
from accounts.actions.tokens import NewToken, create_token  # noqa: E402
from accounts.caller import Caller, Role  # noqa: E402
from accounts.models import Organization, User  # noqa: E402
from config.celery import QUEUES  # noqa: E402
from memory.index.actions import embedding  # noqa: E402
from memory.index.models import EmbeddingModel, MemoryVector  # noqa: E402
from memory.intake.actions.remember import MOST, NewMemory, remember, remember_all  # noqa: E402
from memory.records.models import Memory  # noqa: E402
from memory.search.actions import SearchAnswer, search  # noqa: E402
from memory.search.request import SearchRequest  # noqa: E402
from teams.actions import create_project  # noqa: E402
from tests.support import operator, people  # noqa: E402
from tests.support.load import PROJECT, content_of  # noqa: E402
from tests.support.switching import is_true  # noqa: E402

operator.install()
PAUSE_SECONDS = 0.2
OF_ITSELF = 0.5  # least cosine of a memory and its words; across two spaces it is near 0
STORE_EVERY = 20  # searches
WRONG = ("asked", "degraded", "lost", "crossed")
END = "end of input"
SEARCH_PAUSE_S = 0.02  # for the others on the machine


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
        unfound = [
            item
            for item in acknowledged
            if item["id"] not in {str(hit.memory.id) for hit in _find(caller, item["content"]).hits}
        ]
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
    with people.entered(organization=_organization(slug)):
        for start in range(0, int(count), MOST):
            _store(_caller(slug), range(start, min(int(count), start + MOST)))
        embedding.embed_batch(memory_ids=_ids())


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


def clocks(count: str) -> None:
    """Take what slots are free of so many, claim a job, sweep; print what was ours and found."""
    taken = [
        number
        for number in range(int(count))
        if jobs.take_slot(name=f"g14-{number}", interval_seconds=86_400)
    ]
    jobs.claim(queue="interactive", worker="clock")
    sys.stdout.write(json.dumps({"taken": taken, "swept": jobs.sweep()}))


def recall(slug: str, count: str) -> None:
    """Search until the input ends, and print what was wrong."""
    lines: Queue[str] = Queue()
    Thread(target=_listen, args=(lines,), daemon=True).start()
    caller, found, stored, said = _caller(slug), dict.fromkeys(WRONG, 0), int(count), ""
    while said != END:
        with people.entered(organization=_organization(slug)):
            for name, is_so in _judged(caller, content_of(found["asked"] % int(count))).items():
                found[name] += is_so
            if found["asked"] % STORE_EVERY == 0:
                _store(caller, range(stored, stored + 1))
                stored += 1
        said = _said(lines)
        if said not in {"", END}:
            call_command("embed", *said.split(), "--organization", slug, stdout=sys.stderr)
    sys.stdout.write(json.dumps(found))


def vectors(slug: str) -> None:
    """Print what the vectors of an organization are."""
    with people.entered(organization=_organization(slug)):
        ids = set(_ids())
        with tenancy.unit():
            active = EmbeddingModel.objects.get(active=True)
            rows = tuple(MemoryVector.objects.select_related("memory", "model"))
        embedded = {row.memory_id for row in rows if row.model_id == active.id}
        false = sum(not is_true(row) for row in rows)
    told = {"active": active.key, "memories": len(ids), "lacking": len(ids - embedded)}
    sys.stdout.write(json.dumps({**told, "vectors": len(rows), "false": false}))


def _organization(slug: str) -> Organization:
    return Organization.objects.get(slug=slug)


def _caller(slug: str) -> Caller:
    owner = User.objects.get(email=f"o@{slug}.test")
    return people.as_caller(organization=_organization(slug), user=owner, role=Role.OWNER)


def _find(caller: Caller, content: str) -> SearchAnswer:
    request = SearchRequest(query=content, limit=3, threshold=0.0)
    return search(caller=caller, request=request, now=datetime.now(UTC))


def _listen(lines: "Queue[str]") -> None:
    for line in sys.stdin:
        lines.put(line.strip())
    lines.put(END)


def _said(lines: "Queue[str]") -> str:
    try:
        return lines.get(timeout=SEARCH_PAUSE_S)
    except Empty:
        return ""


def _judged(caller: Caller, content: str) -> dict[str, bool]:
    answer = _find(caller, content)
    own = next((hit for hit in answer.hits if hit.memory.content == content), None)
    dense = own.explain["paths"].get("dense") if own else None
    return {
        "asked": True,
        "degraded": bool(answer.degraded),
        "lost": own is None,
        "crossed": dense is not None and dense["score"] < OF_ITSELF,
    }


def _store(caller: Caller, numbers: range) -> None:
    new = tuple(
        NewMemory(content=content_of(number), source="user_taught", project=PROJECT)
        for number in numbers
    )
    remember_all(caller=caller, new=new, now=datetime.now(UTC))


def _ids() -> tuple[UUID, ...]:
    with tenancy.unit():
        return tuple(Memory.objects.order_by("id").values_list("id", flat=True))


COMMANDS: dict[str, Any] = {
    command.__name__: command
    for command in (
        *(found, write, missing, poison, clocks),
        *(work, prepare, recall, vectors),
    )
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
