"""The OpenAPI document: valid 3.1, complete, and frozen, so that no change goes unnoticed."""

import difflib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from drf_spectacular.validation import validate_schema

from config.api_urls import ENDPOINTS
from config.rest import documentation, rendering
from memory.records.queries.views import MemoryView

FROZEN = Path(__file__).with_name("openapi.json")
HOW = (
    "If the change is meant: python manage.py shell -c "
    "'from tests.architecture.test_openapi import freeze; freeze()'"
)


def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        rendering.to_json(value=documentation.document(endpoints=ENDPOINTS))
    )
    return document


def _lines(document: dict[str, Any]) -> list[str]:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False).splitlines()


def test_the_document_is_as_it_was() -> None:
    frozen = FROZEN.read_text().splitlines()

    change = list(difflib.unified_diff(frozen, _lines(_document()), "frozen", "now", lineterm=""))

    assert not change, "\n".join([*change[:80], HOW])


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


def test_every_call_has_an_example_and_a_sentence() -> None:
    for endpoint in ENDPOINTS:
        assert endpoint.summary, endpoint.name
        assert endpoint.body is None or not endpoint.body.fields or endpoint.example is not None
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

    fields = {*MemoryView.__dataclass_fields__, "project"} - {"project_slug"}

    assert set(described) == fields


def freeze() -> None:
    """Take the document as it is now for the meant one."""
    FROZEN.write_text("\n".join(_lines(_document())) + "\n")
