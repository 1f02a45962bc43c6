"""Hostile fields are refused by name, and nothing is stored."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from memory.records.models import Memory
from teams.errors import NotBoundToProject
from tests.support.memories import sent, stored

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
NESTED: dict[str, Any] = {}
for _ in range(2_000):
    NESTED = {"a": NESTED}

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"content": "A NUL \x00 in the middle of a sentence."}, "/content"),
        ({"content": "A lone surrogate \ud800 in the middle."}, "/content"),
        ({"external_id": "x\x00"}, "/external_id"),
        ({"external_id": "x" * 201}, "/external_id"),
        ({"tags": ("fine", "")}, "/tags/1"),
        ({"tags": ("x" * 65,)}, "/tags/0"),
        ({"tags": ("x",) * 65}, "/tags"),
        ({"related_files": ("x" * 401,)}, "/related_files/0"),
        ({"related_files": tuple(f"own_type:t{number}" for number in range(65))}, "/related_files"),
        ({"related_modules": ("x" * 201,)}, "/related_modules/0"),
        ({"type": "nonsense"}, "/type"),
        ({"scope": "galaxy"}, "/scope"),
        ({"reach": "far"}, "/reach"),
        ({"source": "rumor"}, "/source"),
        ({"confidence": 1.5}, "/confidence"),
        ({"confidence": float("nan")}, "/confidence"),
        ({"source_line": -1}, "/source_line"),
        ({"source_line": 2**31}, "/source_line"),
        ({"source_uri": "x" * 501}, "/source_uri"),
        ({"source_uri": "x\x00"}, "/source_uri"),
        ({"phase": "x" * 21}, "/phase"),
        ({"methodology": "x" * 41}, "/methodology"),
        ({"commit_sha": "x" * 65}, "/commit_sha"),
        ({"project": "\x00"}, "/project"),
        ({"team": "\x00"}, "/team"),
        ({"event_at": datetime(2026, 1, 1)}, "/event_at"),  # noqa: DTZ001  that is what is wrong
        ({"event_at": datetime.fromisoformat("9999-12-31T23:59:59-05:00")}, "/event_at"),
        ({"event_at": datetime.fromisoformat("0001-01-01T00:00:00+14:00")}, "/event_at"),
        ({"event_at": datetime(1899, 12, 31, tzinfo=UTC)}, "/event_at"),
        ({"event_at": datetime(2201, 1, 1, tzinfo=UTC)}, "/event_at"),
        ({"attributes": {"n": float("nan")}}, "/attributes"),
        ({"attributes": {"n": {1, 2}}}, "/attributes"),
        ({"attributes": {"deep": NESTED}}, "/attributes"),
        ({"attributes": {"n": "x" * 20_001}}, "/attributes"),
        ({"attributes": {"n": {"m": ["\x00"]}}}, "/attributes/n/m/0"),
        ({"attributes": {"\x00": 1}}, "/attributes"),
        ({"type": "dead_end", "attributes": {"odd": 1}}, "/attributes/approach"),
        ({"scope": "team"}, "/team"),
        ({"scope": "project"}, "/scope"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_field_is_named(
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


def test_several_faults_are_told_at_once(caller: Caller, now: datetime) -> None:
    with pytest.raises(InvalidInput) as refused:
        sent(caller, now, tags=("",), confidence=2.0, phase="x" * 21)

    assert {fault.pointer for fault in refused.value.errors} == {"/tags/0", "/confidence", "/phase"}


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
