"""The OpenAPI 3.1 document, made from the same declarations that check and answer the calls.

So it cannot say something else than what happens; `tests/architecture/openapi.json` freezes it. The
page at `/docs/api` shows it with Swagger UI from our own static files.

It is written from `pydantic.json_schema.models_json_schema` and not by drf-spectacular: our views
have no serializers, spectacular's extension describes models only as answers, and headers, links,
query models and If-Match would all be written by hand in a subclass of its AutoSchema that is
longer than this module.

A link tells a client, and the tests that follow them, which value of an answer another call takes:
the id of what was just made, its ETag as If-Match. It follows from the `resource` of the answer's
model and the paths of the calls.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from pydantic import BaseModel, Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema
from pydantic_core import core_schema

from accounts.api.endpoints import BYTES, JSON, Edits, Endpoint
from accounts.api.schemas import Changes, Query, Resource, Result, is_none
from config.rest import parsing, problems

Used = tuple[type[BaseModel], JsonSchemaMode]
References = Mapping[Any, dict[str, Any]]  # of `Used` models
TEXT: Final = {"type": "string"}
WHOLE: Final = {"type": "integer"}
FILE: Final = {"type": "string", "format": "binary"}
PARTS: Final = {"id": {"type": "string", "format": "uuid"}}  # of paths; every other part is text
FAULTS: Final = {
    400: "Not readable as what it says it is.",
    401: "No credential, or not a good one.",
    403: "Not allowed for this credential or role.",
    404: "Not there, or not for this caller.",
    409: "Contradicts the present state.",
    412: "The version in If-Match is not the newest.",
    413: "The body is too large.",
    415: "The body is in another format.",
    422: "Understood and wrong; `errors` points at the fields.",
    428: "If-Match is missing.",
    429: "Too many calls; Retry-After says when.",
    503: "Something needed is down; Retry-After says when.",
}
DESCRIPTION: Final = (
    "Team memory for AI coding agents. JSON in UTF-8, each key once, at most 32 levels deep; a "
    "text holds no NUL and no half of a character, one that must be there is not blank, and a "
    "number without a fraction has at most 64 bits, however it is written."
)
KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeat a write safely: the same key is done once, 24 h.",
    "schema": {**TEXT, "pattern": "^[!-~]{1,255}$"},
}
VERSION: Final = {
    "name": "If-Match",
    "in": "header",
    "description": 'The ETag you read, such as "v3"; * edits whatever version there is.',
    "schema": {**TEXT, "pattern": '^([*]|(W/)?"?v?[0-9]{1,9}"?)$'},
}
COUNTED: Final = (
    "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy",
)  # fmt: skip
OF_FAULTS: Final = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
HEADERS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {  # of answers
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


class Fault(Result):
    """A field that is wrong."""

    pointer: str
    detail: str
    code: str


class Problem(Result):
    """RFC 9457. `type` is stable and explained where it points."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str
    request_id: str
    errors: tuple[Fault, ...] | None = Field(None, exclude_if=is_none)
    gate: str | None = Field(None, exclude_if=is_none)


def document_view(*, endpoints: tuple[Endpoint, ...]) -> Callable[[HttpRequest], HttpResponse]:
    """Return the view that answers with the document."""

    @functools.cache
    def written() -> bytes:
        return problems.to_json(value=document(endpoints=endpoints))

    return lambda request: HttpResponse(written(), content_type=JSON)


def page(request: HttpRequest) -> HttpResponse:
    """Show the document as a page on which calls can be tried."""
    return render(request, "config/api.html", {"csp_nonce": getattr(request, "csp_nonce", "")})


