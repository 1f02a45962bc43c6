"""What the document says of answers besides their bodies: headers, and links to further calls.

A link tells a client, and the tests that follow them, which value of an answer another call takes:
the id of what was just made, its ETag as If-Match. All of it follows from the schema of the answer
and the paths of the calls, so a new call is linked without being listed here.
"""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.endpoints import Edits, Endpoint, Reply
from accounts.api.schemas import TEXT, WHOLE

SOURCES: Final[Mapping[str, tuple[str, str]]] = {  # schema: path it leads to, where its part stands
    "Memory": ("memories/{id}", "/id"),
    "Remembered": ("memories/{id}", "/memory/id"),
    "Project": ("projects/{ref}", "/slug"),
    "Team": ("teams/{ref}", "/slug"),
    "Job": ("jobs/{id}", "/id"),
    "Token": ("tokens/{id}", "/id"),
    "IssuedToken": ("tokens/{id}", "/token/id"),
}
TAGGED: Final = frozenset({"Memory", "Project", "Remembered", "Team"})
LOCATED: Final = frozenset({"Project", "Remembered", "Team"})
COUNTED: Final = (
    "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy",
)  # fmt: skip
OF_FAULTS: Final[Mapping[int, str]] = {
    401: "WWW-Authenticate",
    429: "Retry-After",
    503: "Retry-After",
}
HEADERS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "ETag": ("Its version; send it as If-Match.", {**TEXT, "pattern": '^"v[0-9]+"$'}),
    "Location": ("Where it is found from now on.", {**TEXT, "pattern": "^/api/v1/"}),
    "RateLimit-Limit": ("Calls a minute that this credential has.", WHOLE),
    "RateLimit-Remaining": ("Calls that are left in this minute.", WHOLE),
    "RateLimit-Reset": ("Seconds until they are full again.", WHOLE),
    "RateLimit-Policy": ("The limit and its window in seconds.", TEXT),
    "Retry-After": ("Seconds to wait.", WHOLE),
    "WWW-Authenticate": ("How to show a credential.", TEXT),
    "X-Request-Id": ("Name it when you report a fault.", TEXT),
}


def header_components() -> dict[str, Any]:
    """Return the headers of answers, by name."""
    return {
        name: {"description": says, "required": True, "schema": dict(schema)}
        for name, (says, schema) in HEADERS.items()
    }


def headers_of(*, reply: Reply, endpoint: Endpoint) -> dict[str, Any]:
    """Return references to the headers of a success; calls of nobody are not counted."""
    tagged = ("ETag",) if reply.schema in TAGGED else ()
    located = ("Location",) if reply.status == 201 and reply.schema in LOCATED else ()
    counted = () if endpoint.public else COUNTED
    return _references((*tagged, *located, *counted, "X-Request-Id"))


def headers_of_fault(*, status: int) -> dict[str, Any]:
    """Return references to the headers of a refusal."""
    named = (OF_FAULTS[status],) if status in OF_FAULTS else ()
    return _references((*named, "X-Request-Id"))


def link_components(*, endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """Return a link per schema and call that takes it further."""
    return {
        f"{schema}.{endpoint.name}": _link(schema, endpoint)
        for schema in SOURCES
        for endpoint in _leading_on(schema, endpoints)
    }


def links_of(*, reply: Reply, endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """Return references to the links of a success."""
    return {
        endpoint.name: {"$ref": f"#/components/links/{reply.schema}.{endpoint.name}"}
        for endpoint in _leading_on(reply.schema, endpoints)
    }


def _leading_on(schema: str, endpoints: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
    if schema not in SOURCES:
        return ()
    path = SOURCES[schema][0]
    return tuple(one for one in endpoints if f"{one.path}/".startswith(f"{path}/"))


def _link(schema: str, endpoint: Endpoint) -> dict[str, Any]:
    path, pointer = SOURCES[schema]
    parameters = {path.partition("{")[2].rstrip("}"): f"$response.body#{pointer}"}
    if endpoint.edits == Edits.NAMED_VERSION and schema in TAGGED:
        parameters["If-Match"] = "$response.header.ETag"
    return {"operationId": endpoint.name, "parameters": parameters}


def _references(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
