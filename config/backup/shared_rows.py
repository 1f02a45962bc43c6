"""The rows of the shared tables that are an organization's, or belong to the people in it.

No right is wider after an organization came back. Where it exists, members, tokens and invitations
stay as they are. Where it does not, they come from the backup: people who are missing come without
the rights of operators; members, their accounts and tokens only as its receipt knows them, if it
was dropped; open invitations as revoked. A person whose address somebody else has now stays out.
"""

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import sql

from config.backup.receipts import Receipt

PEOPLE: Final = """(
    SELECT user_id FROM public.accounts_membership WHERE organization_id = {id}
    UNION SELECT user_id FROM public.accounts_token WHERE organization_id = {id}
    UNION SELECT invited_by_id FROM public.accounts_invitation WHERE organization_id = {id})"""
# Which rows of the shared tables are an organization's, and which belong to the people in it.
OF_ORGANIZATION: Final = {
    "accounts_auditroot": "organization_id = {id}",
    "accounts_domain": "tenant_id = {id}",
    "accounts_invitation": "organization_id = {id}",
    "accounts_job": "organization_id = {id}",
    "accounts_membership": "organization_id = {id}",
    "accounts_token": "organization_id = {id}",
    "accounts_usage": "organization_id = {id}",
    "accounts_organization": "id = {id}",
}
OF_PEOPLE: Final = {
    "accounts_user": f"id IN {PEOPLE}",
    "account_emailaddress": f"user_id IN {PEOPLE}",
    "mfa_authenticator": f"user_id IN {PEOPLE}",
    "socialaccount_socialaccount": f"user_id IN {PEOPLE}",
}
OF_PLAN: Final = {
    "accounts_plan": "id = (SELECT plan_id FROM public.accounts_organization WHERE id = {id})"
}
NUMBERED: Final = {  # their ids are the database's own
    *("accounts_domain", "accounts_plan", "accounts_usage"),
    *("account_emailaddress", "mfa_authenticator", "socialaccount_socialaccount"),
}
COLUMNS: Final = """
SELECT attname FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
# People: only who is missing and whom the receipt knows, without what operators may do.
SELECT_PEOPLE: Final = (
    "DELETE FROM new_accounts_user AS n USING public.accounts_user AS u"
    " WHERE u.id = n.id OR lower(u.email) = lower(n.email)",
    "DELETE FROM new_accounts_user WHERE %(dropped)s AND id <> ALL (%(members)s::uuid[])"
    " AND id NOT IN (SELECT user_id FROM new_accounts_token WHERE id = ANY (%(tokens)s::uuid[]))",
    "UPDATE new_accounts_user SET is_staff = false, is_superuser = false",
    *(
        f"DELETE FROM new_{table} WHERE user_id NOT IN (SELECT id FROM new_accounts_user)"  # noqa: S608
        for table in OF_PEOPLE
        if table != "accounts_user"
    ),
)
# Credentials: of people who are there, and as the receipt knows them.
SELECT_RIGHTS: Final = (
    "DELETE FROM new_accounts_membership"
    " WHERE user_id NOT IN (SELECT id FROM public.accounts_user)"
    " OR (%(dropped)s AND user_id <> ALL (%(members)s::uuid[]))",
    "UPDATE new_accounts_membership AS m SET role = r.role"
    " FROM unnest(%(members)s::uuid[], %(roles)s::text[]) AS r (user_id, role)"
    " WHERE r.user_id = m.user_id",
    "DELETE FROM new_accounts_token WHERE user_id NOT IN (SELECT id FROM public.accounts_user)"
    " OR (%(dropped)s AND id <> ALL (%(tokens)s::uuid[]))",
    "UPDATE new_accounts_token SET replaced_by_id = NULL"
    " WHERE replaced_by_id NOT IN (SELECT id FROM new_accounts_token)",
    "DELETE FROM new_accounts_invitation"
    " WHERE invited_by_id NOT IN (SELECT id FROM public.accounts_user)",
    "UPDATE new_accounts_invitation SET revoked_at = now()"
    " WHERE accepted_at IS NULL AND revoked_at IS NULL",
)
SET_ORGANIZATION: Final = (
    "UPDATE new_accounts_organization SET ready = true, schema_name = %(schema)s,"
    " schema_version = (SELECT max(position) FROM public.accounts_schemastep),"
    " plan_id = (SELECT p.id FROM public.accounts_plan AS p"
    " JOIN new_accounts_plan AS n ON n.name = p.name)",
)
REPLACE: Final = (
    "DELETE FROM public.accounts_job WHERE organization_id = %(id)s",
    "UPDATE public.accounts_auditroot AS a SET count = n.count, hash = n.hash"
    " FROM new_accounts_auditroot AS n WHERE a.organization_id = n.organization_id",
    "UPDATE public.accounts_organization SET schema_version ="
    " (SELECT max(position) FROM public.accounts_schemastep) WHERE id = %(id)s",
)
SIZES: Final = """
SELECT (SELECT count(*) FROM new_accounts_membership), (SELECT count(*) FROM new_accounts_token)
"""
COUNT: Final = "SELECT count(*) FROM public.{} WHERE {}"
DELETE: Final = "DELETE FROM public.{} WHERE {}"


def deletions(*, organization_id: UUID) -> Iterator[sql.Composed]:
    """Yield what deletes an organization's rows."""
    for table, rule in OF_ORGANIZATION.items():
        yield _of(DELETE, organization_id, table, rule)


