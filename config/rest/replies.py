"""What the document says of answers besides their bodies: headers, and links to further calls.

A link tells a client, and the tests that follow them, which value of an answer another call takes:
the id of what was just made, its ETag as If-Match. All of it follows from the schema of the answer
and the paths of the calls, so a new call is linked without being listed here.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from accounts.api.endpoints import Edits, Endpoint, Reply
from accounts.api.schemas import TEXT, WHOLE, Resource

SOURCES: Final[Mapping[str, Resource]] = {  # of answers that are described by hand
    "Memory": Resource("memories/{id}", "/id", "/version"),
    "Remembered": Resource("memories/{id}", "/memory/id", "/memory/version"),
    "Project": Resource("projects/{ref}", "/slug", "/version"),
    "Team": Resource("teams/{ref}", "/slug", "/version"),
    "Job": Resource("jobs/{id}", "/id"),
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


def headers(*, answer: type[BaseModel] | None, status: int, endpoint: Endpoint) -> dict[str, Any]:
    """Return references to the headers of a success; calls of nobody are not counted."""
    resource = _resource(answer)
    has_version = resource is not None and resource.version
    tagged = ("ETag",) if has_version else ()
    located = ("Location",) if has_version and status == 201 else ()
    return _references((*tagged, *located, *(() if endpoint.public else COUNTED), "X-Request-Id"))


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
    """Return a link per answer that names a thing and call that takes it further."""
    answers = {one.answer.__name__: _resource(one.answer) for one in endpoints if one.answer}
    resources = {**SOURCES, **{name: one for name, one in answers.items() if one}}
    return {
        f"{name}.{endpoint.name}": _link(resource, endpoint)
        for name, resource in resources.items()
        for endpoint in _leading_on(resource, endpoints)
    }


def links_of(*, reply: Reply, endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """Return references to the links of a success that is declared by hand."""
    return _links(reply.schema, SOURCES.get(reply.schema), endpoints)


def links(*, answer: type[BaseModel] | None, endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """Return references to the links of a success."""
    return {} if answer is None else _links(answer.__name__, _resource(answer), endpoints)


def _resource(answer: type[BaseModel] | None) -> Resource | None:
    return getattr(answer, "resource", None)


def _links(name: str, resource: Resource | None, endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    return {
        endpoint.name: {"$ref": f"#/components/links/{name}.{endpoint.name}"}
        for endpoint in _leading_on(resource, endpoints)
    }


def _leading_on(resource: Resource | None, endpoints: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
    if resource is None:
        return ()
    return tuple(one for one in endpoints if f"{one.path}/".startswith(f"{resource.path}/"))


def _link(resource: Resource, endpoint: Endpoint) -> dict[str, Any]:
    name = resource.path.partition("{")[2].rstrip("}")
    parameters = {name: f"$response.body#{resource.key}"}
    if endpoint.edits == Edits.NAMED_VERSION and resource.version:
        parameters["If-Match"] = "$response.header.ETag"
    return {"operationId": endpoint.name, "parameters": parameters}


def _references(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
