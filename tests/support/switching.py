"""What tests of switching embedding models look at: which is active, what is stored, is it true."""

import numpy as np
from django.db.models.functions import Now

from accounts import jobs, tasks, tenancy
from accounts.caller import Caller
from accounts.models import Job
from config.celery import QUEUES
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.index.models import EmbeddingModel, MemoryVector
from memory.providers import registry
from tests.support import people

SAME = 0.999  # cosine of a vector with itself, at half precision


def active_key() -> str:
    """The model by which searches compare."""
    with tenancy.unit():
        return str(EmbeddingModel.objects.get(active=True).key)


def make_active(key: str) -> None:
    """Have searches compare by a model from now on, whatever lacks a vector of it."""
    with tenancy.unit():
        embedding.space(model=registry.embedder(key=key).model)
        EmbeddingModel.objects.update(active=False)
        EmbeddingModel.objects.filter(key=key).update(active=True)


def spaces_of(caller: Caller) -> dict[str, int]:
    """How many memories have a vector of each model."""
    return {view.key: view.embedded for view in index_queries.models(caller=caller).models}


def do_jobs(most: int = 100) -> int:
    """Run what is queued for models and vectors, as a worker does, whenever it is due."""
    done = 0
    while done < most and (held := _claimed()) is not None:
        with people.outside():
            tasks.run(held=held)
        done += 1
    return done


def is_true(row: MemoryVector) -> bool:
    """Say whether a vector is what its model makes of its memory's present text."""
    text = embedding.memory_text(row=row.memory)
    made = registry.embedder(key=row.model.key).embed_documents(texts=(text,))[0]
    return float(made @ np.array(row.unit)) > SAME


def true_vectors() -> int:
    """Count stored vectors; each must be true."""
    with tenancy.unit():
        rows = tuple(MemoryVector.objects.select_related("memory", "model").order_by("id"))
    assert [row.model.key for row in rows if not is_true(row)] == []
    return len(rows)


def _claimed() -> jobs.Claim | None:
    Job.objects.filter(state="queued", attempts=0).update(run_after=Now())
    for queue in QUEUES:
        held = jobs.claim(queue=queue, worker="w")
        if held is not None:
            return held
    return None
