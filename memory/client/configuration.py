"""Address and token of the server: from arguments, then the environment, then a file.

The file holds a token, so it is made for its owner alone, and replaced as a whole. A second token,
`review`, decides as its person: it is for commands of a person alone, and never goes into the file
of an agent's program.
"""

import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from .errors import Misused

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SCOPES: Final = ("read", "write", "index")  # what agents' programs may have; a person may lend less
_NAMES: Final = ("url", "token", "project", "review")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders of this program for one person."""

    home: Path
    settings: Path
    state: Path

    @property
    def file(self) -> Path:
        """The file with the address and the token."""
        return self.settings / "config.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where to call, as whom, and for which project unless another is named."""

    url: str
    token: str = field(repr=False)
    project: str = ""
    review: str = field(default="", repr=False)  # the token that decides as its person

    @property
    def is_unencrypted(self) -> bool:
        """Whether the token would travel in the clear over a network."""
        parts = urlsplit(self.url)
        return parts.scheme == "http" and parts.hostname not in LOOPBACK


def places(*, environment: Mapping[str, str]) -> Places:
    """Return the folders, as the XDG base directory specification names them."""
    home = Path(environment.get("HOME") or Path.home())
    return Places(
        home=home,
        settings=Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "cairn",
        state=Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / "cairn",
    )


def load(
    *, places: Places, environment: Mapping[str, str], given: Mapping[str, str | None]
) -> Connection:
    """Return the connection. Raises Misused where no address or token is known."""
    stored = read(path=places.file)
    url, token, project = (
        given.get(name) or environment.get(f"CAIRN_{name.upper()}") or stored.get(name, "")
        for name in _NAMES[:3]
    )
    if not (url and token):
        what, name = ("address", "URL") if not url else ("token", "TOKEN")
        raise Misused(
            detail=f"No {what} of a Cairn server is known.",
            hint=f"Log in once, or set CAIRN_{name}.",
            command="cairn login",
        )
    is_stored = (url, token) == (stored.get("url"), stored.get("token"))
    review = stored.get("review", "") if is_stored else ""
    return Connection(url=address(text=url), token=token.strip(), project=project, review=review)


def read(*, path: Path) -> Mapping[str, str]:
    """Return what the file holds; nothing where there is none. Raises Misused for a broken one."""
    try:
        text = path.read_text(encoding="utf-8")
        stored = tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise Misused(
            detail=f"{path} cannot be read: {error}",
            hint="Log in again.",
            command="cairn login https://HOST",
        ) from error
    return {name: value for name, value in stored.items() if isinstance(value, str)}


def save(*, path: Path, connection: Connection) -> None:
    """Write the file, for its owner alone."""
    values = {name: getattr(connection, name) for name in _NAMES}
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in values.items() if value)
    replace_file(path=path, data="".join(lines).encode(), mode=FILE_MODE)


def replace_file(*, path: Path, data: bytes, mode: int) -> None:
    """Put a whole file in the place of another, so that nobody ever reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    path = path.resolve()  # a link to a file stays a link
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        made.chmod(mode)
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


def is_private(*, path: Path) -> bool:
    """Say whether only its owner can read a file."""
    return not stat.S_IMODE(path.stat().st_mode) & 0o077


def address(*, text: str) -> str:
    """Return an address without its last slash. Raises Misused for what is none."""
    written = text.strip().rstrip("/")
    parts = urlsplit(written)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise Misused(
            detail="The address must look like https://cairn.example.org.",
            hint="It is what the browser shows, without what follows the host.",
            command="cairn login",
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
