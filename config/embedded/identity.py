"""As whom the embedded Postgres runs, since it refuses to run as root.

A normal user runs it as is. Root puts it into a user namespace of its own, in which root is called
by another name: files stay root's outside and no folder has to be opened for anyone. Where the
kernel or the container forbids that, root hands it to an unprivileged user instead; then its data
and its programs must lie where that user can reach them, which `home` sees to.
"""

import ctypes
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.embedded.console import BinaryError

CLONE_NEWUSER = 0x10000000  # linux/sched.h
NAMESPACE_USERS = ("daemon", "nobody", "bin")  # initdb wants a name that exists in passwd
SWITCH_USER_VARIABLE = "CAIRN_PG_AS_USER"
DEFAULT_SWITCH_USER = "nobody"
PROBE_SECONDS = 10

_LIBC = ctypes.CDLL(None, use_errno=True)


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

    Raises BinaryError when root names a user that does not exist.
    """
    if os.geteuid() != 0:
        return SELF
    if named := environment.get(SWITCH_USER_VARIABLE):
        return _switched(user=named)
    inside = next((uid for uid in map(_uid_of, NAMESPACE_USERS) if uid is not None), None)
    if inside is None:
        return _switched(user=DEFAULT_SWITCH_USER)
    if _works(inside):
        return Identity(namespace_uid=inside)
    return _switched(user=DEFAULT_SWITCH_USER)


def enter_namespace(*, inside_uid: int) -> None:
    """Move this process into a new user namespace in which its user is called `inside_uid`.

    Meant for a fresh child between fork and exec. Raises OSError where namespaces are forbidden.
    """
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    if _LIBC.unshare(CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside_uid} {outside_uid} 1"),
        ("gid_map", f"{inside_uid} {outside_gid} 1"),
    ):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def can_reach(*, identity: Identity, folder: Path) -> bool:
    """Say whether the identity may enter `folder`, by trying it as that user."""
    if identity.user is None:
        return True
    shell = shutil.which("sh") or "/bin/sh"
    tried = subprocess.run(
        [shell, "-c", 'cd "$1"', "sh", str(folder)],
        user=identity.user,
        group=identity.gid,
        extra_groups=[],
        cwd="/",
        stderr=subprocess.DEVNULL,
        timeout=PROBE_SECONDS,
        check=False,
    )
    return tried.returncode == 0


def _switched(*, user: str) -> Identity:
    if _uid_of(user) is None:
        raise BinaryError(
            f"Postgres does not run as root and there is no user {user}; "
            f"create it or name another one in {SWITCH_USER_VARIABLE}."
        )
    return Identity(user=user)


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
