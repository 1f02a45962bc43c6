"""Changing memories over REST: edit, archive, restore, confirm, correct, pin."""

from collections.abc import Callable
from typing import Any, Final

from accounts.api import waiting
from accounts.api.endpoints import Answer, Ask, Edits, Endpoint, Reply, path_id
from accounts.api.shapes import Record
from accounts.caller import TokenScope
from accounts.errors import InvalidInput
from memory.api import examples, inputs, output
from memory.api.writing import remembered
from memory.records.actions.archive import archive
from memory.records.actions.confirm import confirm
from memory.records.actions.pin import pin
from memory.records.actions.restore import restore
from memory.records.actions.revise import revise
from memory.records.queries.views import MemoryView
from memory.review.actions.correct import Correction
from memory.review.actions.correct import edit as edit_memory

CHANGED: Final = Reply(
    status=200, says="The memory as it is now.", schema="Memory", example=examples.MEMORY
)


def edit(ask: Ask) -> Answer:
    """Change fields of a memory; the version before stays in its history."""
    if not ask.body:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=f"Send one of: {', '.join(part.name for part in inputs.CHANGES.fields)}.",
        )
    view = revise(
        caller=ask.caller,
        memory_id=path_id(ask=ask),
        changes=ask.body,
        if_version=ask.if_version,
        now=ask.now,
    )
    return _changed(view)


def remove(ask: Ask) -> Answer:
    """Archive a memory; it can be restored."""
    view = archive(
        caller=ask.caller,
        memory_id=path_id(ask=ask),
        reason=ask.query["reason"],
        if_version=ask.if_version,
        now=ask.now,
    )
    return _changed(view)


def bring_back(ask: Ask) -> Answer:
    """Restore an archived memory."""
    return _changed(restore(caller=ask.caller, memory_id=path_id(ask=ask), now=ask.now))


def affirm(ask: Ask) -> Answer:
    """Confirm a memory."""
    return _changed(confirm(caller=ask.caller, memory_id=path_id(ask=ask), now=ask.now))


def put_right(ask: Ask) -> Answer:
    """Put a corrected memory in the place of a wrong one."""
    return remembered(
        ask,
        edit_memory(
            caller=ask.caller,
            memory_id=path_id(ask=ask),
            correction=Correction(**ask.body),
            now=ask.now,
        ).outcome,
    )


def hold(ask: Ask) -> Answer:
    """Pin a memory, or let go of it."""
    view = pin(
        caller=ask.caller, memory_id=path_id(ask=ask), pinned=ask.body["pinned"], now=ask.now
    )
    return _changed(view)


def _changed(view: MemoryView) -> Answer:
    return Answer(body=output.memory(view), version=view.version)


def _verb(
    name: str,
    summary: str,
    run: Callable[[Ask], Answer],
    *,
    body: Record = inputs.NOTHING,
    example: Any = None,
) -> Endpoint:
    return Endpoint(
        method="POST",
        path=f"memories/{{id}}/{name}",
        name=f"{name}_memory",
        tag="memories",
        summary=summary,
        scope=TokenScope.WRITE,
        run=run,
        body=body,
        example=example,
        idempotent=True,
        replies=(CHANGED,),
    )


ENDPOINTS: Final = (
    Endpoint(
        method="PATCH",
        path="memories/{id}",
        name="edit_memory",
        tag="memories",
        summary="Change a memory",
        says="Send If-Match with the ETag you read; 412 says that someone was faster.",
        scope=TokenScope.WRITE,
        run=edit,
        body=inputs.CHANGES,
        example={"tags": ["cart", "cache", "tests"], "reason": "also about tests"},
        edits=Edits.NAMED_VERSION,
        idempotent=True,
        replies=(CHANGED,),
    ),
    Endpoint(
        method="DELETE",
        path="memories/{id}",
        name="archive_memory",
        tag="memories",
        summary="Archive a memory",
        says="It leaves searches and can be restored.",
        scope=TokenScope.WRITE,
        run=remove,
        query=(inputs.REASON,),
        edits=Edits.ANY_VERSION,
        idempotent=True,
        replies=(CHANGED,),
    ),
    _verb("restore", "Restore an archived memory", bring_back),
    _verb("confirm", "Say that a memory is right", affirm),
    _verb("pin", "Pin a memory, or let go of it", hold, body=inputs.PIN, example={"pinned": True}),
    Endpoint(
        method="POST",
        path="memories/{id}/correct",
        name="correct_memory",
        tag="memories",
        summary="Put a corrected memory in its place",
        says="The wrong one is superseded and stays readable.",
        scope=TokenScope.WRITE,
        run=put_right,
        body=inputs.CORRECTION,
        example={
            "content": "The cart service caches prices for 5 s since version 3.",
            "kind": "outdated",
        },
        query=(waiting.WAIT,),
        idempotent=True,
        replies=(
            Reply(
                status=201,
                says="The new memory.",
                schema="Remembered",
                example=examples.REMEMBERED,
            ),
        ),
    ),
)