def document(*, endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of these calls."""
    writer = _Writer(endpoints, *_models(endpoints))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        calls = paths.setdefault(f"/api/v1/{endpoint.path}", {})
        calls[endpoint.method.lower()] = writer.operation(endpoint)
    headers = {
        name: {"description": meaning, "required": True, "schema": dict(schema)}
        for name, (meaning, schema) in HEADERS.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cairn",
            "version": "1",
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": tag} for tag in sorted({endpoint.tag for endpoint in endpoints})],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": writer.schemas(),
            "headers": headers,
            "links": writer.links(),
        },
    }


class _Generator(GenerateJsonSchema):
    """Writes the schemas of our models; pydantic's titles only repeat the names."""

    def enum_schema(self, schema: core_schema.EnumSchema) -> dict[str, Any]:
        """Describe a choice without the docstring of its enum."""
        described = super().enum_schema(schema)
        return {key: described[key] for key in described if key not in {"title", "description"}}


def _models(endpoints: tuple[Endpoint, ...]) -> tuple[References, dict[str, Any]]:
    """Return a reference to each model of the calls, and the schemas of all models by name."""
    found: set[Used] = {(Problem, "serialization")}
    for endpoint in endpoints:
        sent = (endpoint.body, endpoint.query, endpoint.headers)
        found |= {(one, "validation") for one in sent if one is not None}
        if endpoint.answer is not None:
            found.add((endpoint.answer, "serialization"))
    references, written = models_json_schema(
        sorted(found, key=lambda used: (used[0].__name__, used[1])),
        ref_template="#/components/schemas/{model}",
        schema_generator=_Generator,
    )
    return references, dict(written.get("$defs", {}))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes calls into the document, with what all calls share."""

    endpoints: tuple[Endpoint, ...]
    references: References
    definitions: Mapping[str, Any]

    def schemas(self) -> dict[str, Any]:
        """Return the schemas that bodies and answers refer to; parameters are written inline."""
        inline = {one.__name__ for one, _ in self.references if issubclass(one, Query)}
        return {name: self.definitions[name] for name in sorted(self.definitions.keys() - inline)}

    def links(self) -> dict[str, Any]:
        """Return a link per answer that names a thing, and call that takes it further."""
        answers = {
            one.answer.__name__: _resource(one.answer) for one in self.endpoints if one.answer
        }
        return {
            f"{name}.{endpoint.name}": _link(resource, endpoint)
            for name, resource in answers.items()
            if resource is not None
            for endpoint in self._leading_on(resource)
        }

    def operation(self, endpoint: Endpoint) -> dict[str, Any]:
        """Describe a call."""
        described: dict[str, Any] = {
            "operationId": endpoint.name,
            "summary": endpoint.summary,
            "tags": [endpoint.tag],
            "parameters": self._parameters(endpoint),
            "responses": {**self._successes(endpoint), **self._refusals(endpoint)},
        }
        if endpoint.public:
            described["security"] = []
        if endpoint.description:
            described["description"] = endpoint.description
        if endpoint.body is not None:
            described["requestBody"] = self._request_body(endpoint, endpoint.body)
        if endpoint.upload:
            described["requestBody"] = {"required": True, "content": {BYTES: {"schema": FILE}}}
        return described

    def _parameters(self, endpoint: Endpoint) -> list[dict[str, Any]]:
        names = [part.strip("{}") for part in endpoint.path.split("/") if part.startswith("{")]
        described: list[dict[str, Any]] = [
            {"name": name, "in": "path", "required": True, "schema": PARTS.get(name, TEXT)}
            for name in names
        ]
        described += self._parameters_of(endpoint.query, "query")
        if endpoint.headers is not None:
            described += self._parameters_of(endpoint.headers, "header")
        if endpoint.idempotent:
            described.append(KEY)
        if endpoint.edits != Edits.NOTHING:
            is_needed = endpoint.edits == Edits.NAMED_VERSION
            described.append({**VERSION, "required": is_needed})
        return described

    def _parameters_of(self, model: type[BaseModel], place: str) -> Iterator[dict[str, Any]]:
        schema = self.definitions[model.__name__]
        for name, part in schema.get("properties", {}).items():
            yield {
                "name": name,
                "in": place,
                "description": part.get("description", ""),
                "schema": {key: part[key] for key in part if key != "description"},
                **({"required": True} if name in schema.get("required", ()) else {}),
                **({"style": "form", "explode": False} if part.get("type") == "array" else {}),
            }

    def _request_body(self, endpoint: Endpoint, body: type[BaseModel]) -> dict[str, Any]:
        fields = {field.alias or name: field for name, field in body.model_fields.items()}
        content: dict[str, Any] = {"schema": self.references[body, "validation"]}
        example = {name: one.examples[0] for name, one in fields.items() if one.examples}
        if example:
            content["example"] = example
        media: dict[str, Any] = {JSON: content}
        if endpoint.lines:
            media[parsing.NDJSON] = {"schema": TEXT}
        is_needed = issubclass(body, Changes) or any(one.is_required() for one in fields.values())
        return {"required": is_needed, "content": media}

    def _content(self, endpoint: Endpoint) -> dict[str, Any]:
        if endpoint.answer is not None:
            return {JSON: {"schema": self.references[endpoint.answer, "serialization"]}}
        # a file of JSON may hold anything
        return {kind: {"schema": {} if kind == JSON else FILE} for kind in endpoint.media}

    def _successes(self, endpoint: Endpoint) -> dict[str, Any]:
        answer, resource = endpoint.answer, _resource(endpoint.answer)
        has_version = resource is not None and bool(resource.version)
        name = "" if answer is None else answer.__name__
        meaning = "The file." if answer is None else inspect.getdoc(answer) or ""
        content = self._content(endpoint)
        links = {
            one.name: {"$ref": f"#/components/links/{name}.{one.name}"}
            for one in (() if resource is None else self._leading_on(resource))
        }
        return {
            str(status): {
                "description": said,
                "headers": _headers(status, has_version, endpoint.public),
                "content": content,
                **({"links": links} if links else {}),
            }
            for status, said in {endpoint.status: meaning, **endpoint.also}.items()
        }

    def _refusals(self, endpoint: Endpoint) -> dict[str, Any]:
        left_out = {
            401: endpoint.public,
            403: endpoint.public,
            404: endpoint.public,
            409: endpoint.method == "GET",
            412: endpoint.edits == Edits.NOTHING,
            413: endpoint.body is None and not endpoint.upload,
            415: endpoint.body is None,
            428: endpoint.edits != Edits.NAMED_VERSION,
        }
        schema = self.references[Problem, "serialization"]
        return {
            str(status): {
                "description": meaning,
                "headers": _references(*((OF_FAULTS[status],) if status in OF_FAULTS else ())),
                "content": {problems.MEDIA_TYPE: {"schema": schema}},
            }
            for status, meaning in FAULTS.items()
            if not left_out.get(status)
        }

    def _leading_on(self, resource: Resource) -> tuple[Endpoint, ...]:
        path = f"{resource.path}/"
        return tuple(one for one in self.endpoints if f"{one.path}/".startswith(path))


def _resource(answer: type[BaseModel] | None) -> Resource | None:
    return getattr(answer, "resource", None)


def _link(resource: Resource, endpoint: Endpoint) -> dict[str, Any]:
    name = resource.path.partition("{")[2].rstrip("}")
    parameters = {name: f"$response.body#{resource.key}"}
    if endpoint.edits == Edits.NAMED_VERSION and resource.version:
        parameters["If-Match"] = "$response.header.ETag"
    return {"operationId": endpoint.name, "parameters": parameters}


def _headers(status: int, has_version: bool, is_public: bool) -> dict[str, Any]:
    """Return the headers of an answer: its version, where a new one is, what calls are left."""
    names = [*(() if is_public else COUNTED)]
    if has_version and status == 201:
        names = ["Location", *names]
    if has_version:
        names = ["ETag", *names]
    return _references(*names)


def _references(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*names, "X-Request-Id")}
