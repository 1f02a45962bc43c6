"""A chain of hashes holds while nobody touches it, and says what was done to it."""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from teams import audit_chain
from teams.audit_chain import Entry, FaultKind, Head, Verdict

TENANT = UUID(int=7)
NOON = datetime(2026, 11, 20, 12, 0, 0, 123, tzinfo=UTC)
FIRST = Entry(
    number=0,
    act="token.created",
    object_type="token",
    object_id="1",
    actor_user=UUID(int=1),
    token_id=None,
    agent="",
    source_interface="dashboard",
    surface="page",
    request_id="r1",
    address="192.0.2.1",
    details={"scopes": ["read"], "of": "1"},
    fields=("name",),
    created_at=NOON,
)
DIGEST = "db6191352d605916f37fefccebe48933b7437cea56d60e12441d8cd5da97e690"
CHANGED: dict[str, Any] = {
    "number": 4,
    "act": "token.revoked",
    "object_type": "user",
    "object_id": "99",
    "actor_user": None,
    "token_id": UUID(int=1),
    "agent": "cursor",
    "source_interface": "api",
    "surface": "rest",
    "request_id": "r2",
    "address": "192.0.2.2",
    "details": {"scopes": ["read", "write"], "of": "1"},
    "fields": ("name", "role"),
    "created_at": NOON + timedelta(microseconds=1),
    "previous_hash": "0" * 64,
}


def chained(count: int = 5) -> tuple[Entry, ...]:
    end, entries = audit_chain.genesis(tenant_id=TENANT), []
    for number in range(count):
        entry = audit_chain.linked(entry=replace(FIRST, object_id=str(number)), after=end)
        end = audit_chain.head_of(entry=entry)
        entries.append(entry)
    return tuple(entries)


def judged(entries: Sequence[Entry], head: Head | None = None, mark: Head | None = None) -> Verdict:
    known = head or audit_chain.head_of(entry=chained()[-1])
    return audit_chain.verify(tenant_id=TENANT, entries=entries, head=lambda: known, mark=mark)


def found(entries: Sequence[Entry], head: Head | None = None) -> tuple[FaultKind, int]:
    fault = judged(entries, head).fault
    assert fault is not None
    return fault.kind, fault.number


def test_an_untouched_chain_holds_and_an_empty_one_until_an_entry_is_missed() -> None:
    entries, empty = chained(), audit_chain.genesis(tenant_id=TENANT)

    verdict = judged(entries)

    assert verdict == Verdict(checked=5, head=audit_chain.head_of(entry=entries[-1]), fault=None)
    assert judged((), head=empty).fault is None
    assert found((), head=Head(count=2, hash="")) == (FaultKind.TRUNCATED, 1)


def test_every_column_is_part_of_the_hash_but_neither_zones_nor_the_order_of_keys() -> None:
    paris = NOON.astimezone(timezone(timedelta(hours=1)))
    twin = replace(FIRST, created_at=paris, details={"of": "1", "scopes": ["read"]})

    assert {field.name for field in fields(Entry)} - {"hash"} == set(CHANGED)
    assert audit_chain.digest(entry=twin) == audit_chain.digest(entry=FIRST)
    assert audit_chain.digest(entry=FIRST) == DIGEST  # of all logs that were ever written


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_an_edited_column_is_found(name: str) -> None:
    entries = list(chained())
    entries[2] = replace(entries[2], **{name: CHANGED[name]})

    assert found(entries)[1] == 3
    assert audit_chain.digest(entry=entries[2]) != entries[2].hash


ENTRIES = chained()
ONE, TWO, THREE, FOUR, FIVE = ENTRIES
INSERTED = audit_chain.linked(entry=FIRST, after=audit_chain.head_of(entry=ONE))
APPENDED = audit_chain.linked(entry=FIRST, after=audit_chain.head_of(entry=FIVE))


def moved(by: int, *entries: Entry) -> tuple[Entry, ...]:
    return tuple(replace(one, number=one.number + by) for one in entries)


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        pytest.param((ONE, FOUR, FIVE), (FaultKind.REMOVED, 2), id="taken out"),
        *(
            pytest.param(ENTRIES[:kept], (FaultKind.TRUNCATED, kept + 1), id=f"cut after {kept}")
            for kept in (0, 4)
        ),
        pytest.param(
            (ONE, *moved(-2, FOUR), THREE, *moved(2, TWO), FIVE),
            (FaultKind.REORDERED, 2),
            id="changed places",
        ),
        pytest.param((ONE, *moved(-1, THREE, FOUR, FIVE)), (FaultKind.REORDERED, 2), id="closed"),
        pytest.param(
            (ONE, INSERTED, *moved(1, *ENTRIES[1:])), (FaultKind.INSERTED, 3), id="put in between"
        ),
        pytest.param((*ENTRIES, *moved(4, TWO)), (FaultKind.INSERTED, 6), id="copied to the end"),
        pytest.param((*ENTRIES, APPENDED), (FaultKind.INSERTED, 6), id="unknown to the head"),
        pytest.param((*moved(-1, ONE), *ENTRIES), (FaultKind.INSERTED, 0), id="below one"),
    ],
)
def test_what_was_done_to_a_chain_is_found(
    entries: tuple[Entry, ...], fault: tuple[FaultKind, int]
) -> None:
    assert found(entries) == fault


@pytest.mark.parametrize("place", [0, 2, 4])
def test_an_entry_edited_and_hashed_anew_is_found(place: int) -> None:
    entries = list(chained())
    empty = audit_chain.genesis(tenant_id=TENANT)
    before = audit_chain.head_of(entry=entries[place - 1]) if place else empty
    entries[place] = audit_chain.linked(entry=replace(FIRST, act="x"), after=before)

    assert found(entries) == (FaultKind.REPLACED, place + 1)


def test_a_chain_of_another_organization_and_a_lost_head_are_found() -> None:
    entries = chained()
    head = audit_chain.head_of(entry=entries[-1])

    other = audit_chain.verify(tenant_id=UUID(int=8), entries=entries, head=lambda: head).fault
    lost = audit_chain.verify(tenant_id=TENANT, entries=entries, head=lambda: None).fault

    assert other is not None
    assert (other.kind, other.number) == (FaultKind.REPLACED, 1)
    assert lost is not None
    assert lost.kind is FaultKind.TRUNCATED


@pytest.mark.parametrize("count", [3, 5])
def test_a_head_noted_elsewhere_finds_a_log_rewritten_with_its_head(count: int) -> None:
    mark = audit_chain.head_of(entry=chained(count)[-1])
    end, forged = audit_chain.genesis(tenant_id=TENANT), []
    for number in range(4):
        forged.append(audit_chain.linked(entry=replace(FIRST, act=f"x.{number}"), after=end))
        end = audit_chain.head_of(entry=forged[-1])

    assert judged(forged, head=end).fault is None
    assert judged(forged, head=end, mark=mark).fault is not None


@pytest.mark.parametrize("details", [{"share": 0.5}, {"at": NOON}, {1: "x"}, {"in": [{"x": b""}]}])
def test_details_that_a_database_would_change_are_not_taken(details: dict[Any, Any]) -> None:
    with pytest.raises(TypeError, match="Details hold"):
        audit_chain.linked(
            entry=replace(FIRST, details=details), after=audit_chain.genesis(tenant_id=TENANT)
        )
