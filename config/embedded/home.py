"""The data folder: what lies in it, who holds it, its secrets and sockets, who serves it.

A unix socket's path may have 107 bytes, and a checkout can lie deep, so sockets live in a short
folder named by a hash of the data folder.

Postgres refuses to run as root. A normal user runs it as is. Root puts it into a user namespace of
its own, in which root is called by another name: files stay root's outside and no folder has to be
opened for anyone. Where the kernel or the container forbids that, root hands it to an unprivileged
user instead. When that user cannot reach the data folder or the programs (in root's home, say),
both live under `/var/lib/cairn`.
"""

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import pwd
import resource
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from config import env

FREE_BYTES_FIRST_START = 700_000_000  # weights, cluster, and room for its log
FREE_BYTES = 100_000_000
SECRET_BYTES = 48
SECRETS = ("secret_key", "token_pepper")  # sign sessions and key token digests; a loss ends both
REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "this user may not write there",
    errno.EPERM: "this user may not write there",
    errno.EROFS: "it is read-only",
    errno.ENOTDIR: "a part of the path is a file",
    errno.EEXIST: "a file of that name is in the way",
    errno.EMFILE: "this process has too many files open (ulimit -n)",
    errno.ENFILE: "the machine has too many files open",
}
SOCKET_PATH_BYTES = 107  # sockaddr_un.sun_path, with room for the closing NUL
LONGEST_SOCKET_NAME = "/.s.PGSQL.5432.lock"
OUTSIDE = Path("/var/lib/cairn")
HASH_LETTERS = 12
CLONE_NEWUSER = 0x10000000  # linux/sched.h
NAMESPACE_USERS = ("daemon", "nobody", "bin")  # initdb wants a name that exists in passwd
SWITCH_USER_VARIABLE = "CAIRN_PG_AS_USER"
DEFAULT_SWITCH_USER = "nobody"
PROBE_SECONDS = 10

LEAST_FILES = 256  # of a web process: pool, sockets, and a hundred clients
MOST_FILES = 65_536

LIBC = ctypes.CDLL(None, use_errno=True)


class StartError(Exception):
    """The start cannot go on; the message is one sentence for the person who typed `make run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The data folder and the names in it."""

    root: Path

    @property
    def run(self) -> Path:
        """Lock, progress and schedules: what only the running group needs."""
        return self.root / "run"

    @property
    def credentials(self) -> Path:
        """The owner's way in, for people and scripts."""
        return self.root / "credentials.json"

    @property
    def first_credentials(self) -> Path:
        """The same before the web server has answered for the first time."""
        return self.run / "credentials.json"

    @property
    def tokens(self) -> Path:
        """The tokens of agents' programs, a file each that is called like it."""
        return self.root / "tokens"

    @property
    def environment(self) -> Path:
        """What the running programs were given, for commands of the person who started them."""
        return self.run / "environment.json"

    @property
    def restarts(self) -> Path:
        """How often the running programs were replaced, and why the last time failed, if it did."""
        return self.run / "restarts.json"

    @property
    def is_first_start(self) -> bool:
        """Whether no start has made its secrets here yet."""
        return not (self.root / "secrets.json").exists()


def prepare(*, root: Path) -> Home:
    """Make the folder and its parts. Raises StartError when it cannot be written or is too full."""
    home = Home(root=root.absolute())
    try:
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in ("run", "models", "static"):
            (home.root / part).mkdir(mode=0o700, exist_ok=True)
        trial = home.run / "trial"
        trial.write_bytes(b"x" * 4096)
        trial.unlink()
        free = shutil.disk_usage(home.root).free
    except OSError as error:
        raise unusable(root=home.root, error=error) from error
    needed = FREE_BYTES_FIRST_START if home.is_first_start else FREE_BYTES
    if free < needed:
        raise StartError(
            f"Only {free // 1_000_000} MB are free under {home.root} and {needed // 1_000_000} MB "
            f"are needed; free some or set CAIRN_HOME to a folder on another disk."
        )
    return home


