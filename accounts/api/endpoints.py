"""How an app declares its REST calls: as values, without knowing the web.

An endpoint names its method, path and scope, the shape of its input, examples of its answers, and
one function from an Ask to an Answer. The shell in `config.rest` does the rest alike for all of
them: credentials, tenant, strict reading, idempotency, versions, cursors, limits, problem documents
and the OpenAPI document. So a call cannot forget one of these, and is tested without a request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from accounts.api.shapes import Field, Record, identifier
from accounts.caller import Caller, Role, TokenScope

JSON: Final = "application/json"
BYTES: Final = "application/octet-stream"
NOBODY: Final = UUID(int=0)  # what is no id names nothing, and is answered like an unknown one
STRANGER: Final = Caller(  # may nothing, and is nowhere
    user_id=None,
    organization_id=NOBODY,
    organization_slug="",
    schema_name="",
    role=Role.VIEWER,
    scopes=frozenset(),
    bound_projects=(),
    source_interface="api",
)


class Edits(StrEnum):
    """Whether a call edits one version of a thing, and must say which (If-Match)."""

    NOTHING = "nothing"
    ANY_VERSION = "any_version"
    NAMED_VERSION = "named_version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One call, read and checked: `body` and `query` hold only what the shapes let through.

    `cursor` is the inner text of the page asked for; `if_version` the version of If-Match;
    `headers` hold those that the call declares, empty where none was sent.
    """

    caller: Caller
    now: datetime
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    cursor: str | None = None
    if_version: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call returns: plain data, a version for the ETag, a cursor for the next page.

    With a `filename`, the body is an open file, of the type of the call's reply; who answers
    closes it.
    """

    body: Any
    status: int = 200
    version: int | None = None
    next_cursor: str | None = None
    location: str = ""
    filename: str = ""
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One documented success: its status, what it says, the schema's name and an example.

    One with `media` is a file of one of these types.
    """

    status: int
    says: str
    schema: str = ""
    example: Any = None
    media: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One call. `path` is relative to /api/v1/ with {names} for its parts.

    `lenient` where the body tells what others wrote: what cannot be stored is replaced.

    `largest` is how many bytes of JSON it takes where neither usual bound fits, and `smaller` what
    to do about a body that is larger.

    A `weighed` one costs more the more is sent, and counts as several calls by its size.

    `upload` is how many bytes of a file it takes for a body, whatever their type.

    A `public` one needs no credential, looks at none, and is run for the STRANGER.
    """

    method: str
    path: str
    name: str
    tag: str
    summary: str
    scope: TokenScope | None
    run: Callable[[Ask], Answer]
    replies: tuple[Reply, ...]
    says: str = ""
    body: Record | None = None
    example: Any = None
    query: tuple[Field, ...] = ()
    headers: tuple[Field, ...] = ()
    paged: bool = False
    edits: Edits = Edits.NOTHING
    idempotent: bool = False
    bulk: bool = False
    largest: int = 0
    smaller: str = ""
    lenient: bool = False
    lines: str = ""
    upload: int = 0
    weighed: bool = False
    public: bool = False


def path_id(*, ask: Ask) -> UUID:
    """Return the id that the path names."""
    return identifier(text=ask.path["id"]) or NOBODY
