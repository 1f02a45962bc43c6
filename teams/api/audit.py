"""The audit log over REST, for who manages the organization."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Answer, Call, get
from accounts.api.schemas import Identifier, Name, OneOf, Page, PageQuery, Result
from accounts.caller import TokenScope
from teams.audit import queries
from teams.audit.queries import AREAS, Filters


class AuditQuery(PageQuery):
    """Which acts to list."""

    area: Annotated[str, OneOf(AREAS)] | None = Field(
        None, description="Only acts on this kind of thing."
    )
    actor: Identifier | None = Field(None, description="Only acts of this person.")
    object_id: Name | None = Field(
        None, max_length=64, description="Only acts on the thing with this id."
    )
    request_id: Name | None = Field(
        None, max_length=64, description="Only acts of the request with this id."
    )


class AuditEntry(Result):
    """One act."""

    number: int
    act: str
    object_type: str
    object_id: str
    actor_user: UUID | None
    token_id: UUID | None
    agent: str
    source_interface: str
    surface: str
    request_id: str
    address: str
    details: dict[str, Any]
    fields: tuple[str, ...]
    created_at: datetime
    previous_hash: str
    hash: str


@get("audit", tag="audit", scope=TokenScope.ADMIN, answer=Page[AuditEntry])
def list_audit(call: Call, query: AuditQuery) -> Answer:
    """Read the audit log.

    Who did what, when and from where, newest first: one entry for each call that changed something.
    For owners and admins. `hash` chains each entry to the one before.
    """
    filters = Filters(
        area=query.area, actor=query.actor, object_id=query.object_id, request_id=query.request_id
    )
    page = queries.page(
        caller=call.caller, filters=filters, cursor=call.after(str), limit=query.limit
    )
    return Answer(page.items, following=page.next_cursor)