def unusable(*, root: Path, error: OSError) -> StartError:
    """Put a refusal of the file system into one sentence."""
    reason = REASONS.get(error.errno or 0, os.strerror(error.errno or 0))
    return StartError(
        f"The data folder {root} cannot be used: {reason}; "
        f"mend that or set CAIRN_HOME to another folder."
    )


@contextmanager
def held(*, home: Home) -> Iterator[None]:
    """Hold the folder against a second start until the block ends.

    The kernel lets go when this process dies, however it dies. Raises StartError when it is taken.
    """
    with (home.run / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise StartError(
                f"Cairn already runs over {home.root} (process {file.read().strip() or 'unknown'});"
                f" stop it or set CAIRN_HOME to another folder."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
        file.truncate(0)


def holder(*, home: Home) -> int | None:
    """Return the id of the process that holds the folder, None where none does."""
    try:
        with (home.run / "lock").open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        text = (home.run / "lock").read_text().strip()
        return int(text) if text.isdecimal() else None
    return None


def read_restarts(*, home: Home) -> tuple[int, str]:
    """Return how many restarts there were since the start, and the failure of the last or "".

    Raises StartError for a damaged file.
    """
    try:
        stored = json.loads(home.restarts.read_text())
        return int(stored["count"]), str(stored["failure"])
    except FileNotFoundError:
        return 0, ""
    except (ValueError, KeyError, TypeError) as error:
        raise StartError(f"{home.restarts} is damaged; delete it and try again.") from error


def note_restart(*, home: Home, failure: str) -> None:
    """Keep that a restart came to its end, for whoever asked for it. Raises StartError, OSError."""
    count = read_restarts(home=home)[0] + 1
    write_private(path=home.restarts, text=json.dumps({"count": count, "failure": failure}))


def load_secrets(*, home: Home) -> dict[str, str]:
    """Read the secrets, making them at the first start; raises StartError for a broken file."""
    path = home.root / "secrets.json"
    if home.is_first_start:
        made = {name: secrets.token_urlsafe(SECRET_BYTES) for name in SECRETS}
        write_private(path=path, text=json.dumps(made, indent=2))
    try:
        stored = json.loads(path.read_text())
        return {name: _checked_secret(stored[name]) for name in SECRETS}
    except (ValueError, KeyError, TypeError) as error:
        raise StartError(
            f"{path} is damaged; put it back from a backup, or set CAIRN_SECRET_KEY and "
            f"CAIRN_TOKEN_PEPPER to what it held. If that is lost, move the file away: new secrets "
            f"are made, and all sessions, links and tokens end."
        ) from error


def _checked_secret(value: object) -> str:
    if isinstance(value, str) and len(value) >= env.MINIMUM_SECRET_LENGTH:
        return value
    raise ValueError("it is no secret, or a short one")


def allow_files() -> None:
    """Let this process and its children open as many files as they may.

    Raises StartError where that is too few.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if most > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if max(soft, most) < LEAST_FILES:
        raise StartError(
            f"A process may open only {max(soft, most)} files and sockets here, and Cairn needs "
            f"{LEAST_FILES}; raise the limit (ulimit -Hn, LimitNOFILE) and start again."
        )


def empty_folder(*, path: Path) -> Path:
    """Make a folder anew, with nothing in it, and return it."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


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


def tighten(*, home: Home) -> tuple[Path, ...]:
    """Let only their owner read the files that hold secrets; return those that others could."""
    kept = (home.credentials, home.root / "secrets.json", home.environment)
    others = home.tokens.iterdir() if home.tokens.is_dir() else ()
    wide = [path for path in (*kept, *others) if path.is_file() and path.stat().st_mode & 0o077]
    for path in wide:
        path.chmod(0o600)
    return tuple(sorted(wide))


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """How a child changes before it runs: a name inside a namespace, another user, or neither."""

    namespace_uid: int | None = None
    user: str | None = None

    @property
    def uid(self) -> int:
        """The user id that owns the files of the child, seen from outside."""
        return os.geteuid() if self.user is None else pwd.getpwnam(self.user).pw_uid

    @property
    def gid(self) -> int:
        """The group id that owns the files of the child, seen from outside."""
        return os.getegid() if self.user is None else pwd.getpwnam(self.user).pw_gid


SELF = Identity()


def choose(*, environment: Mapping[str, str]) -> Identity:
    """Decide as whom Postgres runs: self, in a namespace, or as another user.

    Raises StartError when root names a user that does not exist.
    """
    if os.geteuid() != 0:
        return SELF
    named = environment.get(SWITCH_USER_VARIABLE)
    inside = next((uid for uid in map(_uid_of, NAMESPACE_USERS) if uid is not None), None)
    if not named and inside is not None and _works(inside):
        return Identity(namespace_uid=inside)
    user = named or DEFAULT_SWITCH_USER
    if _uid_of(user) is None:
        raise StartError(
            f"Postgres does not run as root and there is no user {user}; "
            f"create it or name another one in {SWITCH_USER_VARIABLE}."
        )
    return Identity(user=user)


def enter_namespace(*, inside_uid: int) -> None:
    """Move this process into a new user namespace in which its user is called `inside_uid`.

    Meant for a fresh child between fork and exec. Raises OSError where namespaces are forbidden.
    """
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    if LIBC.unshare(CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside_uid} {outside_uid} 1"),
        ("gid_map", f"{inside_uid} {outside_gid} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)


def _uid_of(name: str) -> int | None:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def _works(inside: int) -> bool:
    """Say whether a namespace can be entered in which root is called so."""
    if sys.platform != "linux":
        return False
    try:
        tried = subprocess.run(
            [sys.executable, "-S", "-c", "import os, sys; sys.exit(os.geteuid() == 0)"],
            preexec_fn=lambda: enter_namespace(inside_uid=inside),
            stderr=subprocess.DEVNULL,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.SubprocessError:
        return False
    return tried.returncode == 0


def socket_folder(*, home: Path, owner: Identity, environment: Mapping[str, str]) -> Path:
    """Return the private folder for the sockets of `home`, made if missing.

    Raises StartError when someone else owns a folder of that name.
    """
    folder = socket_path(home=home, owner=owner, environment=environment)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {owner.uid, os.geteuid()}:
            raise StartError(f"{folder} belongs to someone else; remove it.") from None
        folder.chmod(0o700)
    os.chown(folder, owner.uid, owner.gid)
    return folder


def socket_path(*, home: Path, owner: Identity, environment: Mapping[str, str]) -> Path:
    """Return where the sockets of `home` belong: in the user's runtime folder or in /tmp."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    name = f"cairn-{_short(f'{home.resolve()} {owner.uid}')}"
    folder = Path(runtime) / name
    usable = owner.user is None and runtime and os.access(runtime, os.W_OK)
    if usable and len(os.fsencode(folder)) + len(LONGEST_SOCKET_NAME) <= SOCKET_PATH_BYTES:
        return folder
    return Path("/tmp") / name  # noqa: S108 - 0700, checked


def data_folder(*, home: Path, owner: Identity) -> Path:
    """Return the data folder of Postgres: in `home` if its owner can get there.

    Raises StartError when existing data lies where the owner cannot reach it.
    """
    inside = home / "postgres"
    outside = OUTSIDE / _short(str(home.resolve())) / "postgres"
    if outside.exists() and not inside.exists():
        return outside
    if _can_reach(owner, home):
        return inside
    if inside.exists():
        raise StartError(
            f"user {owner.user}, as whom Postgres runs here, cannot reach {inside}; "
            f"move CAIRN_HOME to a folder every user may pass through."
        )
    outside.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    return outside


def reachable_binaries(*, binaries: Path, owner: Identity) -> Path:
    """Return programs that the owner can run, copied out of a private folder if need be."""
    if _can_reach(owner, binaries):
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


def _can_reach(owner: Identity, folder: Path) -> bool:
    """Say whether the owner may enter `folder`, by trying it as that user."""
    if owner.user is None:
        return True
    tried = subprocess.run(
        [shutil.which("sh") or "/bin/sh", "-c", 'cd "$1"', "sh", str(folder)],
        user=owner.user,
        group=owner.gid,
        extra_groups=[],
        cwd="/",
        stderr=subprocess.DEVNULL,
        timeout=PROBE_SECONDS,
        check=False,
    )
    return tried.returncode == 0


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
