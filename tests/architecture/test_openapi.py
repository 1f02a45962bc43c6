"""The OpenAPI document: valid 3.1, complete, and frozen in all that clients see."""

import difflib
import functools
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from drf_spectacular.validation import validate_schema

from config.rest import documentation, problems
from config.urls import ENDPOINTS
from memory.records.queries.views import MemoryView

FROZEN = Path(__file__).with_name("openapi.json")
HOW = (
    "If the change is meant: DJANGO_SETTINGS_MODULE=config.settings.check .venv/bin/python "
    "manage.py shell -c 'from tests.architecture.test_openapi import freeze; freeze()'"
)
WORDS = frozenset({"title", "description", "summary", "example", "examples", "tags"})


@functools.cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        problems.to_json(value=documentation.document(endpoints=ENDPOINTS))
    )
    return document


@functools.cache
def _contracts() -> tuple[dict[str, Any], dict[str, Any]]:
    return _contract(json.loads(FROZEN.read_text())), _contract(_document())


def _contract(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a client relies on: no words, no names of components, one notation."""
    return {
        f"{method.upper()} {path}": _plain(call, document)
        for path, calls in document["paths"].items()
        for method, call in calls.items()
    }


def _plain(value: Any, document: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_plain(one, document) for one in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        target: Any = document
        for step in value["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return _plain({**target, **{key: value[key] for key in value if key != "$ref"}}, document)
    if "operationId" in value and "responses" in value:
        value = {**value, "parameters": {f"{p['in']} {p['name']}": p for p in value["parameters"]}}
    kept = {
        key: {name: _plain(one, document) for name, one in part.items()}
        if key == "properties"
        else _plain(part, document)
        for key, part in value.items()
        if key not in WORDS
    }
    return _same_notation(kept)


def _same_notation(schema: dict[str, Any]) -> dict[str, Any]:
    """Write a choice of one as a choice, sort what has no order, leave out what says nothing."""
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    for key in ("enum", "required"):
        if isinstance(schema.get(key), list):
            schema[key] = sorted(schema[key])
    if schema.get("minLength") == 0 or schema.get("minItems") == 0:
        schema = {key: schema[key] for key in schema if schema[key] != 0 or key[:3] != "min"}
    parts = schema.get("anyOf")
    if isinstance(parts, list):
        flat = [
            one for part in parts for one in (part["anyOf"] if set(part) == {"anyOf"} else [part])
        ]
        schema["anyOf"] = sorted(flat, key=lambda part: json.dumps(part, sort_keys=True))
    return schema


def _lines(document: dict[str, Any]) -> list[str]:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False).splitlines()


@pytest.mark.parametrize(
    "call",
    sorted(f"{one.method} /api/v1/{one.path}" for one in ENDPOINTS),
)
def test_what_clients_rely_on_is_as_it_was(call: str) -> None:
    frozen, now = _contracts()

    change = list(
        difflib.unified_diff(
            _lines(frozen.get(call, {})), _lines(now[call]), "frozen", "now", lineterm=""
        )
    )

    assert not change, "\n".join([*change[:80], HOW])


def test_no_call_is_gone() -> None:
    frozen, now = json.loads(FROZEN.read_text())["paths"], _document()["paths"]

    assert {path: set(calls) for path, calls in frozen.items()} == {
        path: set(calls) for path, calls in now.items()
    }


def test_the_document_is_openapi_3_1() -> None:
    document = _document()

    validate_schema(document)
    assert document["openapi"].startswith("3.1.")


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(_document())
    names = set(_document()["components"]["schemas"])

    used = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}

    assert used <= names
    assert names - used == set()


def test_every_call_has_an_example_and_a_summary() -> None:
    for endpoint in ENDPOINTS:
        body = _document()["paths"][f"/api/v1/{endpoint.path}"][endpoint.method.lower()]
        content = body.get("requestBody", {"content": {}})["content"].get("application/json", {})
        assert endpoint.summary, endpoint.name
        assert "example" in content or not getattr(endpoint.body, "model_fields", ()), endpoint.name
    assert len({endpoint.name for endpoint in ENDPOINTS}) == len(ENDPOINTS)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_examples_fit_their_schemas(endpoint: Any) -> None:
    document = _document()
    call = document["paths"][f"/api/v1/{endpoint.path}"][endpoint.method.lower()]

    parts = [*call["responses"].values(), call.get("requestBody", {"content": {}})]
    shown = [media for part in parts for media in part["content"].values() if "example" in media]

    for media in shown:
        jsonschema.validate(media["example"], {**document, **media["schema"]})


def test_the_schema_of_a_memory_names_all_its_fields() -> None:
    described = _document()["components"]["schemas"]["Memory"]["required"]

    fields = {*MemoryView.__dataclass_fields__, "project"} - {"project_slug", "stated_at"}

    assert set(described) == fields


def freeze() -> None:
    """Take the document as it is now for the meant one."""
    FROZEN.write_text("\n".join(_lines(_document())) + "\n")
