"""Which files a folder has: git says it in a repository, so that what it ignores stays here.

Without git, and where there is no repository, the folder is walked. Where git is there and refuses,
nothing is: it alone knows what is not to be told.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .errors import ClientError

GIT_SECONDS: Final = 60
SKIPPED_FOLDERS: Final = frozenset(
    {
        "node_modules", "bower_components", "vendor", "venv", "env", "__pycache__", "site-packages",
        "dist", "build", "target", "out", "coverage", "htmlcov",
    }
)  # fmt: skip


def root_of(*, folder: Path) -> Path:
    """Return the folder of the repository that a folder is in; itself where it is in none.

    Raises ClientError where git refuses to say.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    return folder if top is None else Path(os.fsdecode(top.removesuffix(b"\n")))


def paths(*, folder: Path) -> Iterator[str]:
    """Yield the paths of a folder's files, with slashes, from the folder of its repository on.

    Raises ClientError where git refuses to say.
    """
    listed = _git(folder, "ls-files", "-coz", "--exclude-standard", "--full-name")
    if listed is None:
        yield from _walked(folder)
        return
    for one in listed.split(b"\0"):
        if one:
            yield os.fsdecode(one)


def _walked(folder: Path) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            one for one in folders if one not in SKIPPED_FOLDERS and not one.startswith(".")
        )
        for name in names:
            yield (Path(place) / name).relative_to(folder).as_posix()


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git says; None where there is no git, or no repository around the folder."""
    if not _is_in_repository(folder):
        return None
    try:
        done = subprocess.run(  # noqa: S603  no shell, and arguments of ours
            ("git", "-C", os.fspath(folder), *arguments),  # noqa: S607  the one that is installed
            capture_output=True,
            check=False,
            timeout=GIT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return None
    except subprocess.TimeoutExpired as error:
        raise ClientError(
            detail=f"git did not answer within {GIT_SECONDS} s.", command="cairn index --help"
        ) from error
    if done.returncode:
        raise _refused(folder, done.stderr)
    return done.stdout


def _is_in_repository(folder: Path) -> bool:
    here = folder.resolve()
    return any(os.path.lexists(one / ".git") for one in (here, *here.parents))


def _refused(folder: Path, said: bytes) -> ClientError:
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    why = lines[0].strip() if lines else "it ended without a word"
    return ClientError(
        detail=f"git does not say which files are ignored, so nothing was read: {why}",
        hint="Mend what git says of this folder, then index it again.",
        command=f"git -C {folder} status",
    )
