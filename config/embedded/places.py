"""Where the servers keep data and sockets, also when Postgres runs as another user.

A unix socket's path may have 107 bytes, and a checkout can lie deep, so sockets live in a short
folder named by a hash of the data folder. When Postgres runs as another user that cannot reach the
data folder or the programs (root's home, say), both live under `/var/lib/cairn` instead.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from config.embedded import identity as identities
from config.embedded.errors import HomeError
from config.embedded.identity import Identity

SOCKET_PATH_BYTES = 107  # sockaddr_un.sun_path, with room for the closing NUL
LONGEST_SOCKET_NAME = "/.s.PGSQL.5432.lock"
OUTSIDE = Path("/var/lib/cairn")
HASH_LETTERS = 12


def socket_folder(*, home: Path, owner: Identity, environment: Mapping[str, str]) -> Path:
    """Return the private folder for the sockets of `home`, made if missing.

    Raises HomeError when someone else owns a folder of that name.
    """
    folder = socket_path(home=home, owner=owner, environment=environment)
    _make_private(folder=folder, owner=owner)
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
        _copy_install(install=install, place=place)
    return place / install.parent.name / install.name / binaries.name


def give(*, folder: Path, owner: Identity) -> None:
    """Hand a data folder over when it belongs to another user than the one who is to serve it."""
    if not folder.exists() or folder.stat().st_uid == owner.uid:
        return
    for place, _folders, files in os.walk(folder):
        os.chown(place, owner.uid, owner.gid)
        for name in files:
            os.chown(Path(place) / name, owner.uid, owner.gid, follow_symlinks=False)


def _copy_install(*, install: Path, place: Path) -> None:
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


def _make_private(*, folder: Path, owner: Identity) -> None:
    try:
        folder.mkdir(mode=0o700)
        os.chown(folder, owner.uid, owner.gid)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {owner.uid, os.geteuid()}:
            raise HomeError(f"{folder} belongs to someone else; remove it.") from None
        folder.chmod(0o700)
        os.chown(folder, owner.uid, owner.gid)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LETTERS]
