"""What a model takes and what its JSON Schema says are the same."""

from typing import Annotated, Any

import jsonschema
import pytest
from pydantic import Field

from accounts.api.schemas import (
    Body,
    Changes,
    Identifier,
    Moment,
    Name,
    OneOf,
    Query,
    Several,
    check,
    check_texts,
    identifier,
    unsent,
)
from accounts.errors import InvalidInput


class _Part(Body):
    """An object inside of another."""

    limit: int = Field(3, ge=1, le=10)


class _Sample(Body):
    """A body with a field of each kind."""

    limit: int = Field(3, ge=1, le=10)
    share: float | None = Field(None, ge=0, le=1)
    name: Name = Field("five!", max_length=5)
    is_on: bool = False
    id: Identifier | None = None
    at: Moment | None = None
    state: Annotated[str, OneOf(("active", "archived"))] = "active"
    parts: Several[_Part] = Field((), max_length=2)


class _Edit(Changes):
    """A change."""

    limit: int = unsent(ge=1, le=10)
    share: float | None = unsent(ge=0, le=1)


class _Filters(Query):
    """Parameters of an address."""

    limit: int = Field(3, ge=1, le=10)
    status: Several[Annotated[str, OneOf(("active", "archived"))]] | None = None
    at: Moment | None = None


def _faults(model: Any, value: Any) -> list[tuple[str, str]]:
    try:
        check(model=model, value=value)
    except InvalidInput as refused:
        return [(fault.pointer, fault.code) for fault in refused.errors]
    return []


@pytest.mark.parametrize(
    ("model", "value", "faults"),
    [
        (_Sample, {"limit": 7.0}, []),
        (_Sample, {"limit": 7.5}, [("/limit", "type")]),
        (_Sample, {"limit": True}, [("/limit", "type")]),
        (_Sample, {"limit": "7"}, [("/limit", "type")]),
        (_Sample, {"limit": 11}, [("/limit", "range")]),
        (_Sample, {"limit": None}, []),
        (_Sample, {"name": "longer"}, [("/name", "length")]),
        (_Sample, {"name": ""}, [("/name", "length")]),
        (_Sample, {"is_on": 1}, [("/is_on", "type")]),
        (_Sample, {"id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77"}, []),
        (_Sample, {"state": "gone"}, [("/state", "choice")]),
        (_Sample, {"state": 7}, [("/state", "type")]),
        (_Sample, {"parts": {}}, [("/parts", "type")]),
        (_Sample, {"parts": [{"limit": 0}, {"limits": 1}]},
         [("/parts/0/limit", "range"), ("/parts/1/limits", "unknown")]),
        (_Sample, {"limits": 1}, [("/limits", "unknown")]),
        (_Sample, [], [("", "type")]),
        (_Edit, {"limit": None}, [("/limit", "type")]),
        (_Edit, {"share": None}, []),
    ],
)  # fmt: skip
def test_the_check_and_the_schema_agree(
    model: Any, value: Any, faults: list[tuple[str, str]]
) -> None:
    described = jsonschema.Draft202012Validator(model.model_json_schema())

    assert _faults(model, value) == faults
    assert described.is_valid(value) == (not faults)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("name", " \u3000", "blank"),
        ("id", "01936f2e7a107c3e9a532f8f2f3c1a77", "identifier"),
        ("at", "2026-11-20T12:00:00", "moment"),
        ("at", 7, "moment"),
    ],
)
def test_what_no_schema_says_is_refused_too(field: str, value: Any, code: str) -> None:
    assert _faults(_Sample, {field: value}) == [(f"/{field}", code)]


def test_a_change_holds_only_what_was_sent_and_no_unknown_field() -> None:
    with pytest.raises(InvalidInput, match="No such field; there are: limit"):
        check(model=_Sample, value={"parts": [{"limits": 1}]})
    assert check(model=_Edit, value={"share": None}).sent == {"share": None}
    with pytest.raises(InvalidInput, match="nothing to change"):
        check(model=_Edit, value={}).changed()


def test_an_id_has_one_form() -> None:
    whole = "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77"

    for text in (f"urn:uuid:{whole}", whole.replace("-", ""), "x"):
        assert identifier(text=text) is None


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("limit", "\u0663", "type"),
        ("limit", "9" * 5_000, "range"),
        ("limit", "7.0", "type"),
        *(("status", text, "choice") for text in ("", ",", "active,", "active,,archived")),
        ("status", "a\x00", "unstorable_text"),
    ],
)
def test_a_parameter_is_read_strictly(name: str, text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_texts(model=_Filters, texts={name: text})

    assert {fault.code for fault in refused.value.errors} == {code}


def test_a_plus_sign_in_an_address_is_put_back() -> None:
    read = check_texts(model=_Filters, texts={"at": "2026-11-20T12:00:00 02:00", "limit": "7"})

    assert read.at is not None
    assert (read.at.isoformat(), read.limit) == ("2026-11-20T10:00:00+00:00", 7)
