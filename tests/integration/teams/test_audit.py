"""The audit log of an organization: whole, in order, unchangeable, and found out when changed."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from io import StringIO
from random import Random
from typing import Any, Final
from uuid import uuid4

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from accounts import audit as acts
from accounts import tenancy
from accounts.audit import Origin, Surface
from accounts.caller import Caller
from accounts.errors import InvalidInput, RoleNotSufficient
from accounts.models import AuditRoot, Organization
from teams import audit, audit_chain
from teams.audit import Filters, every_entry, verify
from teams.audit import page as page_of_audit
from teams.audit_chain import Entry, FaultKind, Head
from teams.models import AuditEntry
from tests.support import people
from tests.support.goals import Scale
from tests.support.racing import race_inside

pytestmark = pytest.mark.usefixtures("in_organization")
ENTRIES = 30


Kind = Callable[[Random, int], str]

OTHER: Final[Mapping[str, str]] = {  # every column, and an expression that is another value
    "number": "-number",
    "act": "act || '.x'",
    "object_type": "object_type || 'x'",
    "object_id": "'x' || left(object_id, 60)",
    "actor_user": "CASE WHEN actor_user IS NULL THEN gen_random_uuid() END",
    "token_id": "CASE WHEN token_id IS NULL THEN gen_random_uuid() END",
    "agent": "agent || ' '",
    "source_interface": "source_interface || 'x'",
    "surface": "'x' || left(surface, 9)",
    "request_id": "'x' || left(request_id, 63)",
    "address": "CASE address WHEN '' THEN '192.0.2.1' ELSE '' END",
    "details": "details || '{\"x\": 1}'",
    "fields": "fields || array['x']::varchar[]",
    "created_at": "created_at + interval '1 microsecond'",
    "previous_hash": "overlay(previous_hash placing 'x' from 1)",
    "hash": "overlay(hash placing 'x' from 1)",
}


def open_log() -> None:
    """Take away what keeps the log as it is. In a unit, as the owner of the table."""
    _run("ALTER TABLE teams_auditentry DISABLE TRIGGER USER")


def edit(chance: Random, count: int) -> str:
    """Change one column of one entry."""
    number, column = chance.randint(1, count), chance.choice(tuple(OTHER))
    where = f"WHERE number = {number}"
    _run(f"UPDATE teams_auditentry SET {column} = {OTHER[column]} {where}")
    return f"{column} of {number} edited"


def remove(chance: Random, count: int) -> str:
    """Take out one entry or several in a row, anywhere."""
    first = chance.randint(1, count)
    last = min(count, first + chance.choice((0, 0, 0, 1, 5)))
    AuditEntry.objects.filter(number__range=(first, last)).delete()
    return f"{first} to {last} removed"


def cut(chance: Random, count: int) -> str:
    """Cut off the end."""
    kept = chance.randint(0, count - 1)
    AuditEntry.objects.filter(number__gt=kept).delete()
    return f"cut after {kept}"


def close_gap(chance: Random, count: int) -> str:
    """Take out an entry and give its number to the next ones."""
    number = chance.randint(1, count)
    AuditEntry.objects.filter(number=number).delete()
    _shift(number, -1)
    return f"{number} removed, gap closed"


def swap(chance: Random, count: int) -> str:
    """Let two entries change places."""
    one, other = chance.sample(range(1, count + 1), 2)
    for old, new in ((one, 0), (other, one), (0, other)):
        AuditEntry.objects.filter(number=old).update(number=new)
    return f"{one} and {other} swapped"


def insert(chance: Random, count: int) -> str:
    """Put in an entry that holds by itself, at the end or in between."""
    known, place = entries(), chance.randint(1, count + 1)
    before = audit_chain.genesis(tenant_id=tenancy.current().organization_id)
    if place > 1:
        before = audit_chain.head_of(entry=known[place - 2])
    _shift(place - 1, 1)
    _put(audit_chain.linked(entry=replace(known[0], act="memory.forged"), after=before))
    return f"inserted at {place}"


def duplicate(chance: Random, count: int) -> str:
    """Put in an entry a second time, as it is but for its number."""
    entry, place = chance.choice(entries()), chance.randint(1, count + 1)
    _shift(place - 1, 1)
    _put(replace(entry, number=place))
    return f"{entry.number} repeated at {place}"


def forge(chance: Random, count: int) -> str:
    """Change an entry and hash it anew, so that it holds by itself."""
    entry = replace(entries()[chance.randrange(count)], act="memory.forged")
    AuditEntry.objects.filter(number=entry.number).update(
        act=entry.act, hash=audit_chain.digest(entry=entry)
    )
    return f"{entry.number} edited and hashed anew"


def behead(chance: Random, count: int) -> str:
    """Change the head that stands apart: its count, its hash, or all of it."""
    change = chance.choice(
        (f"SET count = {chance.randrange(count)}", "SET count = count + 1", "SET hash = 'x'")
    )
    me = tenancy.current().organization_id
    _run(f"UPDATE accounts_auditroot {change} WHERE organization_id = '{me}'")
    return f"head: {change}"


KINDS: Final[tuple[Kind, ...]] = (
    edit, edit, edit, remove, cut, close_gap, swap, insert, duplicate, forge, behead,
)  # fmt: skip


def entries() -> tuple[Entry, ...]:
    """Return the whole log."""
    return tuple(every_entry())


def _shift(after: int, by: int) -> None:
    """Move the numbers behind a place, through free ones so that none meets another."""
    _run(f"UPDATE teams_auditentry SET number = number + 100000 WHERE number > {after}")
    _run(f"UPDATE teams_auditentry SET number = number - 100000 + {by} WHERE number > 100000")


def _put(entry: Entry) -> None:
    AuditEntry(**{**asdict(entry), "fields": list(entry.fields)}).save(force_insert=True)


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def note(caller: Caller, object_id: str = "1", **given: Any) -> None:
    """Append one entry in a unit of its own."""
    with tenancy.unit():
        audit.append(
            act="token.revoked", object_type="token", object_id=object_id, caller=caller, **given
        )


@pytest.fixture
def noted(caller: Caller, in_organization: tenancy.Tenant) -> None:
    """A log of some entries."""
    for number in range(5):
        note(caller, str(number))


def test_an_entry_says_who_what_when_and_from_where_if_that_is_an_address(caller: Caller) -> None:
    origin = Origin(surface=Surface.REST, request_id="r1", address="2001:DB8::1%eth0")

    with acts.coming_from(origin=origin):
        note(caller, details={"scopes": ["read"]}, fields=("name",))
    for claimed in ("unknown", "9" * 400):
        with acts.coming_from(origin=replace(origin, address=claimed)):
            note(caller)

    entry, *others = entries()
    assert [one.address for one in others] == ["", ""]
    assert (entry.number, entry.act, entry.object_id) == (1, "token.revoked", "1")
    assert (entry.actor_user, entry.token_id) == (caller.user_id, None)
    assert (entry.surface, entry.request_id, entry.address) == ("rest", "r1", "2001:db8::1")
    assert (entry.details, entry.fields) == ({"scopes": ["read"]}, ("name",))


def test_an_act_that_fails_or_is_in_no_unit_leaves_no_entry_and_no_gap(caller: Caller) -> None:
    note(caller, "first")
    with pytest.raises(tenancy.NoTenant):
        audit.append(act="x.y", object_type="x", object_id="1", caller=caller)
    with pytest.raises(TypeError, match="Details hold"):  # they would not come back exactly
        note(caller, "lost", details={"share": 0.5})
    note(caller, "second")

    assert [(one.number, one.object_id) for one in entries()] == [(1, "first"), (2, "second")]
    assert verify().fault is None


@pytest.mark.parametrize("chunk", [2, 2_000])
def test_an_untouched_log_holds_however_it_is_read(
    noted: None, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(audit, "CHUNK", chunk)

    verdict = verify()

    assert (verdict.checked, verdict.fault) == (5, None)
    assert len(entries()) == 5


def test_logs_of_two_organizations_are_apart(
    caller: Caller, other_caller: Caller, other_organization: Organization, noted: None
) -> None:
    with people.outside(), people.entered(organization=other_organization):
        note(other_caller)
        theirs = entries()

    assert [one.number for one in theirs] == [1]
    assert theirs[0].previous_hash != entries()[0].previous_hash


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_owner", [False, True], ids=["the program", "the owner of the table"])
def test_nobody_changes_the_log(noted: None, is_owner: bool) -> None:
    says = "append-only" if is_owner else r"append-only|permission denied"
    for change in ("UPDATE {} SET act = 'x'", "DELETE FROM {}", "TRUNCATE {}"):
        with (
            connection.as_owner() if is_owner else nullcontext(),
            pytest.raises(DatabaseError, match=says),
            tenancy.unit(),
        ):
            _run(change.format("teams_auditentry"))

        assert verify().checked == 5


@pytest.mark.django_db(transaction=True)
def test_many_writers_at_once_make_one_chain(organization: Organization, caller: Caller) -> None:
    race_inside(organization, lambda number: note(caller, str(number)), times=40)

    assert verify().checked == 40
    assert {one.object_id for one in entries()} == {str(number) for number in range(40)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.goal(name="G29")
def test_every_tampering_is_found(
    caller: Caller, scale: Scale, figure: Callable[[str], None]
) -> None:
    times, chance = scale.of(short=300, long=1_000), Random(29)
    for number in range(ENTRIES):
        note(caller, str(number), details={"of": str(uuid4())})

    with connection.as_owner(), tenancy.unit():
        open_log()
        missed = [said for _ in range(times) if (said := _missed(chance))]
        untouched = verify()

    figure(f"{times - len(missed):,} of {times:,} tamperings found; an untouched log holds")
    assert missed == []
    assert (untouched.checked, untouched.fault) == (ENTRIES, None)


def _missed(chance: Random) -> str:
    """Tamper, look, and undo it; return what was done when it was not found."""
    undo = transaction.savepoint()
    said = chance.choice(KINDS)(chance, ENTRIES)
    fault = verify().fault
    transaction.savepoint_rollback(undo)
    return "" if fault else said


@pytest.mark.django_db(transaction=True)
def test_a_row_given_to_another_organization_is_missed(noted: None) -> None:
    with connection.as_owner(), tenancy.unit(), connection.cursor() as cursor:
        open_log()
        cursor.execute("UPDATE teams_auditentry SET tenant_id = gen_random_uuid() WHERE number = 3")

    fault = verify().fault
    assert fault is not None
    assert (fault.kind, fault.number) == (FaultKind.REMOVED, 3)


def test_a_lost_head_is_found_and_stops_writing(caller: Caller, noted: None) -> None:
    AuditRoot.objects.filter(pk=caller.organization_id).delete()

    fault = verify().fault
    assert fault is not None
    assert fault.kind is FaultKind.TRUNCATED
    with pytest.raises(audit.HeadLost):
        note(caller)


def test_the_command_names_each_log_and_its_head_or_the_first_bad_entry(
    organization: Organization, noted: None
) -> None:
    said, wrong = StringIO(), {"organization": "acme", "head": f"3:{'0' * 64}"}

    with people.outside():
        call_command("audit", "verify", stdout=said)
        with pytest.raises(CommandError):  # a head that was kept elsewhere is looked for
            call_command("audit", "verify", **wrong, stdout=StringIO())
    head = AuditRoot.objects.get(pk=organization.pk)
    assert said.getvalue() == f"acme: 5 entries hold, head 5:{head.hash}\n"
    assert verify(mark=Head(count=3, hash=entries()[2].hash)).fault is None

    AuditRoot.objects.update(count=6)
    with people.outside(), pytest.raises(CommandError, match="1 of 1 audit logs do not hold"):
        call_command("audit", "verify", organization="acme", stdout=said)
    assert "acme: entry 6 was truncated: the end is missing, until 6" in said.getvalue()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"organization": "nobody"}, "There is no organization"),
        ({"head": "3:00"}, "A head is NUMBER:HASH"),
        ({"head": f"3:{'0' * 64}"}, "Name the organization"),
    ],
)
def test_a_wrong_argument_is_one_sentence(given: dict[str, str], says: str) -> None:
    with people.outside(), pytest.raises(CommandError, match=says):
        call_command("audit", "verify", stdout=StringIO(), **given)


def test_the_export_holds_every_entry_with_its_hash(noted: None) -> None:
    said = StringIO()

    with people.outside():
        call_command("audit", "export", stdout=said)

    lines = [orjson.loads(line) for line in said.getvalue().splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3, 4, 5]
    assert [line["hash"] for line in lines] == [entry.hash for entry in entries()]


def test_managers_alone_read_the_log_the_newest_first_page_by_page(
    caller: Caller, member_caller: Caller, noted: None
) -> None:
    first = page_of_audit(caller=caller, filters=Filters(), cursor=None, limit=3)
    second = page_of_audit(caller=caller, filters=Filters(), cursor=first.next_place, limit=3)

    assert [one.number for one in (*first.items, *second.items)] == [5, 4, 3, 2, 1]
    assert second.next_place is None
    with pytest.raises(RoleNotSufficient):
        page_of_audit(caller=member_caller, filters=Filters(), cursor=None, limit=50)


def test_the_log_is_filtered(caller: Caller, noted: None) -> None:
    asked = (
        (Filters(area="token"), 5),
        (Filters(area="tok"), 0),
        (Filters(object_id="3"), 1),
        (Filters(request_id="none"), 0),
        (Filters(actor=uuid4()), 0),
    )

    for filters, count in asked:
        page = page_of_audit(caller=caller, filters=filters, cursor=None, limit=50)
        assert len(page.items) == count, filters


@pytest.mark.parametrize("cursor", ["", "-1", "9" * 30, "٣"])
def test_a_cursor_not_of_ours_is_refused(caller: Caller, cursor: str) -> None:
    with pytest.raises(InvalidInput):
        page_of_audit(caller=caller, filters=Filters(), cursor=cursor, limit=50)


def test_the_model_and_the_entry_have_the_same_columns() -> None:
    columns = {field.name for field in AuditEntry._meta.get_fields()}

    assert columns == set(OTHER)
