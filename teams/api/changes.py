"""What happened, over REST: the change feed with its long poll, and the audit log."""

from typing import Annotated, Any

from pydantic import Field

from accounts.api import jobs
from accounts.api.endpoints import Answer, Call, get
from accounts.api.schemas import Identifier, Name, OneOf, Page, PageQuery, Query, Result, fields_of
from accounts.caller import TokenScope
from teams import queries
from teams.audit import queries as audit
from teams.audit.chain import Entry


class ChangesQuery(Query):
    """Which changes are asked for."""

    after: int = Field(
        0,
        ge=0,
        le=10**18 - 1,
        description="`next_after` of the answer before; 0 begins at the oldest.",
    )
    limit: int = Field(50, ge=1, le=200, description="At most.")
    wait: int = Field(
        0, ge=0, le=jobs.LONGEST_WAIT, description="Seconds to wait for something new, 0 to 30."
    )
    project: Name | None = Field(None, max_length=64, description="Only of this project.")


@fields_of(queries.ChangeView)
class Change(Result):
    """Something that happened."""


class ChangeFeed(Result):
    """Oldest first."""

    items: tuple[Change, ...]
    next_after: int


@get("changes", tag="changes", answer=ChangeFeed)
def list_changes(call: Call, query: ChangesQuery) -> dict[str, Any]:
    """Follow what happens.

    The ordered feed of changes the caller may see. Keep `next_after` and send it as `after`;
    nothing is missed and nothing comes twice.
    """
    found = jobs.until(
        look=lambda: queries.changes_since(
            caller=call.caller, after=query.after, limit=query.limit, project=query.project
        ),
        seconds=query.wait,
        check=lambda: jobs.check_holds(caller=call.caller),
    )
    changes = found or ()
    return {"items": changes, "next_after": changes[-1].id if changes else query.after}


class AuditQuery(PageQuery):
    """Which acts to list."""

    area: Annotated[str, OneOf(audit.AREAS)] | None = Field(
        None, description="Only acts on this kind of thing."
    )
    actor: Identifier | None = Field(None, description="Only acts of this person.")
    object_id: Name | None = Field(
        None, max_length=64, description="Only acts on the thing with this id."
    )
    request_id: Name | None = Field(
        None, max_length=64, description="Only acts of the request with this id."
    )


@fields_of(Entry)
class AuditEntry(Result):
    """One act."""


@get("audit", tag="audit", scope=TokenScope.ADMIN, answer=Page[AuditEntry])
def list_audit(call: Call, query: AuditQuery) -> Answer:
    """Read the audit log.

    Who did what, when and from where, newest first: one entry for each call that changed something.
    For owners and admins. `hash` chains each entry to the one before.
    """
    filters = audit.Filters(
        area=query.area, actor=query.actor, object_id=query.object_id, request_id=query.request_id
    )
    page = audit.page(
        caller=call.caller, filters=filters, cursor=call.after(str), limit=query.limit
    )
    return Answer(page.items, following=page.next_cursor)
