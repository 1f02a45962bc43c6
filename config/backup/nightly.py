"""`python -m config.backup.nightly`: a backup every night, made up for when the machine was off.

A program of its own, because a backup needs the owner of the tables, which workers and clock must
not be. It keeps nothing: a backup is due when the newest one at CAIRN_BACKUP_TO is older than the
last time that it was CAIRN_BACKUP_HOUR (UTC). One that fails is told in the log and tried again
after an hour; `manage.py doctor` and /health/ready say when the last is too old.
"""

import logging
import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from config import env
from config.backup.archive import start_of, whole_backups
from config.backup.places import BackupError, open_place
from config.embedded.processes import Program, start_program

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 300
AFTER_FAILURE_SECONDS: Final = 3_600


def is_due(*, newest: datetime | None, now: datetime, hour: int) -> bool:
    """Say whether a backup should be made: the hour has come since the newest."""
    latest = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    if latest > now:
        latest -= timedelta(days=1)
    return newest is None or newest < latest


def newest_backup(*, address: str) -> datetime | None:
    """Return when the newest whole backup of a place was made. Raises BackupError."""
    names = whole_backups(place=open_place(address=address))
    return start_of(name=names[-1]) if names else None


def main() -> None:
    """Look every few minutes whether a backup is due, and make it."""
    logging.basicConfig(format="%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    values = env.read()
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    while True:
        time.sleep(LOOK_SECONDS if _look(values) else AFTER_FAILURE_SECONDS)


def _look(values: dict[str, Any]) -> bool:
    """Make a backup if one is due; False when it failed."""
    address, now = values["CAIRN_BACKUP_TO"], datetime.now(UTC)
    try:
        newest = newest_backup(address=address)
    except BackupError as error:
        log.error("The place of backups cannot be read: %s", error)
        return False
    if not is_due(newest=newest, now=now, hour=values["CAIRN_BACKUP_HOUR"]):
        return True
    command = [sys.executable, str(env.ROOT / "manage.py"), "backup", address]
    command += ["--keep", str(values["CAIRN_BACKUP_KEEP"])]
    backup = Program(
        name="backup",
        command=tuple(command),
        environment=os.environ,
        folder=env.ROOT,
        orphan_signal=signal.SIGTERM,
    )
    code = start_program(program=backup, output=sys.stdout.fileno()).wait()
    if code != 0:
        log.error("The backup failed (code %s), its reason is above; tried again in an hour", code)
    return code == 0


if __name__ == "__main__":
    main()
