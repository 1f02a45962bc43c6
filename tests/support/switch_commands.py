"""What `tests.support.crash_program` does around a switch of models.

`fill` stores memories and embeds them. `recall ORGANIZATION COUNT` asks for them by their words,
one after another, and stores another one now and then; each line of its input is a command of
`manage.py embed`, and its end the end. Then it prints how many answers were degraded, lacked the
memory, or compared vectors across models. `vectors` prints how many memories lack a vector of the
active model, and how many vectors are not what their model makes of their memory's text.
"""

import json
import sys
from datetime import UTC, datetime
from queue import Empty, Queue
from threading import Thread
from uuid import UUID

import numpy as np
from django.core.management import call_command

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.models import Organization, User
from memory.index.actions import embedding
from memory.index.models import EmbeddingModel, MemoryVector
from memory.intake.actions.remember import MOST, remember_all
from memory.intake.validation import NewMemory
from memory.providers import registry
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.support import people
from tests.support.load import PROJECT, content_of

OF_ITSELF = 0.5  # least cosine of a memory and its words; across two spaces it is near 0
SAME = 0.999  # cosine of a vector with itself, at half precision
STORE_EVERY = 20  # searches
WRONG = ("asked", "degraded", "lost", "crossed")
END = "end of input"
PAUSE_S = 0.02  # between searches, for the others on the machine


def fill(slug: str, count: str) -> None:
    """Store memories and give them vectors."""
    caller = _caller(slug)
    with people.entered(organization=_organization(slug)):
        for start in range(0, int(count), MOST):
            _store(caller, range(start, min(int(count), start + MOST)))
        embedding.embed_batch(memory_ids=_ids())


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
    sys.stdout.write(json.dumps(_vectors(slug)))


def _listen(lines: "Queue[str]") -> None:
    for line in sys.stdin:
        lines.put(line.strip())
    lines.put(END)


def _said(lines: "Queue[str]") -> str:
    try:
        return lines.get(timeout=PAUSE_S)
    except Empty:
        return ""


def _vectors(slug: str) -> dict[str, object]:
    with people.entered(organization=_organization(slug)):
        ids = set(_ids())
        with tenancy.unit():
            active = EmbeddingModel.objects.get(active=True)
            rows = tuple(MemoryVector.objects.select_related("memory", "model"))
        embedded = {row.memory_id for row in rows if row.model_id == active.id}
        false = sum(not _is_true(row) for row in rows)
    told = {"active": active.key, "memories": len(ids), "lacking": len(ids - embedded)}
    return {**told, "vectors": len(rows), "false": false}


def _judged(caller: Caller, content: str) -> dict[str, bool]:
    request = SearchRequest(query=content, limit=3, threshold=0.0)
    answer = search(caller=caller, request=request, now=datetime.now(UTC))
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


def _is_true(row: MemoryVector) -> bool:
    text = embedding.memory_text(row=row.memory)
    made = registry.embedder(key=row.model.key).embed_documents(texts=(text,))[0]
    return float(made @ np.array(row.unit)) > SAME


def _organization(slug: str) -> Organization:
    return Organization.objects.get(slug=slug)


def _caller(slug: str) -> Caller:
    owner = User.objects.get(email=f"o@{slug}.test")
    return people.as_caller(organization=_organization(slug), user=owner, role=Role.OWNER)
