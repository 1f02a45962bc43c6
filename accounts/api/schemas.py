"""JSON Schemas of what calls return: small builders, and the shapes of accounts' own answers."""

from collections.abc import Mapping
from typing import Any, Final

from accounts.queries.jobs import STATES

TEXT: Final = {"type": "string"}
WHOLE: Final = {"type": "integer"}
NUMBER: Final = {"type": "number"}
TRUTH: Final = {"type": "boolean"}
ID: Final = {"type": "string", "format": "uuid"}
MOMENT: Final = {"type": "string", "format": "date-time"}
FREE: Final = {"type": "object", "additionalProperties": True}


def several(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": dict(items)}


def maybe(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may be null."""
    return {"anyOf": [dict(schema), {"type": "null"}]}


def ref(name: str) -> dict[str, Any]:
    """Return a reference to a named schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def record(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that always has these properties."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
    }


def page_of(name: str) -> dict[str, Any]:
    """Return the schema of a page of a list."""
    return record(items=several(ref(name)), next_cursor=maybe(TEXT))


JOB: Final = record(
    id=ID,
    name=TEXT,
    queue=TEXT,
    state={
        "type": "string",
        "enum": list(STATES),
    },
    attempts=WHOLE,
    progress_done=WHOLE,
    progress_total=WHOLE,
    result=FREE,
    error=TEXT,
    created_by=maybe(ID),
    created_at=MOMENT,
    run_after=MOMENT,
    started_at=maybe(MOMENT),
    finished_at=maybe(MOMENT),
)
TOKEN: Final = record(
    id=ID,
    name=TEXT,
    kind={"type": "string", "enum": ["pat", "svc"]},
    last_four=TEXT,
    scopes=several(TEXT),
    projects=maybe(several(ID)),
    source_interface=TEXT,
    user_id=ID,
    user_name=TEXT,
    state={"type": "string", "enum": ["active", "rotated", "expired", "revoked"]},
    created_at=MOMENT,
    expires_at=MOMENT,
    last_used_at=maybe(MOMENT),
    last_used_ip=maybe(TEXT),
    last_used_agent=TEXT,
    last_used_hook=maybe(WHOLE),
    replaced_by=maybe(ID),
    revoked_at=maybe(MOMENT),
)
ME: Final = record(
    organization=record(id=ID, slug=TEXT),
    role=TEXT,
    scopes=several(TEXT),
    projects=maybe(several(ID)),
    user_id=maybe(ID),
    token_id=maybe(ID),
    source_interface=TEXT,
    agent=TEXT,
)
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Job": JOB,
    "JobPage": page_of("Job"),
    "Token": TOKEN,
    "Tokens": record(items=several(ref("Token"))),
    "IssuedToken": record(text=TEXT, token=ref("Token")),
    "LeakReceipt": record(received=WHOLE),
    "DeviceCodes": record(
        device_code=TEXT,
        user_code=TEXT,
        verification_uri=TEXT,
        verification_uri_complete=TEXT,
        expires_in=WHOLE,
        interval=WHOLE,
    ),
    "DeviceToken": record(
        access_token=TEXT, token_type=TEXT, expires_in=WHOLE, scope=TEXT, organization=TEXT
    ),
    "TokenPattern": record(
        name=TEXT, pattern=TEXT, prefixes=several(TEXT), length=WHOLE, checksum=TEXT, report=TEXT
    ),
    "Me": ME,
}
