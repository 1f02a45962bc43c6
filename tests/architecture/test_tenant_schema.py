"""The schema of an organization: small, closed in itself, and the same however it came to be.

It is what the models say.
"""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from accounts.models import Organization, SchemaStep
from accounts.tenancy import TEMPLATE_SCHEMA, provisioning

MOST_TABLES = 32  # the number of tables limits how many tenants fit on a cluster
BOOKKEEPING = "django_migrations"  # of the template only; a tenant's version says it instead
WALL = "tenant_id"  # of tenants only; the template holds no rows

COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       a.attidentity::text, pg_get_expr(d.adbin, d.adrelid), a.attstorage::text
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
"""
TABLES = """
SELECT relname, relpersistence::text, reloptions FROM pg_class
WHERE relnamespace = %s::regnamespace AND relkind = 'r'
"""
INDEXES = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = %s"
CONSTRAINTS = """
SELECT c.relname, pg_get_constraintdef(k.oid), k.conname
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
WHERE k.connamespace = %s::regnamespace
"""
FUNCTIONS = """
SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = %s::regnamespace
"""
SEQUENCES = (
    "SELECT sequencename, data_type::text, start_value FROM pg_sequences WHERE schemaname = %s"
)
WALLS = """
SELECT c.relname, a.attnotnull, pg_get_expr(d.adbin, d.adrelid), c.relrowsecurity,
    c.relforcerowsecurity, p.polcmd::text, pg_get_expr(p.polqual, p.polrelid),
    pg_get_expr(p.polwithcheck, p.polrelid)
FROM pg_class AS c
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
LEFT JOIN pg_policy AS p ON p.polrelid = c.oid
WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p')
"""
RULE = (
    "(tenant_id = ( SELECT (NULLIF(current_setting('cairn.tenant'::text, true), ''::text))::uuid"
    ' AS "nullif"))'
)
LEAVING = """
SELECT k.conname FROM pg_constraint k JOIN pg_class f ON f.oid = k.confrelid
WHERE k.contype = 'f' AND k.connamespace = %(schema)s::regnamespace
  AND f.relnamespace <> %(schema)s::regnamespace
"""


def test_what_was_given_out_is_found_by_its_time(organization: Organization) -> None:
    made = [
        row[1] for row in _rows(INDEXES, organization.schema_name) if row[0] == "memory_givenout"
    ]

    assert any(index.endswith("(at)") for index in made)


def test_a_tenant_has_few_tables(organization: Organization) -> None:
    tables = _rows(TABLES, organization.schema_name)

    assert 0 < len(tables) <= MOST_TABLES


def test_no_foreign_key_leaves_the_schema(organization: Organization) -> None:
    with connection.cursor() as cursor:
        cursor.execute(LEAVING, {"schema": organization.schema_name})

        assert cursor.fetchall() == []


@pytest.mark.parametrize(
    "question",
    [TABLES, COLUMNS, INDEXES, CONSTRAINTS, FUNCTIONS, SEQUENCES],
    ids=["tables", "columns", "indexes", "constraints", "functions", "sequences"],
)
def test_a_replayed_schema_equals_the_migrated_template(
    organization: Organization, question: str
) -> None:
    replayed = _rows(question, organization.schema_name)

    assert replayed == _rows(question, TEMPLATE_SCHEMA)
    assert replayed


def test_every_table_of_a_tenant_stands_behind_the_wall(organization: Organization) -> None:
    assert _unwalled(organization) == []


def test_a_second_replay_does_nothing(organization: Organization) -> None:
    assert provisioning.replay(organization=organization) == 0


@pytest.fixture
def one_step_more(transactional_db: None, organization: Organization) -> None:
    """A step that came after the organization; emptying the tables takes it away."""
    position = provisioning.newest() + 1
    with connection.as_owner():
        SchemaStep.objects.create(position=position, name="x", script="CREATE TABLE extra (a int);")


def test_a_schema_that_lacks_steps_is_brought_up_to_date(
    one_step_more: None, organization: Organization
) -> None:
    applied = provisioning.replay(organization=organization)

    assert applied == 1
    assert "extra" in {row[0] for row in _rows(TABLES, organization.schema_name)}
    assert _unwalled(organization) == []


def test_captured_steps_name_no_schema(db: None) -> None:
    named = [step.name for step in SchemaStep.objects.all() if TEMPLATE_SCHEMA in step.script]

    assert named == []


def _rows(question: str, schema_name: str) -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question, [schema_name])
        rows = [tuple(str(value) for value in row) for row in cursor.fetchall()]
    neutral = [tuple(value.replace(schema_name, "here") for value in row) for row in rows]
    beside = (BOOKKEEPING, WALL)
    return sorted(row for row in neutral if not any(b in value for b in beside for value in row))


def _unwalled(organization: Organization) -> list[str]:
    """Return the tables that lack the column, the force, or exactly the one policy."""
    wall = (True, f"'{organization.id}'::uuid", True, True, "*", RULE, RULE)
    with connection.cursor() as cursor:
        cursor.execute(WALLS, [organization.schema_name])
        return [table for table, *found in cursor.fetchall() if tuple(found) != wall]


def test_every_file_of_functions_is_a_step_of_the_template(db: None) -> None:
    files = {path.parts[-3] for _, path in provisioning.function_files()}
    steps = {step.name.split("/")[-3] for step in SchemaStep.objects.filter(name__contains="@")}

    assert files == steps == {"records", "search", "topics"}


@pytest.fixture
def an_older_text(transactional_db: None) -> SchemaStep:
    """The step of a file of functions whose text was another one when it was captured."""
    step = SchemaStep.objects.get(name__startswith="memory/topics/sql/functions.sql@")
    with connection.as_owner():
        SchemaStep.objects.filter(pk=step.pk).update(name="memory/topics/sql/functions.sql@older")
    return step


def test_a_changed_file_of_functions_is_captured_in_place_of_its_former_text(
    an_older_text: SchemaStep, organization: Organization
) -> None:
    with connection.as_owner():
        newest = provisioning.capture()

    steps = SchemaStep.objects.filter(name__startswith="memory/topics/sql/functions.sql@")
    assert [(step.name, step.position) for step in steps] == [(an_older_text.name, newest)]
    assert newest > an_older_text.position
    assert provisioning.replay(organization=organization) == 1


@pytest.fixture
def captured_in_parts(transactional_db: None) -> None:
    """The steps as a program captured them that ran the parts of the baseline one by one."""
    baseline = (MigrationLoader(None).disk_migrations or {})["memory", "0001_baseline"]
    first, *others = (".".join(part) for part in baseline.replaces)
    last = provisioning.newest()
    with connection.as_owner():
        SchemaStep.objects.filter(name="memory.0001_baseline").update(name=first)
        SchemaStep.objects.bulk_create(
            SchemaStep(position=last + at, name=name, script="SELECT 1;")
            for at, name in enumerate(others, start=1)
        )


def test_a_baseline_is_adopted_where_its_parts_were_captured(captured_in_parts: None) -> None:
    before = provisioning.newest()

    with connection.as_owner():
        newest = provisioning.capture()

    adopted = SchemaStep.objects.get(name="memory.0001_baseline")
    assert (newest, adopted.position, adopted.script) == (before + 1, newest, "SELECT 1;")


def test_no_model_lacks_a_migration(db: None) -> None:
    said = StringIO()

    try:
        call_command("makemigrations", check=True, dry_run=True, stdout=said, stderr=said)
    except SystemExit:
        pytest.fail(said.getvalue())
