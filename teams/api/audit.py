"""The audit log over REST, for who manages the organization."""

from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.shapes import Field, Identifier, Text
from accounts.caller import TokenScope
from teams.audit.queries import AREAS, Filters
from teams.audit.queries import page as page_of_audit

EXAMPLE: Final[dict[str, Any]] = {
    "number": 12,
    "act": "token.revoked",
    "object_type": "token",
    "object_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a78",
    "actor_user": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a01",
    "token_id": None,
    "agent": "",
    "source_interface": "dashboard",
    "surface": "page",
    "request_id": "3f0f8a0c5e1b4a7f9d2c6b8e7a1d4c90",
    "address": "192.0.2.7",
    "details": {"of": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a01", "scopes": ["read", "write"]},
    "fields": [],
    "created_at": "2026-11-20T12:00:00Z",
    "previous_hash": "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
    "hash": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
}


def index(ask: Ask) -> Answer:
    """Return a page of the log, newest first."""
    query = ask.query
    page = page_of_audit(
        caller=ask.caller,
        filters=Filters(
            area=query["area"],
            actor=query["actor"],
            object_id=query["object_id"],
            request_id=query["request_id"],
        ),
        cursor=ask.cursor,
        limit=query["limit"],
    )
    return Answer(
        body={"items": [asdict(entry) for entry in page.items]}, next_cursor=page.next_cursor
    )


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="audit",
        name="list_audit",
        tag="audit",
        summary="Read the audit log",
        says=(
            "Who did what, when and from where, newest first: one entry for each call that changed "
            "something. For owners and admins. `hash` chains each entry to the one before."
        ),
        scope=TokenScope.ADMIN,
        run=index,
        query=(
            Field(
                name="area",
                shape=Text(largest=20, choices=AREAS),
                says="Only acts on this kind of thing.",
            ),
            Field(name="actor", shape=Identifier(), says="Only acts of this person."),
            Field(
                name="object_id",
                shape=Text(largest=64, smallest=1),
                says="Only acts on the thing with this id.",
            ),
            Field(
                name="request_id",
                shape=Text(largest=64, smallest=1),
                says="Only acts of the request with this id.",
            ),
        ),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of the log.",
                schema="AuditPage",
                example={"items": [EXAMPLE], "next_cursor": None},
            ),
        ),
    ),
)
