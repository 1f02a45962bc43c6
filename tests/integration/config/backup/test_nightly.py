"""Backups of every night and where they lie: when one is due, what is said of old ones."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from config import env, health
from config.backup import actions, archive, nightly
from config.backup.places import BackupError, open_place
from tests.integration.config.backup.conftest import KEY, NOW, Installation, MakeDatabase
from tests.support import bucket_server

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("newest", "hour", "due"),
    [
        (None, 2, True),  # the first
        (NOON.replace(hour=2, minute=1), 2, False),  # of this night
        (NOON.replace(hour=1), 2, True),  # by hand, before the hour
        (NOON - timedelta(hours=23), 13, False),  # the hour is yet to come
        (NOON - timedelta(days=3), 13, True),  # the machine was off
    ],
)
def test_a_backup_is_due_when_the_hour_has_come_since_the_newest(
    newest: datetime | None, hour: int, due: bool
) -> None:
    assert nightly.is_due(newest=newest, now=NOON, hour=hour) is due


def test_only_whole_backups_count_as_the_newest(tmp_path: Path) -> None:
    for name, file in (("20261118T020000Z", archive.MANIFEST), ("20261119T020000Z", "home.json")):
        (tmp_path / f"cairn-{name}").mkdir()
        (tmp_path / f"cairn-{name}" / file).write_text("{}")

    found = nightly.newest_backup(address=str(tmp_path))

    assert found == datetime(2026, 11, 18, 2, 0, tzinfo=UTC)
    assert nightly.newest_backup(address=str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    ("hours", "is_nightly", "is_well"),
    [(25, True, True), (27, True, False), (None, True, False), (27, False, True)],
)
def test_an_old_backup_is_told_where_one_is_made_every_night(
    monkeypatch: pytest.MonkeyPatch, hours: int | None, is_nightly: bool, is_well: bool
) -> None:
    monkeypatch.setattr(settings, "BACKUP_TO", "/backups" if is_nightly else "")
    age = None if hours is None else timedelta(hours=hours)

    finding = health.judge_backup(made_at=None if age is None else NOON - age, age=age)

    assert finding.ok is is_well
    assert finding.detail == (
        "none was made" if age is None else f"the last is of {NOON - age:%Y-%m-%d %H:%M} UTC"
    )


@pytest.mark.django_db
def test_the_last_backup_is_known_to_every_machine(
    installation: Installation, tmp_path: Path
) -> None:
    began = timezone.now() + timedelta(minutes=5)

    actions.back_up(address=str(tmp_path), secret=None, keep=None, now=began)

    assert health.check_backup().detail == f"the last is of {began:%Y-%m-%d %H:%M} UTC"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """What a store holds that speaks S3 and that the variables of its vendor lead to."""
    with bucket_server.serving() as (url, objects):
        for name, value in (
            ("AWS_ENDPOINT_URL", url),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "tests"),
            ("AWS_SECRET_ACCESS_KEY", "tests"),
            ("AWS_REGION", "tests-1"),
        ):
            monkeypatch.setenv(name, value)
        yield objects


@pytest.mark.django_db
def test_a_bucket_holds_backups_as_a_folder_does(
    installation: Installation, bucket: dict[str, bytes], make_database: MakeDatabase
) -> None:
    address = "s3://backups/cairn"
    for day in (0, 1):
        actions.back_up(address=address, secret=KEY, keep=1, now=NOW + timedelta(days=day))
    name = "cairn-20261121T120000Z"
    assert {key.rpartition("/")[0] for key in bucket} == {f"cairn/{name}"}

    bucket |= {"cairn/cairn-x": b"", f"cairn/{name}/deep/manifest.json": b""}  # somebody else's
    assert nightly.newest_backup(address=address) == NOW + timedelta(days=1)
    backup = archive.open_backup(address=f"{address}/{name}", secret=KEY)
    actions.restore(backup=backup, database=make_database(), even_erased=False)

    key = f"cairn/{name}/database.dump"
    bucket[key] = bucket[key][:-1]
    with pytest.raises(BackupError, match="is damaged"):
        backup.check()


def test_what_breaks_on_its_way_to_a_bucket_leaves_no_file(bucket: dict[str, bytes]) -> None:
    def breaking() -> Iterator[bytes]:
        yield bytes(20_000_000)
        raise BackupError("pg_dump failed")

    with pytest.raises(BackupError, match="pg_dump failed"):
        open_place(address="s3://backups").write("cairn-1/database.dump", breaking())

    assert bucket == {}


def test_a_full_disk_is_told_and_leaves_no_backup(tmp_path: Path) -> None:
    program = (
        "import resource, sys; from pathlib import Path; from config.backup.places import *;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000));"
        "Folder(root=Path(sys.argv[1])).write('cairn-1/manifest.json', iter([bytes(9_000)] * 2))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=env.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "could not be written: the disk is full. Nothing there counts" in ended.stderr
    assert list((tmp_path / "cairn-1").iterdir()) == []
