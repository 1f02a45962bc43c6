"""The data folder: what lies where in it, who holds it, and the secrets made once."""

import errno
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from config.embedded.errors import HomeError

FREE_BYTES_FIRST_START = 700_000_000  # weights, cluster, and room for its log
FREE_BYTES = 100_000_000
SECRET_BYTES = 48
REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "this user may not write there",
    errno.EPERM: "this user may not write there",
    errno.EROFS: "it is read-only",
    errno.ENOTDIR: "a part of the path is a file",
    errno.EEXIST: "a file of that name is in the way",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The data folder and the names in it."""

    root: Path

    @property
    def run(self) -> Path:
        """Lock, progress and schedules: what only the running group needs."""
        return self.root / "run"

    @property
    def models(self) -> Path:
        """Model weights."""
        return self.root / "models"

    @property
    def static(self) -> Path:
        """Collected static files; empty as long as the server finds them in the packages."""
        return self.root / "static"

    @property
    def credentials(self) -> Path:
        """The owner's way in, for people and scripts."""
        return self.root / "credentials.json"

    @property
    def is_first_start(self) -> bool:
        """Whether no start has made its secrets here yet."""
        return not (self.root / "secrets.json").exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What signs sessions and keys token digests; losing it invalidates both."""

    secret_key: str
    token_pepper: str


def prepare(*, root: Path) -> Home:
    """Make the folder and its parts. Raises HomeError when it cannot be written or is too full."""
    home = Home(root=root.absolute())
    try:
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in (home.run, home.models, home.static):
            part.mkdir(mode=0o700, exist_ok=True)
        _try_writing(folder=home.run)
        free = shutil.disk_usage(home.root).free
    except OSError as error:
        raise unusable(root=home.root, error=error) from error
    needed = FREE_BYTES_FIRST_START if home.is_first_start else FREE_BYTES
    if free < needed:
        raise HomeError(
            f"Only {free // 1_000_000} MB are free under {home.root} and {needed // 1_000_000} MB "
            f"are needed; free some or set CAIRN_HOME to a folder on another disk."
        )
    return home


def unusable(*, root: Path, error: OSError) -> HomeError:
    """Put a refusal of the file system into one sentence."""
    reason = REASONS.get(error.errno or 0, os.strerror(error.errno or 0))
    return HomeError(
        f"The data folder {root} cannot be used: {reason}; "
        f"mend that or set CAIRN_HOME to another folder."
    )


@contextmanager
def held(*, home: Home) -> Iterator[None]:
    """Hold the folder against a second start until the block ends.

    The kernel lets go when this process dies, however it dies. Raises HomeError when it is taken.
    """
    with (home.run / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise HomeError(
                f"Cairn already runs over {home.root} (process {file.read().strip() or 'unknown'});"
                f" stop it or set CAIRN_HOME to another folder."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
        file.truncate(0)


def load_secrets(*, home: Home) -> Secrets:
    """Read the secrets, making them at the first start; raises HomeError for a broken file."""
    path = home.root / "secrets.json"
    if home.is_first_start:
        made = {name: secrets.token_urlsafe(SECRET_BYTES) for name in Secrets.__slots__}
        write_private(path=path, text=json.dumps(made, indent=2))
    try:
        read = json.loads(path.read_text())
        return Secrets(secret_key=read["secret_key"], token_pepper=read["token_pepper"])
    except (ValueError, KeyError, TypeError) as error:
        raise HomeError(f"{path} is damaged; put it back from a backup.") from error


def write_private(*, path: Path, text: str) -> None:
    """Write a file of mode 600 whole or not at all."""
    draft = path.with_name(f"{path.name}.draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _try_writing(*, folder: Path) -> None:
    trial = folder / "trial"
    trial.write_bytes(b"x" * 4096)
    trial.unlink()
