"""Remembering over REST: one, and many at once."""

from typing import Any, Final

from accounts.api import waiting
from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.caller import TokenScope
from memory.api import examples, inputs, output
from memory.errors import RefusedByGate
from memory.intake.actions.remember import Outcome, remember
from memory.intake.actions.remember_all import remember_all


def create(ask: Ask) -> Answer:
    """Remember one thing. Raises RefusedByGate."""
    new = inputs.new_memory(caller=ask.caller, body=ask.body)
    return remembered(ask, remember(caller=ask.caller, new=new, now=ask.now))


def create_all(ask: Ask) -> Answer:
    """Remember many things; each has an outcome of its own, in order."""
    project = ask.body["project"] or ask.query["project"]
    new = tuple(
        inputs.new_memory(caller=ask.caller, body=one, project=project)
        for one in ask.body["memories"]
    )
    outcomes = remember_all(caller=ask.caller, new=new, now=ask.now)
    job_id = next((one.job_id for one in outcomes if one.job_id), None)
    waiting.until_done(caller=ask.caller, job_id=job_id, seconds=ask.query["wait"])
    body: dict[str, Any] = {"outcomes": [output.short_outcome(one) for one in outcomes]}
    return Answer(body={**body, "job_id": job_id})


def remembered(ask: Ask, result: Outcome) -> Answer:
    """Answer with the outcome of one memory. Raises RefusedByGate."""
    if result.memory is None:
        raise RefusedByGate(gate=result.gate, detail=result.reason, hint=result.hint)
    is_embedded = waiting.until_done(
        caller=ask.caller, job_id=result.job_id, seconds=ask.query["wait"]
    )
    return Answer(
        status=201,
        body=output.outcome(result, is_embedded=is_embedded),
        version=result.memory.version,
        location=f"/api/v1/memories/{result.memory.id}",
    )


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="memories",
        name="create_memory",
        tag="memories",
        summary="Remember something",
        says=(
            "Sends one statement through the intake gates. What is known already is confirmed "
            "instead of stored twice; an external_id that exists is brought up to date. A refusal "
            "is a 422 that names the gate and says what would pass."
        ),
        scope=TokenScope.WRITE,
        run=create,
        body=inputs.NEW_MEMORY,
        example=examples.SENT,
        query=(waiting.WAIT,),
        idempotent=True,
        replies=(
            Reply(
                status=201,
                says="What became of it.",
                schema="Remembered",
                example=examples.REMEMBERED,
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="memories/bulk",
        name="create_memories",
        tag="memories",
        summary="Remember up to 1,000 things at once",
        says=(
            "All in one transaction, embedded by one background job. Also takes NDJSON "
            "(application/x-ndjson), one memory a line, with the project in the query."
        ),
        scope=TokenScope.WRITE,
        run=create_all,
        body=inputs.NEW_MEMORIES,
        example={"project": "shop", "memories": [examples.SENT, {"content": "Hmm."}]},
        query=(waiting.WAIT, inputs.PROJECT),
        idempotent=True,
        bulk=True,
        lines="memories",
        replies=(
            Reply(
                status=200,
                says="An outcome a memory, in order.",
                schema="RememberedAll",
                example=examples.REMEMBERED_ALL,
            ),
        ),
    ),
)
