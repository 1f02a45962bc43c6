"""Tampering with an audit log as whoever owns the database could: random kinds of it.

Each kind changes a log of `count` entries inside the open unit, and says what it did. The log has
to be opened first, because its table refuses all of this.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from random import Random
from typing import Final

from django.db import connection

from accounts import tenancy
from teams.audit import chain
from teams.audit.chain import Entry
from teams.audit.queries import every_entry
from teams.models import AuditEntry

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
    entries, place = _entries(), chance.randint(1, count + 1)
    before = chain.genesis(tenant_id=tenancy.current().organization_id)
    if place > 1:
        before = chain.head_of(entry=entries[place - 2])
    _shift(place - 1, 1)
    _put(chain.linked(entry=replace(entries[0], act="memory.forged"), after=before))
    return f"inserted at {place}"


def duplicate(chance: Random, count: int) -> str:
    """Put in an entry a second time, as it is but for its number."""
    entry, place = chance.choice(_entries()), chance.randint(1, count + 1)
    _shift(place - 1, 1)
    _put(replace(entry, number=place))
    return f"{entry.number} repeated at {place}"


def forge(chance: Random, count: int) -> str:
    """Change an entry and hash it anew, so that it holds by itself."""
    entry = replace(_entries()[chance.randrange(count)], act="memory.forged")
    AuditEntry.objects.filter(number=entry.number).update(
        act=entry.act, hash=chain.digest(entry=entry)
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


def _entries() -> tuple[Entry, ...]:
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
