"""The tenant schema: captured once from Django's migrations, replayed for every organization.

Running Django's migrations for one tenant costs over a second, because every migration of every
app is rendered; replaying the SQL they sent costs a tenth of that and gives the same catalog
(measured). So a template schema is migrated by Django while each statement is kept, as one
SchemaStep a migration. A new tenant replays all steps, one that is behind replays what it lacks;
nothing asks a tenant that is up to date anything. The template is migrated in one transaction, its
lock and path held by that alone: a connection pooler between transactions loses neither.
SQL functions are no migrations: each app keeps them in files `<subject>/sql/functions.sql`, which
create or replace them. A file whose hash is new becomes a step of its own and its former step goes,
so a new tenant runs each file once.
The replay runs inside Postgres, as the owner of the tables: a new organization is made by the web,
whose role may make no table (accounts/tenancy/rls.sql).
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from psycopg import ClientCursor

from accounts import tenancy
from accounts.models import Organization, SchemaStep
from accounts.tenancy import SCHEMA_NAME, TEMPLATE_SCHEMA, rls
from accounts.tenancy.rls import Entrance

FUNCTION_FILES = "**/sql/functions.sql"
NOT_KEPT = ("accounts_schemastep", "django_migrations")  # the tenant's version says it instead
LEADING_COMMENTS = re.compile(r"\A(\s*--[^\n]*\n)*\s*")
KEPT = ("CREATE", "ALTER", "INSERT", "UPDATE", "DELETE", "DROP", "COMMENT", "DO", "SET CONSTRAINTS")
CAPTURE_LOCK = 0x0CA1_2E01  # advisory lock: one process captures, or changes walls, at a time


def capture() -> int:
    """Migrate the template schema, keeping what it sent; return the newest position."""
    with transaction.atomic(), _migrated_schema(TEMPLATE_SCHEMA):
        _adopt_baselines()
        executor = MigrationExecutor(connection)
        executor.recorder.ensure_schema()
        leaves = executor.loader.graph.leaf_nodes()
        plan = executor.migration_plan([node for node in leaves if node[0] in settings.TENANT_APPS])
        for migration, _ in plan:
            if migration.app_label in settings.TENANT_APPS:
                _capture_step((migration.app_label, migration.name))
        for app, path in function_files():
            _capture_functions(app, path)
    return newest()


def function_files() -> tuple[tuple[str, Path], ...]:
    """Return the files of SQL functions of every tenant app, as (app, path), in their order."""
    folders = ((label, Path(apps.get_app_config(label).path)) for label in settings.TENANT_APPS)
    return tuple(
        (label, path) for label, folder in folders for path in sorted(folder.glob(FUNCTION_FILES))
    )


def newest() -> int:
    """Return the position of the newest step, 0 when there is none."""
    last = SchemaStep.objects.order_by("-position").first()
    return 0 if last is None else last.position


def replay(*, organization: Organization | Entrance) -> int:
    """Bring one organization's schema up to date in one transaction; return the steps applied."""
    if not SCHEMA_NAME.match(organization.schema_name):
        raise ValueError(f"{organization.schema_name!r} is not the schema of an organization.")
    with tenancy.walled(organization_id=organization.id):
        applied, _ = rls.replay(organization_id=organization.id)
    return applied


def install_rls() -> None:
    """Put the second wall around the shared tables, and make its doors. Run as the owner."""
    with transaction.atomic():
        _take_turn()
        rls.install()


def open_to_application() -> None:
    """Let the application's role do what it needs, where it is not the owner itself."""
    if settings.DATABASE_OWNER is None:
        return
    with transaction.atomic():
        _take_turn()
        rls.admit(role=str(settings.DATABASES["default"]["USER"]))


def behind() -> tuple[Entrance, ...]:
    """Return the organizations whose schema lacks a step."""
    last = newest()
    return tuple(row for row in rls.every_organization() if row.schema_version < last)


def _capture_step(name: tuple[str, str]) -> None:
    kept: list[str] = []
    with transaction.atomic():
        with connection.execute_wrapper(_keeper(kept)):
            MigrationExecutor(connection).migrate([name])
        position = newest() + 1
        script = ";\n".join(kept) + ";"
        SchemaStep.objects.create(position=position, name=".".join(name), script=script)


def _adopt_baselines() -> None:
    """Keep an empty step for a squashed migration whose parts an older program captured."""
    captured = set(SchemaStep.objects.values_list("name", flat=True))
    loader = MigrationExecutor(connection).loader
    for key, migration in loader.replacements.items():
        name = ".".join(key)
        parts = {".".join(part) for part in migration.replaces}
        if key[0] in settings.TENANT_APPS and name not in captured and parts <= captured:
            SchemaStep.objects.create(position=newest() + 1, name=name, script="SELECT 1;")


def _capture_functions(app: str, path: Path) -> None:
    """Run a file of functions in the template and keep it, unless this text was the last one."""
    script = path.read_text(encoding="utf-8")
    folder = Path(apps.get_app_config(app).path).parent
    file = path.relative_to(folder).as_posix()
    name = f"{file}@{sha256(script.encode()).hexdigest()[:16]}"
    if SchemaStep.objects.filter(name=name).exists():
        return
    with connection.cursor() as cursor:
        cursor.execute(script)
    position = newest() + 1  # before its former step goes, else tenants would think they had it
    SchemaStep.objects.filter(name__startswith=f"{file}@").delete()
    SchemaStep.objects.create(position=position, name=name, script=script)


def _keeper(kept: list[str]) -> Callable[..., Any]:
    def keep(execute: Any, sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        text = sql if isinstance(sql, str) else sql.as_string(connection.connection)
        statement = LEADING_COMMENTS.sub("", text)
        is_kept = statement.upper().startswith(KEPT)
        if is_kept and not any(name in statement for name in NOT_KEPT):
            if params:
                text = str(ClientCursor(connection.connection).mogrify(text, params))
            kept.append(text.rstrip().rstrip(";"))
        return execute(sql, params, many, context)

    return keep


def _take_turn() -> None:
    """Wait until no other process changes tables, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CAPTURE_LOCK])


@contextmanager
def _migrated_schema(schema_name: str) -> Iterator[None]:
    """Let migrations see one schema until the transaction ends, one process at a time."""
    _take_turn()
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema_name}"')
        cursor.execute(f'SET LOCAL search_path = "{schema_name}", public')
    connection.set_schema(schema_name)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        connection.set_schema_to_public()  # type: ignore[attr-defined]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL search_path = public")
