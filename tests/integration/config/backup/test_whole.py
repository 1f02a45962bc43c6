"""A whole backup: everything comes back equal, or nothing at all and a sentence why."""

import json
import re
import shutil
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db.models.signals import post_migrate

from accounts import tenancy
from config.backup import actions, archive, contents, programs
from config.backup.archive import Backup
from config.backup.places import BackupError, Folder
from teams.audit import verify
from tests.integration.config.backup.conftest import (
    KEY,
    NOW,
    TEXTS,
    Installation,
    MakeDatabase,
    found_by,
    inside,
)
from tests.support.people import PASSWORD

EVERY_TABLE = """
SELECT n.nspname || '.' || c.relname
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""

SESSIONS = "public.django_session"
LAST_STEP = "SELECT position FROM accounts_schemastep WHERE name = 'memory.0007_stated'"
TENANT_SCHEMAS = """
SELECT nspname FROM pg_namespace WHERE nspname = 'tenant_template'
UNION SELECT schema_name FROM accounts_organization
"""
pytestmark = pytest.mark.django_db


def test_everything_is_equal_in_an_empty_database(
    installation: Installation, backup: Backup, make_database: MakeDatabase
) -> None:
    before = [found_by(place.token) for place in (installation.acme, installation.globex)]
    database = make_database()

    actions.restore(backup=backup, database=database, even_erased=False)

    promised = actions.read_contents(backup=backup)
    tables = {name: one for name, one in promised.tables.items() if name != SESSIONS}
    with database.connect() as line:
        now = contents.count_contents(connection=line)
    assert contents.differences(was=promised.model_copy(update={"tables": tables}), now=now) == ()
    assert now.tables[SESSIONS].rows == 0  # nobody is signed in again who has signed out since
    with inside(database):
        after = [found_by(place.token) for place in (installation.acme, installation.globex)]
        for tenant in tenancy.each_organization():
            with tenancy.enter(tenant):
                verdict = verify()
                assert verdict.fault is None
                assert verdict.checked >= len(TEXTS)
        slug = installation.acme.caller.organization_slug
        assert authenticate(None, email=f"owner@{slug}.test", password=PASSWORD) is not None
    assert after == before
    assert all(len(found) == len(TEXTS) for found in after)


def test_no_table_is_left_out(backup: Backup) -> None:
    promised = actions.read_contents(backup=backup)

    with actions.own_database().connect() as line:
        tables = {name for (name,) in line.execute(EVERY_TABLE).fetchall()}

    assert tables - set(promised.tables) == set()
    assert sum(1 for name in promised.tables if name.startswith("t_")) > 0


def test_files_of_the_data_folder_come_back_where_they_are_missing(
    installation: Installation, backup: Backup, make_database: MakeDatabase
) -> None:
    (installation.home / "credentials.json").unlink()
    (installation.home / "run" / "steps.json").write_text('["demo", "welcome"]')

    actions.restore(backup=backup, database=make_database(), even_erased=False)

    assert (installation.home / "credentials.json").read_text() == "{}"
    assert (installation.home / "run" / "steps.json").read_text() == '["demo", "welcome"]'


def test_without_a_key_no_secret_is_in_a_backup_and_that_is_told(
    installation: Installation, tmp_path: Path
) -> None:
    made = actions.back_up(address=str(tmp_path), secret=None, keep=None, now=NOW)

    texts = {path.name: path.read_bytes() for path in (tmp_path / made.name).iterdir()}
    assert made.manifest.needs == ("CAIRN_SECRET_KEY", "CAIRN_TOKEN_PEPPER")
    assert set(json.loads(texts["home.json"])) == {"run/steps.json"}


def test_an_encrypted_backup_shows_no_text_and_no_name(
    installation: Installation, kept: Path
) -> None:
    stored = b"".join(path.read_bytes() for path in kept.rglob("*.*") if path.is_file())

    assert installation.acme.caller.organization_slug.encode() not in stored
    assert b"PGDMP" not in stored


def test_old_backups_are_deleted_and_unfinished_ones_do_not_count(
    installation: Installation, tmp_path: Path
) -> None:
    for hours in (0, 1):
        actions.back_up(
            address=str(tmp_path), secret=None, keep=None, now=NOW + timedelta(hours=hours)
        )
    killed = tmp_path / "cairn-20261101T000000Z"
    killed.mkdir()
    (killed / "database.dump.draft").write_bytes(b"PGDMP")

    made = actions.back_up(address=str(tmp_path), secret=None, keep=2, now=NOW + timedelta(hours=2))

    left = ["cairn-20261120T130000Z", "cairn-20261120T140000Z"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left
    assert made.pruned == ("cairn-20261101T000000Z", "cairn-20261120T120000Z")


def test_a_backup_that_fails_leaves_no_file(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = installation.home / "tokens"
    (tokens / "broken").mkdir(parents=True)
    (tokens / "broken.json").write_bytes(b"\xff")  # no text: reading it fails after the dump

    with pytest.raises(UnicodeDecodeError):
        actions.back_up(address=str(tmp_path / "to"), secret=KEY, keep=None, now=NOW)

    assert list((tmp_path / "to").iterdir()) == []
    shutil.rmtree(tokens)


def test_browsers_are_signed_out_by_a_restore(
    installation: Installation, tmp_path: Path, make_database: MakeDatabase
) -> None:
    session = SessionStore()
    session.create()
    made = actions.back_up(address=str(tmp_path), secret=KEY, keep=None, now=NOW)
    session.delete()
    assert made.contents.tables["public.django_session"].rows > 0
    database = make_database()

    backup = archive.open_backup(address=str(tmp_path), secret=KEY)
    actions.restore(backup=backup, database=database, even_erased=False)

    with database.connect() as line:
        assert line.execute("SELECT count(*) FROM django_session").fetchall() == [(0,)]


def test_trials_at_the_same_time_leave_each_others_databases_alone(
    installation: Installation,
) -> None:
    with (
        programs.scratch(database=actions.own_database()) as first,
        programs.scratch(database=actions.own_database()) as second,
    ):
        for database in (first, second):
            with database.connect() as line:
                assert line.execute("SELECT current_database()").fetchall() == [(database.name,)]


def test_programs_connect_as_the_variables_of_postgres_say(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGDATABASE", "another")

    environment = actions.own_database().environment()

    assert environment["PGSSLMODE"] == "verify-full"
    assert environment["PGDATABASE"] == actions.own_database().name


def test_a_database_in_use_is_not_restored_into(backup: Backup) -> None:
    with pytest.raises(BackupError, match="is not empty, and a restore replaces nothing"):
        actions.restore(backup=backup, database=actions.own_database(), even_erased=False)


def is_empty(make: MakeDatabase, backup: Backup, words: str) -> None:
    """Check that a restore is refused with these words and leaves the database empty."""
    database = make()
    with pytest.raises(BackupError, match=words):
        actions.restore(backup=backup, database=database, even_erased=False)
    with database.connect() as line:
        assert line.execute(EVERY_TABLE).fetchall() == []


@pytest.mark.parametrize("name", ["database.dump", "contents.json", "home.json"])
@pytest.mark.parametrize("harm", ["one bit", "cut off", "gone"])
def test_a_damaged_file_is_found_before_anything_is_restored(
    kept: Path, tmp_path: Path, make_database: MakeDatabase, name: str, harm: str
) -> None:
    copy = shutil.copytree(kept, tmp_path / "copy")
    path = next(copy.rglob(name))
    text = bytearray(path.read_bytes())
    text[len(text) // 2] ^= 1
    if harm == "one bit":
        path.write_bytes(text)
    elif harm == "cut off":
        path.write_bytes(text[:-20])
    else:
        path.unlink()

    is_empty(make_database, archive.open_backup(address=str(copy), secret=KEY), name)


def test_what_breaks_in_the_middle_of_a_load_leaves_nothing(
    backup: Backup, kept: Path, tmp_path: Path, make_database: MakeDatabase
) -> None:
    class Breaks(archive.Backup):
        """Well when it is checked, and damaged when it is read again."""

        def check(self) -> None:
            super().check()
            path = next((tmp_path / "copy").rglob("database.dump"))
            path.write_bytes(path.read_bytes()[:-5_000])

    shutil.copytree(kept, tmp_path / "copy")
    opened = archive.open_backup(address=str(tmp_path / "copy"), secret=KEY)

    broken = Breaks(place=opened.place, name=opened.name, manifest=opened.manifest, key=opened.key)
    is_empty(make_database, broken, "database.dump is not as it was written")


def test_a_manifest_with_one_other_letter_is_refused(kept: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(kept, tmp_path / "copy")
    path = next(copy.rglob("manifest.json"))
    path.write_text(path.read_text().replace('"version": "0', '"version": "1'))

    with pytest.raises(BackupError, match=r"manifest\.json is not as it was written"):
        archive.open_backup(address=str(copy), secret=KEY)


@pytest.mark.parametrize(
    ("secret", "words"),
    [(None, "is encrypted; give its key"), (b"another key of the tests", "with another key")],
)
def test_a_wrong_key_is_told_from_damage(kept: Path, secret: bytes | None, words: str) -> None:
    with pytest.raises(BackupError, match=words):
        archive.open_backup(address=str(kept), secret=secret)


def test_a_backup_of_an_older_version_is_brought_to_this_one(
    installation: Installation,
    backup: Backup,
    make_database: MakeDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, older, database = found_by(installation.acme.token), make_database(), make_database()
    actions.restore(backup=backup, database=older, even_erased=False)
    with older.connect() as line:
        last = line.execute(LAST_STEP).fetchall()[0][0]
        for (schema,) in line.execute(TENANT_SCHEMAS).fetchall():
            line.execute(f"ALTER TABLE {schema}.memory_memory DROP COLUMN stated_at")
        for schema in ("public", "tenant_template"):
            line.execute(f"DELETE FROM {schema}.django_migrations WHERE name = '0007_stated'")
        line.execute("DELETE FROM accounts_schemastep WHERE position >= %s", [last])
        line.execute("UPDATE accounts_organization SET schema_version = %s", [last - 1])
    with monkeypatch.context() as patch:
        patch.setitem(settings.DATABASES["default"], "NAME", older.name)
        actions.back_up(address=str(tmp_path), secret=None, keep=None, now=NOW)
    opened = archive.open_backup(address=str(tmp_path), secret=None)
    assert "memory.0007_stated" not in opened.manifest.migrations
    monkeypatch.setattr(post_migrate, "receivers", [])  # which put back what tests have emptied

    actions.restore(backup=opened, database=database, even_erased=False)

    with inside(database):
        assert found_by(installation.acme.token) == before
    with database.connect() as line:
        assert "memory.0007_stated" in contents.applied_migrations(connection=line)


def test_a_backup_of_a_newer_version_is_refused_with_what_to_do(
    backup: Backup, make_database: MakeDatabase
) -> None:
    manifest = backup.manifest
    newer = manifest.model_copy(update={"migrations": (*manifest.migrations, "memory.0999_later")})

    is_empty(
        make_database,
        Backup(place=backup.place, name=backup.name, manifest=newer, key=backup.key),
        r"does not know memory\.0999_later\. Install the version that made it",
    )


def test_other_secrets_are_refused_with_where_to_find_the_right_ones(
    backup: Backup, make_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.TOKEN_PEPPER", "another pepper " * 4)

    is_empty(make_database, backup, "belongs to other secrets.*restore --secrets FILE")


def tried(kept: Path, key: Path) -> str:
    """Return what `manage.py verify` prints."""
    out = StringIO()
    call_command("verify", str(kept), key_file=key, stdout=out)
    return out.getvalue()


def test_a_backup_is_tried_with_its_audit_logs_and_a_search_in_every_organization(
    installation: Installation, kept: Path, key_file: Path
) -> None:
    said = tried(kept, key_file)

    assert said.endswith("This backup can be restored.\n")
    for place in (installation.acme, installation.globex):
        assert f"{place.caller.organization_slug}: a search finds what it should" in said
        assert re.search(rf"{place.caller.organization_slug}: \d+ audit entries hold", said)


def test_a_copy_that_is_not_what_was_promised_fails_its_trial(
    installation: Installation, backup: Backup, tmp_path: Path
) -> None:
    promised = actions.read_contents(backup=backup)
    name = "public.accounts_token"
    other = promised.tables[name].model_copy(update={"digest": "0 0"})
    wrong = promised.model_copy(update={"tables": {**promised.tables, name: other}})
    writer = archive.Writer(place=Folder(root=tmp_path), name=backup.name, secret=None)
    writer.add("database.dump", backup.read("database.dump"))
    writer.add("contents.json", iter([wrong.model_dump_json().encode()]))
    writer.finish(backup.manifest)
    out = StringIO()

    with pytest.raises(SystemExit):
        call_command("verify", str(tmp_path), stdout=out)

    assert f"{name} has other contents in its {other.rows} rows" in out.getvalue()
    assert "1 findings are wrong; do not rely on this backup" in out.getvalue()
