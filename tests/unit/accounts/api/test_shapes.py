"""What a shape takes and what its JSON Schema says are the same."""

from typing import Any

import jsonschema
import pytest

from accounts.api import shapes
from accounts.api.shapes import Field, Identifier, Record, Shape, Text, Whole
from accounts.errors import InvalidInput

LIMIT = Whole(smallest=1, largest=10)
NAME = Text(largest=5, smallest=1)
OPTIONAL = Record(name="Optional", fields=(Field(name="limit", shape=LIMIT, says="", default=3),))
PARTIAL = Record(name="Partial", partial=True, fields=OPTIONAL.fields)


def _takes(shape: Shape, value: Any) -> bool:
    try:
        shapes.check(shape=shape, value=value)
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize(
    ("shape", "value", "taken"),
    [
        (LIMIT, 7.0, True),
        (LIMIT, 7.5, False),
        (LIMIT, True, False),
        (LIMIT, "7", False),
        (NAME, "five!", True),
        (NAME, "longer", False),
        (Identifier(), "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77", True),
        (OPTIONAL, {"limit": None}, True),
        (OPTIONAL, {"limits": 1}, False),
        (PARTIAL, {"limit": None}, False),
    ],
)
def test_the_check_and_the_schema_agree(shape: Shape, value: Any, taken: bool) -> None:
    described = jsonschema.Draft202012Validator(shape.schema())

    assert _takes(shape, value) == described.is_valid(value) == taken


@pytest.mark.parametrize(
    "text",
    ["urn:uuid:01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77", "01936f2e7a107c3e9a532f8f2f3c1a77", "x"],
)
def test_an_id_has_one_form(text: str) -> None:
    assert shapes.identifier(text=text) is None


def test_what_must_be_there_is_not_blank() -> None:
    with pytest.raises(InvalidInput) as refused:
        shapes.check(shape=NAME, value=" \u3000")

    assert [fault.code for fault in refused.value.errors] == ["blank"]


def test_digits_of_other_scripts_are_no_number() -> None:
    assert LIMIT.reads_text("\u0663") == "\u0663"


@pytest.mark.parametrize("text", ["", ",", "active,", ",active", "active,,archived"])
def test_an_empty_part_of_a_list_in_a_query_is_refused(text: str) -> None:
    states = shapes.Several(of=shapes.Text(largest=10, choices=("active", "archived")), largest=3)
    fields = (shapes.Field(name="status", shape=states, says="Only these."),)

    with pytest.raises(InvalidInput) as refused:
        shapes.check_query(fields=fields, query={"status": text})

    assert {fault.code for fault in refused.value.errors} == {"choice"}
