"""The data folder: what lies where in it, who holds it, the secrets made once, and its sockets.

A unix socket's path may have 107 bytes, and a checkout can lie deep, so sockets live in a short
folder named by a hash of the data folder. When Postgres runs as another user that cannot reach the
data folder or the programs (root's home, say), both live under `/var/lib/cairn` instead.
"""

import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from config.embedded import identity as identities
from config.embedded.console import HomeError
from config.embedded.identity import Identity

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
    def environment(self) -> Path:
        """What the running programs were given, for commands of the person who started them."""
        return self.run / "environment.json"

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
        trial = home.run / "trial"
        trial.write_bytes(b"x" * 4096)
        trial.unlink()
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


SOCKET_PATH_BYTES = 107  # sockaddr_un.sun_path, with room for the closing NUL
LONGEST_SOCKET_NAME = "/.s.PGSQL.5432.lock"
OUTSIDE = Path("/var/lib/cairn")
HASH_LETTERS = 12


def socket_folder(*, home: Path, owner: Identity, environment: Mapping[str, str]) -> Path:
    """Return the private folder for the sockets of `home`, made if missing.

    Raises HomeError when someone else owns a folder of that name.
    """
    folder = socket_path(home=home, owner=owner, environment=environment)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {owner.uid, os.geteuid()}:
            raise HomeError(f"{folder} belongs to someone else; remove it.") from None
        folder.chmod(0o700)
    os.chown(folder, owner.uid, owner.gid)
    return folder


def socket_path(*, home: Path, owner: Identity, environment: Mapping[str, str]) -> Path:
    """Return where the sockets of `home` belong: in the user's runtime folder or in /tmp."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    usable = owner.user is None and runtime and os.access(runtime, os.W_OK)
    name = f"cairn-{_short(f'{home.resolve()} {owner.uid}')}"
    folder = Path(runtime) / name if usable else Path("/tmp") / name  # noqa: S108 - 0700, checked
    if len(os.fsencode(folder)) + len(LONGEST_SOCKET_NAME) > SOCKET_PATH_BYTES:
        return Path("/tmp") / name  # noqa: S108 - 0700, checked
    return folder


def data_folder(*, home: Path, owner: Identity) -> Path:
    """Return the data folder of Postgres: in `home` if its owner can get there.

    Raises HomeError when existing data lies where the owner cannot reach it.
    """
    inside = home / "postgres"
    outside = OUTSIDE / _short(str(home.resolve())) / "postgres"
    if outside.exists() and not inside.exists():
        return outside
    if identities.can_reach(identity=owner, folder=home):
        return inside
    if inside.exists():
        raise HomeError(
            f"user {owner.user}, as whom Postgres runs here, cannot reach {inside}; "
            f"move CAIRN_HOME to a folder every user may pass through."
        )
    outside.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    return outside


def reachable_binaries(*, binaries: Path, owner: Identity) -> Path:
    """Return programs that the owner can run, copied out of a private folder if need be."""
    if identities.can_reach(identity=owner, folder=binaries):
        return binaries
    install = binaries.parent
    version = f"{install} {(binaries / 'postgres').stat().st_mtime_ns}"
    place = OUTSIDE / f"programs-{_short(version)}"
    if not place.exists():
        _copy_install(install, place)
    return place / install.parent.name / install.name / binaries.name


def give(*, folder: Path, owner: Identity) -> None:
    """Hand a data folder over when it belongs to another user than the one who is to serve it."""
    if not folder.exists() or folder.stat().st_uid == owner.uid:
        return
    for place, _folders, files in os.walk(folder):
        os.chown(place, owner.uid, owner.gid)
        for name in files:
            os.chown(Path(place) / name, owner.uid, owner.gid, follow_symlinks=False)


def _copy_install(install: Path, place: Path) -> None:
    """Copy the programs and the libraries their relative search path names."""
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=place.parent))
    package = install.parent
    shutil.copytree(install, draft / package.name / install.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, draft / libraries.name)
    draft.chmod(0o755)
    try:
        draft.rename(place)
    except OSError:
        shutil.rmtree(draft)
        if not place.exists():
            raise


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LETTERS]
