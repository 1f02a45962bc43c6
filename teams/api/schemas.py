"""JSON Schemas of what calls about projects and changes return."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.schemas import (
    FREE,
    ID,
    MOMENT,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    maybe,
    page_of,
    record,
    ref,
    several,
)

SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Project": record(
        id=ID,
        slug=TEXT,
        name=TEXT,
        description=TEXT,
        open_to_all=TRUTH,
        relevance_threshold=maybe(NUMBER),
        created_at=MOMENT,
        version=WHOLE,
    ),
    "Person": record(id=ID, name=TEXT, role=TEXT, since=MOMENT),
    "People": record(items=several(ref("Person"))),
    "Team": record(id=ID, slug=TEXT, name=TEXT, created_at=MOMENT, version=WHOLE),
    "Teams": record(items=several(ref("Team"))),
    "Projects": record(items=several(ref("Project"))),
    "Change": record(
        id=WHOLE,
        kind=TEXT,
        object_id=ID,
        project_id=maybe(ID),
        actor_user=maybe(ID),
        actor_name=TEXT,
        source_interface=TEXT,
        summary=FREE,
        created_at=MOMENT,
    ),
    "AuditEntry": record(
        number=WHOLE,
        act=TEXT,
        object_type=TEXT,
        object_id=TEXT,
        actor_user=maybe(ID),
        token_id=maybe(ID),
        agent=TEXT,
        source_interface=TEXT,
        surface=TEXT,
        request_id=TEXT,
        address=TEXT,
        details=FREE,
        fields=several(TEXT),
        created_at=MOMENT,
        previous_hash=TEXT,
        hash=TEXT,
    ),
    "AuditPage": page_of("AuditEntry"),
    "Changes": record(items=several(ref("Change")), next_after=WHOLE),
}