def count(*, line: psycopg.Connection[Any], organization_id: UUID) -> dict[str, int]:
    """Return how many rows of an organization each shared table has."""
    return {
        f"public.{table}": line.execute(_of(COUNT, organization_id, table, rule)).fetchall()[0][0]
        for table, rule in OF_ORGANIZATION.items()
    }


def copy(
    *, source: psycopg.Connection[Any], line: psycopg.Connection[Any], organization_id: UUID
) -> dict[str, list[str]]:
    """Copy the rows, jobs apart, into temporary tables new_TABLE; return the columns of each."""
    rules = {**OF_PEOPLE, **OF_PLAN, **OF_ORGANIZATION}
    del rules["accounts_job"]
    return {table: _copy(source, line, organization_id, table, rules[table]) for table in rules}


def follow(*, line: psycopg.Connection[Any], organization_id: UUID) -> None:
    """Let the rows of an organization that exists follow its new schema."""
    for statement in REPLACE:
        line.execute(sql.SQL(statement), {"id": organization_id})


def insert_rows(
    *,
    line: psycopg.Connection[Any],
    columns: dict[str, list[str]],
    schema_name: str,
    receipt: Receipt | None,
) -> tuple[int, int]:
    """Move the copied rows in; return how many memberships and tokens were left out."""
    members = {} if receipt is None else receipt.members
    values = {
        "schema": schema_name,
        "dropped": receipt is not None,
        "members": list(members),
        "roles": list(members.values()),
        "tokens": [] if receipt is None else list(receipt.tokens),
    }
    for statement in SELECT_PEOPLE:
        line.execute(sql.SQL(statement), values)
    _insert(line, columns, *OF_PEOPLE, *OF_PLAN)
    before = line.execute(SIZES).fetchall()[0]
    for statement in (*SELECT_RIGHTS, *SET_ORGANIZATION):
        line.execute(sql.SQL(statement), values)
    after = line.execute(SIZES).fetchall()[0]
    _insert(line, columns, *(table for table in OF_ORGANIZATION if table in columns))
    return before[0] - after[0], before[1] - after[1]


def _copy(
    source: psycopg.Connection[Any],
    line: psycopg.Connection[Any],
    id: UUID,
    table: str,
    rule: str,
) -> list[str]:
    """Copy rows of a shared table into a temporary one, new_TABLE; return the columns."""
    names = [name for (name,) in line.execute(COLUMNS, [f"public.{table}"]).fetchall()]
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    copied = sql.Identifier(f"new_{table}")
    shape = "CREATE TEMPORARY TABLE {} (LIKE public.{}) ON COMMIT DROP"
    line.execute(sql.SQL(shape).format(copied, sql.Identifier(table)))
    rows = sql.SQL("COPY (SELECT {} FROM public.{} WHERE {}) TO STDOUT").format(
        listed, sql.Identifier(table), sql.SQL(rule).format(id=sql.Literal(id))
    )
    with (
        source.cursor().copy(rows) as reading,
        line.cursor().copy(sql.SQL("COPY {} ({}) FROM STDIN").format(copied, listed)) as writing,
    ):
        for block in reading:
            writing.write(block)
    return names


def _insert(line: psycopg.Connection[Any], columns: dict[str, list[str]], *tables: str) -> None:
    """Move the copied rows into the shared tables; ids of numbered ones are made anew."""
    for table in sorted(tables, key=lambda table: table != "accounts_organization"):
        names = [name for name in columns[table] if name != "id" or table not in NUMBERED]
        listed = sql.SQL(", ").join(map(sql.Identifier, names))
        ending = sql.SQL("ON CONFLICT DO NOTHING" if table in NUMBERED else "")
        statement = "INSERT INTO public.{} ({}) SELECT {} FROM {} {}"
        names_of = (sql.Identifier(table), listed, listed, sql.Identifier(f"new_{table}"), ending)
        line.execute(sql.SQL(statement).format(*names_of))


def _of(statement: str, id: UUID, table: str, rule: str) -> sql.Composed:
    ruled = sql.SQL(rule).format(id=sql.Literal(id))
    return sql.SQL(statement).format(sql.Identifier(table), ruled)
