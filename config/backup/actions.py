"""Make a backup of the installation, and restore one whole.

A restore needs an empty database. Files of the data folder come back where they are missing, so
that the next start finds its owner, its tokens and which steps are done. An organization that a
receipt says was dropped stays out, in the same transaction.
"""

import hmac
import io
import itertools
import json
import logging
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from accounts.jobs import BACKUP_SLOT
from config import env
from config.backup import contents, programs, shared_rows
from config.backup.archive import (
    CONTENTS,
    DATABASE,
    FORMAT,
    HOME,
    Backup,
    Manifest,
    Writer,
    name_at,
    prune,
)
from config.backup.contents import Contents
from config.backup.home_files import read_home, write_home
from config.backup.places import BackupError, Place, open_place
from config.backup.programs import Database
from config.backup.receipts import Receipt, later_receipts

log = logging.getLogger(__name__)

CHECK_TEXT: Final = b"cairn backup"
SECRETS: Final = ("CAIRN_SECRET_KEY", "CAIRN_TOKEN_PEPPER")
POWERS: Final = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
IS_USED: Final = "SELECT to_regclass('public.django_migrations') IS NOT NULL"
HAS_VECTOR: Final = "SELECT 1 FROM pg_extension WHERE extname = 'vector'"
NOTE: Final = """
INSERT INTO public.accounts_slot (name, starts_at, taken_at) VALUES (%s, %s, now())
ON CONFLICT DO NOTHING
"""
SIGN_OUT: Final = "DELETE FROM public.django_session"  # also browsers that were signed out since
ONE_MOMENT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A backup that was made."""

    name: str
    manifest: Manifest
    contents: Contents
    pruned: tuple[str, ...]


def own_database() -> Database:
    """Return the database of the settings, as the owner of its tables."""
    return Database.of({**settings.DATABASES["default"], **(settings.DATABASE_OWNER or {})})


def back_up(*, address: str, secret: bytes | None, keep: int | None, now: datetime) -> Made:
    """Copy everything of one instant to a place, and delete all but `keep` backups there.

    Raises BackupError; what was written then is deleted.
    """
    database, name = own_database(), name_at(moment=now)
    place = open_place(address=address)
    if name in place.folders():
        raise BackupError(f"{name} is there already; run the command again.")
    writer = Writer(place=place, name=name, secret=secret)
    with _deleted_if_unfinished(place, name):
        with connected(database) as line:
            if not line.execute(POWERS).fetchall()[0][0]:
                raise BackupError(
                    f"The role {database.user} does not see all rows. Set DATABASE_OWNER_URL, and "
                    f"let a superuser run: ALTER ROLE {database.user} BYPASSRLS"
                )
            binaries = programs.folder(version=line.info.server_version)
            line.execute(ONE_MOMENT)
            snapshot = line.execute("SELECT pg_export_snapshot()").fetchall()[0][0]
            found = contents.count_contents(connection=line)
            options = ("--format=custom", f"--snapshot={snapshot}")
            writer.add(
                DATABASE, programs.dump(database=database, binaries=binaries, options=options)
            )
            manifest = Manifest(
                format=FORMAT,
                made_at=now,
                version=_own_version(),
                postgres=line.info.parameter_status("server_version") or "",
                migrations=contents.applied_migrations(connection=line),
                secrets_check=_secrets_check(settings.TOKEN_PEPPER),
                needs=() if secret else SECRETS,
            )
        writer.add(CONTENTS, iter([found.model_dump_json().encode()]))
        files = read_home(home=Path(settings.CAIRN_HOME), with_secrets=secret is not None)
        if secret is not None:
            values = {"secret_key": settings.SECRET_KEY, "token_pepper": settings.TOKEN_PEPPER}
            files["secrets.json"] = json.dumps(values, indent=2)
        writer.add(HOME, iter([json.dumps(files).encode()]))
        manifest = writer.finish(manifest)
    with connected(database) as line:
        line.execute(NOTE, [BACKUP_SLOT, now])
    pruned = () if keep is None else prune(place=place, keep=keep, now=now)
    return Made(name=name, manifest=manifest, contents=found, pruned=pruned)


def restore(*, backup: Backup, database: Database, even_erased: bool) -> tuple[Receipt, ...]:
    """Load a whole backup into an empty database, and bring its tables to this version.

    Organizations that were dropped since stay out, unless `even_erased`; their receipts are
    returned. All browsers are signed out. Raises BackupError; the database is then as empty as
    before. If only bringing the loaded tables to this version fails, they stay, and its own error
    is raised: `manage.py migrate` goes on from there.
    """
    check_version(manifest=backup.manifest)
    check_secrets(backup=backup)
    binaries = _check_empty(database)
    backup.check()
    home = Path(settings.CAIRN_HOME)
    receipts = {} if even_erased else later_receipts(home=home, than=backup.manifest.made_at)
    organizations = read_contents(backup=backup).organizations
    dropped = tuple(organization for organization in organizations if organization.id in receipts)
    written = write_home(home=home, files=json.loads(b"".join(backup.read(HOME))))
    with ExitStack() as undoing:  # unless the load ends well
        for name in written:
            undoing.callback((home / name).unlink)
        programs.load(
            database=database,
            binaries=binaries,
            archive=lambda: backup.read(DATABASE),
            but=frozenset(organization.schema_name for organization in dropped),
            closing=itertools.chain(
                (SIGN_OUT,),
                (
                    statement.as_string()
                    for organization in dropped
                    for statement in shared_rows.deletions(organization_id=organization.id)
                ),
            ),
        )
        undoing.pop_all()
    migrate_in(database=database)
    return tuple(receipts[organization.id] for organization in dropped)


def migrate_in(*, database: Database) -> None:
    """Bring the tables of a database to this version."""
    quiet = {"verbosity": 0, "skip_checks": True, "stdout": io.StringIO()}
    if database == own_database():
        call_command("migrate", **quiet)
        return
    with connection.as_owner_of(database=database.name):  # type: ignore[attr-defined]
        call_command("migrate", **quiet)


def check_secrets(*, backup: Backup) -> None:
    """Check that tokens of a backup work with the secrets of here. Raises BackupError."""
    peppers = (settings.TOKEN_PEPPER, *settings.TOKEN_PEPPER_FALLBACKS)
    if backup.manifest.secrets_check not in {_secrets_check(pepper) for pepper in peppers}:
        raise BackupError(
            f"{backup.name} belongs to other secrets, with which all tokens and second factors "
            f"would end. Set {' and '.join(SECRETS)} to the ones it was made with; an encrypted "
            "backup holds them, and restore --secrets FILE writes them down."
        )


def check_version(*, manifest: Manifest) -> None:
    """Check that this program knows all migrations of a backup. Raises BackupError."""
    on_disk = MigrationLoader(None).disk_migrations or {}
    replaced = {part for migration in on_disk.values() for part in migration.replaces}
    known = {".".join(name) for name in {*on_disk, *replaced}}
    unknown = sorted({*manifest.migrations} - known)
    if unknown:
        raise BackupError(
            f"The backup is of another version of Cairn ({manifest.version}): this one does not "
            f"know {unknown[0]}. Install the version that made it, restore, and then upgrade."
        )


def read_contents(*, backup: Backup) -> Contents:
    """Return what the backup says it holds."""
    return Contents.model_validate_json(b"".join(backup.read(CONTENTS)))


@contextmanager
def connected(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """Open a connection until the block ends. Raises BackupError for what the database refuses."""
    try:
        line = database.connect()
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise BackupError(f"The database {database.name} does not answer: {reason}") from error
    try:
        with line:
            yield line
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise BackupError(f"The database {database.name} refused: {reason}") from error


@contextmanager
def _deleted_if_unfinished(place: Place, name: str) -> Iterator[None]:
    """Delete what was written when the block fails, so that no try after it fills the disk."""

    def delete() -> None:
        try:
            place.remove(name)
        except BackupError as error:  # the reason of the failure is what has to be told
            log.warning("What was written of %s is still there: %s", name, error)

    with ExitStack() as undoing:
        undoing.callback(delete)
        yield
        undoing.pop_all()


def _check_empty(database: Database) -> Path:
    """Check that a backup can be loaded there; return the programs for it. Raises BackupError."""
    with connected(database) as line:
        binaries = programs.folder(version=line.info.server_version)
        if line.execute(IS_USED).fetchall()[0][0]:
            raise BackupError(
                f"The database {database.name} is not empty, and a restore replaces nothing. Name "
                "an empty one in DATABASE_URL, or restore one organization: --organization SLUG."
            )
        if not line.execute(HAS_VECTOR).fetchall():
            raise BackupError(
                f"The database {database.name} lacks pgvector; let a superuser run in it: "
                "CREATE EXTENSION vector SCHEMA public"
            )
    return binaries


def _secrets_check(pepper: str) -> str:
    return hmac.digest(pepper.encode(), CHECK_TEXT, "sha256").hex()


def _own_version() -> str:
    project = tomllib.loads((env.ROOT / "pyproject.toml").read_text())["project"]
    return str(project["version"])
