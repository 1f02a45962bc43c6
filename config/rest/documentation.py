"""The OpenAPI 3.1 document, made from the same values that check and answer the calls.

So it cannot say something else than what happens; `tests/architecture/openapi.json` freezes it. The
page at `/docs/api` shows it with Swagger UI from our own static files.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema
from pydantic_core import core_schema

from accounts.api import schemas as accounts_schemas
from accounts.api import shapes
from accounts.api.endpoints import BYTES, JSON, Edits, Endpoint, Reply
from accounts.api.schemas import ID, TEXT, WHOLE, Changes, record, several
from accounts.api.shapes import Record
from config.rest import pagination, parsing, problems, rendering, replies
from memory.api import (
    action_log,
    checking,
    conflicts,
    embedders,
    entities,
    events,
    experiments,
    hooks,
    imports,
    notes,
    output,
    phase_weights,
    reviews,
    rollbacks,
    sessions,
    styles,
    summaries,
    topics,
    trust,
    turns,
    usage,
)

Used = tuple[type[BaseModel], JsonSchemaMode]
References = Mapping[Any, dict[str, Any]]  # of `Used` models
FILE: Final = {"type": "string", "format": "binary"}
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
SAYS: Final = (
    "Team memory for AI coding agents. JSON in UTF-8, each key once, at most 32 levels deep; a "
    "text holds no NUL and no half of a character, one that must be there is not blank, and a "
    "number without a fraction has at most 64 bits, however it is written."
)
PROBLEM: Final = {
    **record(
        type=TEXT, title=TEXT, status=WHOLE, code=TEXT, detail=TEXT, hint=TEXT, request_id=TEXT
    ),
    "description": "RFC 9457. `type` is stable and explained where it points.",
}
FAULT: Final = record(pointer=TEXT, detail=TEXT, code=TEXT)
PARTS: Final = {"id": ID}  # of paths; every other part is text
KEY: Final = {
    "name": "Idempotency-Key",
    "description": "Repeat a write safely: the same key is done once, 24 h.",
    "schema": {**TEXT, "pattern": "^[!-~]{1,255}$"},
}
VERSION: Final = {
    "name": "If-Match",
    "description": 'The ETag you read, such as "v3"; * edits whatever version there is.',
    "schema": {**TEXT, "pattern": '^([*]|(W/)?"?v?[0-9]{1,9}"?)$'},
}


def document_view(*, endpoints: tuple[Endpoint, ...]) -> Callable[[HttpRequest], HttpResponse]:
    """Return the view that answers with the document."""

    @functools.cache
    def written() -> bytes:
        return rendering.to_json(value=document(endpoints=endpoints))

    return lambda request: HttpResponse(written(), content_type=JSON)


def page(request: HttpRequest) -> HttpResponse:
    """Show the document as a page on which calls can be tried."""
    return render(request, "config/api.html", {"csp_nonce": getattr(request, "csp_nonce", "")})


def document(*, endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of these calls."""
    references, definitions = _models(endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        calls = paths.setdefault(f"/api/v1/{endpoint.path}", {})
        calls[endpoint.method.lower()] = _Operation(
            endpoint, endpoints, references, definitions
        ).described()
    parameters = {one.query.__name__ for one in endpoints if isinstance(one.query, type)}
    parameters |= {one.headers.__name__ for one in endpoints if isinstance(one.headers, type)}
    schemas = {name: one for name, one in definitions.items() if name not in parameters}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cairn",
            "version": "1",
            "description": SAYS,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": tag} for tag in sorted({endpoint.tag for endpoint in endpoints})],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": dict(sorted({**_schemas(endpoints), **schemas}.items())),
            "headers": replies.header_components(),
            "links": replies.link_components(endpoints=endpoints),
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
    found: set[Used] = set()
    for endpoint in endpoints:
        sent = (endpoint.body, endpoint.query, endpoint.headers)
        found |= {(one, "validation") for one in sent if isinstance(one, type)}
        if endpoint.answer is not None:
            found.add((endpoint.answer, "serialization"))
    references, written = models_json_schema(
        sorted(found, key=lambda used: (used[0].__name__, used[1])),
        ref_template="#/components/schemas/{model}",
        schema_generator=_Generator,
    )
    return references, dict(written.get("$defs", {}))


def _schemas(endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    sent = {
        endpoint.body.name: endpoint.body.schema()
        for endpoint in endpoints
        if isinstance(endpoint.body, Record)
    }
    problem = {**PROBLEM, "properties": {**PROBLEM["properties"], **_optional_of_problems()}}
    return {
        **output.SCHEMAS,
        **embedders.SCHEMAS,
        **action_log.SCHEMAS,
        **checking.SCHEMAS,
        **conflicts.SCHEMAS,
        **entities.SCHEMAS,
        **hooks.SCHEMAS,
        **imports.SCHEMAS,
        **notes.SCHEMAS,
        **sessions.SCHEMAS,
        **events.SCHEMAS,
        **experiments.SCHEMAS,
        **phase_weights.SCHEMAS,
        **summaries.SCHEMAS,
        **styles.SCHEMAS,
        **topics.SCHEMAS,
        **trust.SCHEMAS,
        **turns.SCHEMAS,
        **usage.SCHEMAS,
        **reviews.SCHEMAS,
        **rollbacks.SCHEMAS,
        **sent,
        "Problem": problem,
    }


def _optional_of_problems() -> dict[str, Any]:
    return {"errors": several(FAULT), "gate": TEXT}


@dataclass(frozen=True, slots=True)
class _Operation:
    """One call in the document, with what all calls share."""

    endpoint: Endpoint
    endpoints: tuple[Endpoint, ...]
    references: References
    definitions: Mapping[str, Any]

    def described(self) -> dict[str, Any]:
        """Return the operation."""
        endpoint = self.endpoint
        described: dict[str, Any] = {
            "operationId": endpoint.name,
            "summary": endpoint.summary,
            "tags": [endpoint.tag],
            "parameters": [
                *_path_parameters(endpoint),
                *self._parameters(endpoint.query, "query"),
                *self._parameters(endpoint.headers, "header"),
                *_version_headers(endpoint),
            ],
            "responses": {**self._successes(), **_refusals(endpoint)},
        }
        if endpoint.public:
            described["security"] = []
        if endpoint.says:
            described["description"] = endpoint.says
        if endpoint.body is not None:
            described["requestBody"] = self._request_body()
        if endpoint.upload:
            described["requestBody"] = {"required": True, "content": {BYTES: {"schema": FILE}}}
        return described

    def _parameters(self, model: Any, place: str) -> list[dict[str, Any]]:
        if not isinstance(model, type):
            paged = pagination.FIELDS if self.endpoint.paged and place == "query" else ()
            return [{**_query_parameter(field), "in": place} for field in (*model, *paged)]
        schema = self.definitions[model.__name__]
        required = schema.get("required", ())
        return [
            _parameter(name, place, dict(part), is_required=name in required)
            for name, part in schema["properties"].items()
        ]

    def _request_body(self) -> dict[str, Any]:
        endpoint, body = self.endpoint, self.endpoint.body
        if isinstance(body, Record):
            content: dict[str, Any] = {"schema": accounts_schemas.ref(body.name)}
            is_needed = body.partial or any(one.required for one in body.fields)
            example = endpoint.example
        elif body is not None:
            content = {"schema": self.references[body, "validation"]}
            fields = {field.alias or name: field for name, field in body.model_fields.items()}
            is_needed = issubclass(body, Changes) or any(f.is_required() for f in fields.values())
            example = {
                name: one.examples[0] for name, one in fields.items() if one.examples
            } or None
        if example is not None:
            content["example"] = example
        media: dict[str, Any] = {JSON: content}
        if endpoint.lines:
            media[parsing.NDJSON] = {"schema": TEXT}
        return {"required": is_needed, "content": media}

    def _successes(self) -> dict[str, Any]:
        endpoint, answer = self.endpoint, self.endpoint.answer
        if endpoint.replies:
            return self._declared_by_hand()
        says = "The file." if answer is None else inspect.getdoc(answer) or ""
        schema = FILE if answer is None else self.references[answer, "serialization"]
        media = {
            kind: {"schema": {} if kind == JSON and answer is None else schema}
            for kind in endpoint.media or (JSON,)
        }
        links = replies.links(answer=answer, endpoints=self.endpoints)
        return {
            str(status): {
                "description": meaning,
                "headers": replies.headers(answer=answer, status=status, endpoint=endpoint),
                "content": media,
                **({"links": links} if links else {}),
            }
            for status, meaning in {endpoint.status: says, **endpoint.also}.items()
        }

    def _declared_by_hand(self) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for reply in self.endpoint.replies:
            links = replies.links_of(reply=reply, endpoints=self.endpoints)
            answers[str(reply.status)] = {
                "description": reply.says,
                "headers": replies.headers_of(reply=reply, endpoint=self.endpoint),
                "content": {kind: _content(reply, kind) for kind in reply.media or (JSON,)},
                **({"links": links} if links else {}),
            }
        return answers


def _path_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    names = [part.strip("{}") for part in endpoint.path.split("/") if part.startswith("{")]
    return [
        {"name": name, "in": "path", "required": True, "schema": PARTS.get(name, TEXT)}
        for name in names
    ]


def _parameter(
    name: str, place: str, schema: dict[str, Any], *, is_required: bool
) -> dict[str, Any]:
    described = {"name": name, "in": place, "description": schema.pop("description", "")}
    if is_required:
        described["required"] = True
    if schema.get("type") == "array":
        described |= {"style": "form", "explode": False}
    return {**described, "schema": schema}


def _query_parameter(field: shapes.Field) -> dict[str, Any]:
    schema = shapes.describe(field=field)
    if schema.get("type") == "array":
        # A list without elements cannot be written in a query: `?tags=` names one empty element.
        schema["minItems"] = max(1, schema["minItems"])
    return _parameter(field.name, "query", schema, is_required=field.required)


def _version_headers(endpoint: Endpoint) -> list[dict[str, Any]]:
    is_edit = endpoint.edits == Edits.NAMED_VERSION
    key = {**KEY, "in": "header", "required": False}
    version = {**VERSION, "in": "header", "required": is_edit}
    wanted = ((key, endpoint.idempotent), (version, endpoint.edits != Edits.NOTHING))
    return [header for header, is_wanted in wanted if is_wanted]


def _content(reply: Reply, kind: str) -> dict[str, Any]:
    """Describe an answer in one kind of media; a file of JSON may hold anything."""
    file: dict[str, Any] = {} if kind == JSON else FILE
    schema = accounts_schemas.ref(reply.schema) if reply.schema else file
    return {"schema": schema} | ({} if reply.example is None else {"example": reply.example})


def _refusals(endpoint: Endpoint) -> dict[str, Any]:
    return {
        str(status): {
            "description": FAULTS[status],
            "headers": replies.headers_of_fault(status=status),
            "content": {problems.MEDIA_TYPE: {"schema": accounts_schemas.ref("Problem")}},
        }
        for status in _faults(endpoint)
    }


def _faults(endpoint: Endpoint) -> tuple[int, ...]:
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
    return tuple(status for status in FAULTS if not left_out.get(status))
