"""Hostile fields are refused by name, and nothing is stored."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from memory.records.models import Memory
from teams.errors import NotBoundToProject
from tests.support.memories import sent, stored

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"external_id": "x\x00"}, "/external_id"),
        ({"scope": "team"}, "/team"),
        ({"scope": "project"}, "/scope"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_stored(
    caller: Caller, now: datetime, given: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        sent(caller, now, **given)

    assert refused.value.errors[0].pointer == pointer
    with tenancy.unit():
        assert not Memory.objects.exists()


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"tags": ("fine", TOKEN)}, "/tags/1"),
        ({"related_files": (f"https://user:{TOKEN}@host/x",)}, "/related_files/0"),
        ({"external_id": TOKEN}, "/external_id"),
        ({"source_uri": f"https://x/?token={TOKEN}"}, "/source_uri"),
        ({"attributes": {"env": [f"GITHUB={TOKEN}"]}}, "/attributes/env/0"),
        ({"attributes": {TOKEN: 1}}, "/attributes"),
        ({"attributes": {f"pwd={TOKEN}": 1, TOKEN: [{"env": f"X={TOKEN}"}]}}, "/attributes"),
        ({"attributes": {"db_password": "Tractor!4711vio"}}, "/attributes/db_password"),
        (
            {"attributes": {"a": {"client_secret": ["x", TOKEN[4:]]}}},
            "/attributes/a/client_secret/1",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_secret_in_any_field_is_refused_without_being_repeated(
    caller: Caller, now: datetime, given: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        sent(caller, now, **given)

    assert (refused.value.errors[0].pointer, refused.value.errors[0].code) == (pointer, "secret")
    assert TOKEN not in f"{refused.value.detail} {refused.value.errors}"


def test_a_secret_of_an_attribute_is_placed_in_its_value(caller: Caller, now: datetime) -> None:
    with pytest.raises(InvalidInput) as refused:
        sent(caller, now, tags=("one", "two"), attributes={"db_password": "Tractor!4711vio"})

    (error,) = refused.value.errors
    assert "assigned_secret at line 1, column 1." in str(error.detail)


def test_texts_side_by_side_make_no_secret(caller: Caller, now: datetime) -> None:
    tags = ("password:", "w1nter-2026", "ghp_16C7e42F292c", "6912E7710c838347Ae178B4a")

    outcome = sent(caller, now, tags=tags)

    assert outcome.outcome == "added"


@pytest.mark.parametrize(
    "text",
    [
        "مرحبا بالعالم هذا نص طويل بما يكفي للذاكرة",
        "Zero\u200bwidth and \u202ebidi\u202c are kept exactly as they were sent.",
        "e\u0301\u0301\u0301 combining marks and 👩‍👩‍👧‍👦 families stay byte for byte.",
        "İstanbul and ISTANBUL and \u0131stanbul are three different cities here.",
        "quotes ' \" ; DROP TABLE memory_memory; -- $$ \\ %s {0} stay text",
    ],
    ids=["arabic", "bidi", "combining", "turkish", "sql"],
)
def test_odd_texts_are_stored_byte_for_byte(caller: Caller, now: datetime, text: str) -> None:
    assert stored(caller, now, text, tags=("tag",)).content == text


def test_bound_credentials_store_nothing_elsewhere(caller: Caller, now: datetime) -> None:
    bound = replace(caller, bound_projects=())

    with pytest.raises(NotBoundToProject):
        sent(bound, now)
