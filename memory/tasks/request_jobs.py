"""Jobs that do what a person asked for, with the rights that they have by then."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from accounts.identifiers import as_uuid
from accounts.jobs import Claim
from accounts.queries import directory
from accounts.queries.directory import Initiator
from memory.documents.actions.import_batches import fail_import, run_import
from memory.documents.queries import imports
from memory.review.rollback import execute
from teams.permissions import Act, require


@jobs.handler("memory.run_import")
def take_in(claim: Claim) -> Mapping[str, Any]:
    """Take in what waits of an import, in the name of who began it."""
    batch_id = as_uuid(text=str(claim.payload["key"]))
    if batch_id is None:
        return {"rows": 0}
    with tenancy.unit():
        began = imports.who_began(batch_id=batch_id)
    if began is None:
        return {"rows": 0}
    tell = partial(jobs.progress, claim)
    try:
        caller = _who_began(began)
        return run_import(caller=caller, batch_id=batch_id, now=timezone.now(), tell=tell)
    except (NotFound, Forbidden, InvalidInput) as error:
        failure = jobs.PermanentFailure(error.detail, error.hint)
        fail_import(batch_id=batch_id, reason=failure.reason, now=timezone.now())
        raise failure from error


@jobs.handler("memory.roll_back")
def roll_back_what_was_chosen(claim: Claim) -> Mapping[str, Any]:
    """Take back what somebody chose, in the name of who asked."""
    began = execute.INITIATOR.validate_python(claim.payload["by"])
    try:
        return execute.run(
            caller=_who_began(began),
            choice=execute.CHOICE.validate_python(claim.payload["choice"]),
            asked_at=datetime.fromisoformat(claim.payload["asked_at"]),
            tell=partial(jobs.progress, claim),
        )
    except (NotFound, Forbidden) as error:  # asking again finds no more
        raise jobs.PermanentFailure(error.detail, error.hint) from error


def _who_began(began: Initiator) -> Caller:
    """Return who began something, with the rights they have now. Raises Forbidden when gone."""
    now = timezone.now()
    directory.check_token(beginner=began, now=now)
    caller = directory.caller_of(beginner=began, now=now)
    require(caller=caller, act=Act.WRITE)
    return replace(caller, agent=began.agent)
